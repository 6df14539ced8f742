import type { Agent, AgentSource, BrokenAgent, Problem } from "../schema/agent.ts";
import type { ChangeableName } from "../schema/agent-fields.ts";
import { RetinueError } from "../schema/error.ts";
import { checkReferences, resolveReferences } from "./check-references.ts";
import { didYouMean } from "./closest.ts";
import type { AgentReading } from "./fields/read-agent.ts";
import { makeSlug } from "./fields/slug.ts";

/** A definition that another of its name came before. */
export type ShadowedAgent = { agent: Agent | BrokenAgent; by: Agent | BrokenAgent };

/** All agents of one session, looked up by name or alias. */
export type AgentRegistry = {
  /** Enabled agents by name. */
  list(): readonly Agent[];
  /** An enabled agent by its name or an alias; a disabled one is never returned. */
  get(nameOrAlias: string): Agent | undefined;
  isDisabled(nameOrAlias: string): boolean;
  /** What claims this name but cannot be used, so that nobody answers to it; undefined if it is switched off as well. */
  getBroken(nameOrAlias: string): BrokenAgent | undefined;
  readonly disabled: readonly Agent[];
  /** Definitions that cannot be used and that come first of their name. */
  readonly broken: readonly BrokenAgent[];
  readonly shadowed: readonly ShadowedAgent[];
  readonly problems: readonly Problem[];
  /** Why a name leads to no agent, with the nearest and all available names; `among` those that the asker may use. */
  unknownAgentMessage(name: string, among?: readonly Agent[]): string;
};

/** What a registry is made of, in order of precedence. */
export type RegistryInput = {
  agents: readonly (Agent | BrokenAgent)[];
  problems?: readonly Problem[];
  /** Names or aliases the user switched off. */
  disabledAgents?: readonly string[];
  /** What the user's settings change in agents that there are. */
  changes?: readonly AgentChange[];
};

/** Other values of a few fields, such as limits, for the agent of a name or alias; or why what was written cannot be used. */
export type AgentChange = { readonly name: string; readonly file: string } & (
  | { readonly fields: Partial<Pick<Agent, ChangeableName>> }
  | { readonly problem: Problem }
);

/** First of a name wins, usable or not; references between agents are resolved to names and checked. */
export function createRegistry(input: RegistryInput): AgentRegistry {
  const problems = [...(input.problems ?? [])];
  const { winners, shadowed } = takeFirst(input.agents);
  const aliases = takeAliases(winners, problems);
  const switchedOff = new Set((input.disabledAgents ?? []).map((name) => makeSlug(name) ?? name));
  const isOff = ({ name, aliases }: Agent | BrokenAgent): boolean =>
    switchedOff.has(name) || aliases.some((alias) => switchedOff.has(alias));
  const nameOf = (name: string): string | undefined => (winners.has(name) ? name : aliases.get(name));
  for (const change of input.changes ?? []) {
    const found = winners.get(nameOf(change.name) ?? "");
    if (!found) problems.push(changesNobody(change, [...winners.keys()]));
    else if ("problem" in change) {
      const by = breakBy(change, found);
      winners.set(found.name, by);
      shadowed.push({ agent: found, by });
    } else if (!isBroken(found)) winners.set(found.name, applyChange(found, change.fields));
  }
  const broken = [...winners.values()].filter(isBroken);
  const all = [...winners.values()].flatMap((one) =>
    isBroken(one) ? [] : [frozen(structuredClone(resolveReferences(one, nameOf)))],
  );
  const isEnabled = (agent: Agent) => agent.enabled && !isOff(agent);
  const enabled = new Map(all.filter(isEnabled).map((agent) => [agent.name, agent]));
  const disabled = all.filter((agent) => !isEnabled(agent));
  const disabledNames = new Set([...disabled, ...broken.filter(isOff)].map(({ name }) => name));
  problems.push(...shadowed.flatMap(({ agent, by }) => (isBroken(by) ? reportBlocked(by, agent) : [])));
  problems.push(
    ...checkReferences([...enabled.values()], new Set([...disabledNames, ...broken.map(({ name }) => name)])),
  );
  const get = (name: string): Agent | undefined => enabled.get(nameOf(name) ?? "");
  const getBroken = (name: string): BrokenAgent | undefined =>
    broken.find((one) => one.name === nameOf(name) && !isOff(one));
  const isDisabled = (name: string): boolean =>
    disabledNames.has(nameOf(name) ?? "") || (switchedOff.has(name) && !get(name));
  const sorted = [...enabled.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    list: () => sorted,
    get,
    isDisabled,
    getBroken,
    disabled,
    broken,
    shadowed,
    problems,
    unknownAgentMessage: (name, among = sorted) =>
      describeUnknown(name, getBroken(name) ?? (isDisabled(name) ? "disabled" : "unknown"), among),
  };
}

/** Tells a definition that cannot be used from an agent. */
export function isBroken(definition: Agent | BrokenAgent): definition is BrokenAgent {
  return "problem" in definition;
}

/** The agent that was read, or what keeps its name from any other; nothing if no name was claimed. */
export function takeDefinitions(
  { agent, name, aliases = [], problems }: Partial<AgentReading> & { problems: readonly Problem[] },
  source: AgentSource,
): (Agent | BrokenAgent)[] {
  if (agent) return [agent];
  const problem = problems.find(({ severity }) => severity === "error") ?? problems[0];
  return name && problem ? [{ name, aliases, source, problem }] : [];
}

/** The agent of a name or alias; without one, an error that says why and what to do. */
export function requireAgent(registry: AgentRegistry, name: string): Agent {
  const agent = registry.get(name);
  if (agent) return agent;
  const message = registry.unknownAgentMessage(name);
  const broken = registry.getBroken(name);
  if (!broken) throw new RetinueError("input", message, "see them with: retinue agents list");
  const { fix } = broken.problem;
  throw new RetinueError("config", message, `${fix}, or remove it; see all of it with: retinue agents check`);
}

/** Nobody changes a definition once it can be run. The readers of definitions let only plain values in. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

function takeFirst(definitions: readonly (Agent | BrokenAgent)[]): {
  winners: Map<string, Agent | BrokenAgent>;
  shadowed: ShadowedAgent[];
} {
  const winners = new Map<string, Agent | BrokenAgent>();
  const shadowed: ShadowedAgent[] = [];
  for (const one of definitions) {
    if (isBroken(one) && !isMeant(one, definitions)) continue;
    const by = winners.get(one.name);
    if (by === undefined) winners.set(one.name, one);
    else shadowed.push({ agent: one, by });
    // Which aliases a broken definition was to have is not sure, so the others' lead to it too.
    if (by && isBroken(by)) winners.set(by.name, { ...by, aliases: [...by.aliases, ...one.aliases] });
  }
  return { winners, shadowed };
}

/** A text that was not taken as an agent is one that was meant, if it has the name of another. */
function isMeant(broken: BrokenAgent, definitions: readonly (Agent | BrokenAgent)[]): boolean {
  return (
    broken.problem.severity === "error" ||
    definitions.some(
      (one) => one !== broken && (one.name === broken.name || one.aliases.includes(broken.name)),
    )
  );
}

/** A name beats every alias, and the first agent with an alias keeps it. */
function takeAliases(
  winners: ReadonlyMap<string, Agent | BrokenAgent>,
  problems: Problem[],
): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const agent of winners.values()) {
    for (const alias of agent.aliases) {
      const owner = winners.has(alias) ? alias : aliases.get(alias);
      if (owner === undefined) aliases.set(alias, agent.name);
      else if (!isBroken(agent)) problems.push(takenAlias(agent, alias, owner));
    }
  }
  return aliases;
}

function applyChange(agent: Agent, fields: Partial<Agent>): Agent {
  const { limits = {}, ...others } = fields;
  const perTool = { ...agent.limits.perTool, ...limits.perTool };
  const merged = { ...agent.limits, ...limits, ...(Object.keys(perTool).length > 0 && { perTool }) };
  return { ...agent, ...others, limits: merged };
}

function changesNobody({ name, file }: AgentChange, names: readonly string[]): Problem {
  const message = `agents.${name} changes an agent that there is not${didYouMean(name, names) || ";"} there are ${names.join(", ")}`;
  const fix = "correct the name, or give it a description and a prompt";
  return { severity: "warning", file, line: 0, code: "unknown-agent", message, fix };
}

function takenAlias(agent: Agent, alias: string, owner: string): Problem {
  const message = `the alias '${alias}' of '${agent.name}' already means '${owner}'`;
  const file = agent.source.file ?? "code";
  return { severity: "warning", file, line: 0, code: "alias-taken", message, fix: "choose another alias" };
}

/** A change that cannot be used may have been to hold an agent back, so the agent is not used without it. */
function breakBy(
  { file, problem }: { file: string; problem: Problem },
  { name, aliases }: Agent | BrokenAgent,
): BrokenAgent {
  return { name, aliases, source: { format: "settings", scope: "user", file }, problem };
}

function reportBlocked({ name, source, problem }: BrokenAgent, other: Agent | BrokenAgent): Problem[] {
  const { file = "code" } = source;
  // Everything wrong in settings is told as it is.
  if (isBroken(other) || source.format === "settings") return [];
  const message = `nobody answers to '${name}': this file cannot be used (${problem.message}), and ${other.source.file ?? "code"} does not take its place`;
  const fix = "correct the file, or remove it";
  return [{ severity: "error", file, line: problem.line, code: "blocked-agent", message, fix }];
}

function describeUnknown(
  name: string,
  why: BrokenAgent | "disabled" | "unknown",
  agents: readonly Agent[],
): string {
  const names = agents.map((agent) => agent.name);
  const available = `available: ${names.length === 0 ? "none" : names.join(", ")}`;
  if (typeof why === "object") {
    const { file, line, message } = why.problem;
    const place = line > 0 ? `${file}:${line}` : file;
    return `the agent '${name}' cannot be used, and no other takes its place: ${place}: ${message}; ${available}`;
  }
  if (why === "disabled") return `the agent '${name}' is disabled; ${available}`;
  const candidates = [...names, ...agents.flatMap((agent) => agent.aliases)];
  return `no agent '${name}'${didYouMean(name, candidates) || ";"} ${available}`;
}
