import { requireAgent } from "../../agents/registry.ts";
import { nameOf } from "../../loop/deliverables.ts";
import type { Agent, Trigger } from "../../schema/agent.ts";
import { type CommonOptions, openProject } from "../open-project.ts";
import { plainLine, plainText, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { countProblems, shortPath, showSource, showTools } from "./show-source.ts";

/** `retinue agents show`. */
export async function showAgent(name: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const project = await openProject(options, terminal);
  const agent = requireAgent(project.registry, name);
  const problems = project.problems.filter((problem) => problem.file === agent.source.file);
  if (options.json) return terminal.print(JSON.stringify({ ...agent, problems }, null, 2));
  const file = agent.source.file && shortPath(agent.source.file, project.projectDir);
  const rows = rowsOf(agent).map(([label, value]) => [label, plainLine(value, 500)]);
  if (file) rows.splice(1, 0, ["file", file]);
  const counts = countProblems(problems);
  if (counts) rows.push(["problems", `${counts}; see: retinue agents check ${file}`]);
  terminal.print([...table(rows), "", plainText(agent.prompt).trimEnd()].join("\n"));
}

function rowsOf(agent: Agent): [string, string][] {
  const { subagents, limits, retry, delegation } = agent;
  const rows: [string, string | undefined][] = [
    ["name", agent.displayName === agent.name ? agent.name : `${agent.name} (${agent.displayName})`],
    ["from", showSource(agent.source)],
    ["aliases", list(agent.aliases)],
    ["description", agent.description],
    ["model", agent.model],
    ["temperature", agent.temperature === undefined ? undefined : String(agent.temperature)],
    ["output tokens", agent.maxOutputTokens === undefined ? undefined : String(agent.maxOutputTokens)],
    ["tools", showTools(agent)],
    ["asks before", list(agent.askTools)],
    ["never", list(agent.disallowedTools)],
    ["grants", agent.grants && (list(agent.grants) ?? "(nothing)")],
    ["delegates to", subagents ? (list(subagents.allow) ?? "(nobody)") : "(nobody)"],
    ["never to", subagents && list(subagents.deny)],
    ["execution", subagents && `${subagents.execution}, ${subagents.maxConcurrent} at once`],
    ["context", agent.context],
    ["limits", entries(limits)],
    ["retry", `${retry.attempts} more on ${retry.on.join(", ")}`],
    ["deliverables", list(agent.deliverables.map(nameOf))],
    ["mandatory for", delegation?.mandatory ? list(delegation.triggers.map(showTrigger)) : undefined],
    ["workspace", agent.workspace],
    ["other keys", list(Object.keys(agent.extra))],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as [string, string]]));
}

function showTrigger(trigger: string | Trigger): string {
  if (typeof trigger === "string") return trigger;
  const { word, with: besides, not } = trigger;
  return `${word}${besides ? ` (with ${besides.join(" | ")})` : ""}${not ? ` (not ${not.join(" | ")})` : ""}`;
}

function list(items: readonly string[]): string | undefined {
  return items.length > 0 ? items.join(", ") : undefined;
}

function entries(limits: Agent["limits"]): string | undefined {
  const parts = Object.entries(limits).map(([key, value]) => {
    return `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`;
  });
  return list(parts);
}
