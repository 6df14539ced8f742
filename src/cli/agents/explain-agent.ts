import { requireAgent } from "../../agents/registry.ts";
import { chainOf, delegatesOf, rowsOf } from "../../runtime/project/explain-rights.ts";
import { type CommonOptions, openSoundProject } from "../open-project.ts";
import { plainText, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";

/** Options of `retinue agents explain`. */
export type ExplainOptions = CommonOptions & { parent: string[] };

/** `retinue agents explain`: what an agent may use below the given parents, and who decides that. */
export async function explainAgent(name: string, options: ExplainOptions, terminal: Terminal): Promise<void> {
  const project = await openSoundProject(options, terminal);
  const agent = requireAgent(project.registry, name);
  const line = [...options.parent.map((parent) => requireAgent(project.registry, parent)), agent];
  const chain = chainOf(line, project);
  const rows = rowsOf(chain);
  const delegatesTo = delegatesOf(line, chain, project);
  const names = line.map((each) => each.name);
  const allowed = rows.filter((row) => row.verdict === "allow").map((row) => row.tool);
  if (options.json) {
    const layers = chain.map((layer) => layer.name);
    return terminal.print(
      JSON.stringify({ agent: agent.name, chain: names, layers, allowed, tools: rows, delegatesTo }, null, 2),
    );
  }
  const head = ["TOOL", "VERDICT", "DECIDED BY", "RULE"];
  const body = rows.map((row) => [
    row.kind === "group" ? `${row.tool} (group)` : row.tool,
    row.verdict,
    row.layer,
    plainText([row.rule ?? "-", ...(row.patterns ? [`[${row.patterns.join(", ")}]`] : [])].join(" ")),
  ]);
  terminal.print(
    [
      `${names.join(" > ")}`,
      "",
      ...table([head, ...body]),
      "",
      `allowed: ${allowed.join(", ") || "nothing"}`,
      `may delegate to: ${delegatesTo.join(", ") || "nobody"}`,
    ].join("\n"),
  );
}
