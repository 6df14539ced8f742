import { childChain } from "../../permissions/child-chain.ts";
import { decide } from "../../permissions/decide.ts";
import { type Explanation, explain } from "../../permissions/explain.ts";
import { toolsLayer } from "../../permissions/layers.ts";
import type { ToolName } from "../../permissions/outlook.ts";
import { baseLayers } from "../../runtime/open-session.ts";
import { KNOWN_GROUPS, KNOWN_TOOLS } from "../../runtime/project/known-tools.ts";
import type { Agent } from "../../schema/agent.ts";
import type { Layer } from "../../schema/rights.ts";
import { type CommonOptions, type OpenProject, openSoundProject } from "../open-project.ts";
import { plainText, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { agentNamed } from "./find-agent.ts";

/** Options of `retinue agents explain`. */
export type ExplainOptions = CommonOptions & { parent: string[] };

type Row = Explanation & { kind: "tool" | "group" | "other" };

/** `retinue agents explain`: what an agent may use below the given parents, and who decides that. */
export async function explainAgent(name: string, options: ExplainOptions, terminal: Terminal): Promise<void> {
  const project = await openSoundProject(options, terminal);
  const agent = agentNamed(project, name);
  const line = [...options.parent.map((parent) => agentNamed(project, parent)), agent];
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

/** The chain of layers, exactly as a run builds it. */
function chainOf(line: readonly Agent[], { settings, places }: OpenProject): readonly Layer[] {
  const { homeDir, dataDir, configDir } = places;
  const base = baseLayers({
    host: { homeDir, settings },
    dataDir,
    configDir,
    disallowedTools: [],
    mode: "default",
  });
  const [root, ...below] = line;
  if (!root) return base;
  let parent = root;
  let chain: Layer[] = [...base, toolsLayer(root, homeDir)];
  for (const child of below) {
    chain = childChain(chain, { parent, child, home: homeDir });
    parent = child;
  }
  return chain;
}

/** Every known tool, and every other tool or group that some rule of the chain names. */
function rowsOf(chain: readonly Layer[]): Row[] {
  const tools = new Set(KNOWN_TOOLS.map((tool) => tool.name));
  const named = chain
    .flatMap((layer) => [...(layer.allow ?? []), ...layer.ask, ...layer.deny])
    .map((rule) => rule.tool);
  const others = [...new Set(named)].filter((name) => !tools.has(name) && name !== "*").sort();
  const subjects: ToolName[] = [...KNOWN_TOOLS, ...others.map((name) => ({ name, groups: [] }))];
  const kindOf = (name: string) => (tools.has(name) ? "tool" : KNOWN_GROUPS.has(name) ? "group" : "other");
  return explain(chain, subjects).map((row) => ({ ...row, kind: kindOf(row.tool) }));
}

function delegatesOf(
  line: readonly Agent[],
  chain: readonly Layer[],
  { registry, settings }: OpenProject,
): string[] {
  const agent = line.at(-1);
  const depth = line.length - 1;
  const maxDepth = Math.min(settings.maxDepth, agent?.limits.depth ?? settings.maxDepth);
  if (!agent?.subagents || depth >= maxDepth) return [];
  const above = new Set(agent.subagents.recursive ? [] : line.map((each) => each.name));
  return registry
    .list()
    .map((each) => each.name)
    .filter((name) => {
      const targets = [{ kind: "agent" as const, agent: name }];
      return (
        !above.has(name) &&
        decide(chain, { tool: "delegate", groups: ["delegation"], targets }).verdict !== "deny"
      );
    });
}
