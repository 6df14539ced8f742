import { buildChain, explainTools, listDelegates } from "@retinue/builtin/explain-rights";
import { countProblems } from "@retinue/builtin/load-project";
import { isBroken, requireAgent } from "@retinue/core/agents/registry";
import { nameDeliverable } from "@retinue/core/run/deliverables";
import type { Agent, Problem, Trigger } from "@retinue/core/schema/agent";
import { AGENT_FIELDS, type AgentField } from "@retinue/core/schema/agent-fields";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import {
  type OpenProject,
  openProject,
  openSoundProject,
  shortenPath,
  showProblemCounts,
  showSource,
} from "../open-project.ts";
import { collectValue } from "../options.ts";
import { type Cli, printResult } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import { registerAgentsCheck } from "./agents-check.ts";
import { registerAgentsImport } from "./agents-import.ts";
import { registerAgentsNew } from "./agents-new.ts";

/** Declares `retinue agents` with everything below it. */
export default function registerAgents(agents: CliCommand): void {
  agents
    .description("the agents of this project")
    .helpCommand(false)
    .examples("retinue agents list", "retinue agents explain coder --parent main");
  agents
    .command("list")
    .description("list every usable agent, and what was shadowed or disabled")
    .examples("retinue agents list", "retinue agents list --json -C ../other")
    .performs(listAgents);
  agents
    .command("show")
    .description("show one agent in full")
    .argument("<name>", "its name or an alias")
    .examples("retinue agents show reviewer")
    .performs(showAgent);
  registerAgentsCheck(agents);
  agents
    .command("explain")
    .description("say for each tool whether an agent may use it, and who decides that")
    .argument("<agent>", "its name or an alias")
    .option("--parent <agent>", "who delegates to it; several make a chain, root first", collectValue, [])
    .examples("retinue agents explain tester", "retinue agents explain tester --parent main --parent coder")
    .performs(explainAgent);
  registerAgentsNew(agents);
  registerAgentsImport(agents);
}

async function listAgents(cli: Cli): Promise<void> {
  const project = await openProject(cli);
  printResult(cli, { value: asJson(project), text: () => asText(project) });
}

function asText({ registry, problems, projectDir, places }: OpenProject): string[] {
  const agents = registry.list();
  const head = ["NAME", "FROM", "MODEL", "TOOLS", "DESCRIPTION"];
  const none = [
    "no agents yet",
    `hint: put one into ${projectDir}/.retinue/agents or ${places.configDir}/agents`,
  ];
  const section = (title: string, rows: string[][]) =>
    rows.length > 0 ? ["", title, ...drawTable(rows)] : [];
  const place = (agent: Pick<Agent, "name" | "source">) => [`  ${agent.name}`, showPlace(agent, projectDir)];
  const shadowed = registry.shadowed.map(({ agent, by }) => [
    ...place(agent),
    `by ${showPlace(by, projectDir)}`,
  ]);
  const broken = registry.broken.map((each) => [...place(each), cutToLine(each.problem.message, 200)]);
  const counts = showProblemCounts(problems);
  return [
    ...(agents.length === 0 ? none : drawTable([head, ...agents.map(drawAgent)])),
    ...section("shadowed by another of the same name:", shadowed),
    ...section("disabled:", registry.disabled.map(place)),
    ...section("cannot be used, and no other agent takes their place:", broken),
    ...(counts ? ["", `${counts}; see: retinue agents check`] : []),
  ];
}

function drawAgent(agent: Agent): string[] {
  const { name, source, model, description, display } = agent;
  const icon = display.icon === undefined ? "" : `${cutToLine(display.icon, 8)} `;
  return [
    name,
    showSource(source),
    cutToLine(model, 30),
    cutToLine(showTools(agent), 36),
    icon + cutToLine(description, 60),
  ];
}

function showPlace({ source }: Pick<Agent, "source">, projectDir: string): string {
  return source.file ? shortenPath(source.file, projectDir) : showSource(source);
}

function asJson({ registry, problems }: OpenProject): object {
  const brief = (agent: Agent) => ({
    name: agent.name,
    displayName: agent.displayName,
    ...(agent.display.icon !== undefined && { icon: agent.display.icon }),
    aliases: agent.aliases,
    description: agent.description,
    model: agent.model,
    ...(agent.tools && { tools: agent.tools }),
    subagents: agent.subagents?.allow ?? [],
    limits: agent.limits,
    source: agent.source,
  });
  return {
    agents: registry.list().map(brief),
    shadowed: registry.shadowed.map(({ agent, by }) => ({
      ...(isBroken(agent) ? agent : brief(agent)),
      by: by.source,
    })),
    disabled: registry.disabled.map(brief),
    broken: registry.broken,
    problems: countProblems(problems),
  };
}

async function showAgent(name: string, cli: Cli): Promise<void> {
  const project = await openProject(cli);
  const agent = requireAgent(project.registry, name);
  const problems = project.problems.filter((problem) => problem.file === agent.source.file);
  printResult(cli, {
    value: { ...agent, problems },
    text: () => describeAgent(agent, problems, project),
  });
}

function describeAgent(agent: Agent, problems: readonly Problem[], { projectDir }: OpenProject): string[] {
  const file = agent.source.file && shortenPath(agent.source.file, projectDir);
  const rows = listFacts(agent).map(([label, value]) => [label, cutToLine(value, 500)]);
  if (file) rows.splice(1, 0, ["file", file]);
  const counts = showProblemCounts(problems);
  if (counts) rows.push(["problems", `${counts}; see: retinue agents check ${file}`]);
  return [...drawTable(rows), "", stripControls(agent.prompt).trimEnd()];
}

function listFacts(agent: Agent): [string, string][] {
  const { subagents, limits, retry, delegation } = agent;
  const rows: [string, string | undefined][] = [
    ["name", agent.displayName === agent.name ? agent.name : `${agent.name} (${agent.displayName})`],
    ["from", showSource(agent.source)],
    ["aliases", joinNames(agent.aliases)],
    ["description", agent.description],
    ["model", agent.model],
    ...listSimpleFields(agent),
    ["tools", showTools(agent)],
    ["asks before", joinNames(agent.askTools)],
    ["never", joinNames(agent.disallowedTools)],
    ["grants", agent.grants && (joinNames(agent.grants) ?? "(nothing)")],
    ["delegates to", subagents ? (joinNames(subagents.allow) ?? "(nobody)") : "(nobody)"],
    ["never to", subagents && joinNames(subagents.deny)],
    ["execution", subagents && `${subagents.execution}, ${subagents.maxConcurrent} at once`],
    ["context", agent.context],
    ["limits", showLimits(limits)],
    ["retry", `${retry.attempts} more on ${retry.on.join(", ")}`],
    ["deliverables", joinNames(agent.deliverables.map(nameDeliverable))],
    ["mandatory for", delegation?.mandatory ? joinNames(delegation.triggers.map(showTrigger)) : undefined],
    ["workspace", agent.workspace],
    ["other keys", joinNames(Object.keys(agent.extra))],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as [string, string]]));
}

/** Shown in rows of their own, also where they say what is usual. */
const SHOWN_APART = new Set(["context", "workspace"]);

/** The numbers, words and flags of the table in which an agent differs from what is usual. */
function listSimpleFields(agent: Agent): [string, string | undefined][] {
  const values: Readonly<Record<string, unknown>> = agent;
  return Object.entries<AgentField>(AGENT_FIELDS).flatMap(([name, { kind, form }]) => {
    const isSimple = kind.is === "number" || kind.is === "choice" || kind.is === "flag";
    const value = values[name];
    if (!isSimple || SHOWN_APART.has(name) || value === undefined || value === kind.default) return [];
    return [[form?.label.toLowerCase() ?? name, String(value)] as [string, string]];
  });
}

function showTrigger(trigger: string | Trigger): string {
  if (typeof trigger === "string") return trigger;
  const { word, with: besides, not } = trigger;
  return `${word}${besides ? ` (with ${besides.join(" | ")})` : ""}${not ? ` (not ${not.join(" | ")})` : ""}`;
}

function joinNames(items: readonly string[]): string | undefined {
  return items.length > 0 ? items.join(", ") : undefined;
}

function showLimits(limits: Agent["limits"]): string | undefined {
  const parts = Object.entries(limits).map(([key, value]) => {
    return `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`;
  });
  return joinNames(parts);
}

type ExplainOptions = { parent: string[] };

/** `retinue agents explain`: what an agent may use below the given parents, and who decides that. */
async function explainAgent(name: string, cli: Cli<ExplainOptions>): Promise<void> {
  const project = await openSoundProject(cli);
  const agent = requireAgent(project.registry, name);
  const line = [...cli.options.parent.map((parent) => requireAgent(project.registry, parent)), agent];
  const chain = buildChain(line, project);
  const rows = explainTools(chain);
  const delegatesTo = listDelegates(line, chain, project);
  const names = line.map((each) => each.name);
  const allowed = rows.filter((row) => row.verdict === "allow").map((row) => row.tool);
  const layers = chain.map((layer) => layer.name);
  const head = ["TOOL", "VERDICT", "DECIDED BY", "RULE"];
  const body = rows.map((row) => [
    row.kind === "group" ? `${row.tool} (group)` : row.tool,
    row.verdict,
    row.layer,
    stripControls([row.rule ?? "-", ...(row.patterns ? [`[${row.patterns.join(", ")}]`] : [])].join(" ")),
  ]);
  printResult(cli, {
    value: { agent: agent.name, chain: names, layers, allowed, tools: rows, delegatesTo },
    text: () => [
      names.join(" > "),
      "",
      ...drawTable([head, ...body]),
      "",
      `allowed: ${allowed.join(", ") || "nothing"}`,
      `may delegate to: ${delegatesTo.join(", ") || "nobody"}`,
    ],
  });
}

/** An agent's tools on one line. */
function showTools(agent: Pick<Agent, "tools">): string {
  if (agent.tools === undefined) return "(all it is granted)";
  return agent.tools.length === 0 ? "(none)" : agent.tools.join(", ");
}
