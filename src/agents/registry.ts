import type { Agent, Problem } from "../schema/agent.ts";
import { checkReferences, resolveReferences } from "./check-references.ts";
import { didYouMean } from "./closest.ts";
import { slugOf } from "./fields/slug.ts";

/** An agent that another of its name came before. */
export type ShadowedAgent = { agent: Agent; by: Agent };

/** All agents of one session, looked up by name or alias. */
export type AgentRegistry = {
  /** Enabled agents by name. */
  list(): readonly Agent[];
  /** An enabled agent by its name or an alias; a disabled one is never returned. */
  get(nameOrAlias: string): Agent | undefined;
  isDisabled(nameOrAlias: string): boolean;
  /** Whether a role of the settings has this name but could not be loaded, so that nobody answers to it. */
  isBroken(nameOrAlias: string): boolean;
  readonly disabled: readonly Agent[];
  readonly shadowed: readonly ShadowedAgent[];
  readonly problems: readonly Problem[];
  /** Why a name leads to no agent, with the nearest and all available names; `among` those that the asker may use. */
  unknownAgentMessage(name: string, among?: readonly Agent[]): string;
};

/** What a registry is made of, in order of precedence. */
export type RegistryInput = {
  agents: readonly Agent[];
  problems?: readonly Problem[];
  /** Names or aliases the user switched off. */
  disabledAgents?: readonly string[];
  /** Files that could not be used, by the name they would have had; another agent of that name is used. */
  unusable?: readonly { name: string; file: string }[];
  /** Roles of the settings that could not be loaded; no other agent is used in their place. */
  broken?: readonly string[];
  /** What the user's settings change in agents that there are. */
  changes?: readonly AgentChange[];
};

/** Other limits, or another model, for the agent of a name or alias. */
export type AgentChange = {
  readonly name: string;
  readonly file: string;
  readonly fields: Partial<Pick<Agent, "limits" | "model" | "temperature" | "maxOutputTokens">>;
};

/** First of a name wins; references between agents are resolved to names and checked. */
export function createRegistry(input: RegistryInput): AgentRegistry {
  const problems = [...(input.problems ?? [])];
  const { winners, shadowed } = takeFirst(input.agents);
  const aliases = takeAliases(winners, problems);
  const switchedOff = new Set((input.disabledAgents ?? []).map((name) => slugOf(name) ?? name));
  const broken = new Set(input.broken ?? []);
  const isBroken = (name: string): boolean => broken.has(nameOf(name) ?? name);
  const isOff = (agent: Agent): boolean =>
    !agent.enabled ||
    broken.has(agent.name) ||
    switchedOff.has(agent.name) ||
    agent.aliases.some((alias) => switchedOff.has(alias));
  const nameOf = (name: string): string | undefined => (winners.has(name) ? name : aliases.get(name));
  for (const change of input.changes ?? []) {
    const agent = winners.get(nameOf(change.name) ?? "");
    if (agent) winners.set(agent.name, applyChange(agent, change));
    else problems.push(changesNobody(change, [...winners.keys()]));
  }
  const all = [...winners.values()].map((agent) => frozen(structuredClone(resolveReferences(agent, nameOf))));
  const enabled = new Map(all.filter((agent) => !isOff(agent)).map((agent) => [agent.name, agent]));
  const disabled = all.filter(isOff);
  const disabledNames = new Set(disabled.map((agent) => agent.name));
  for (const { name, file } of input.unusable ?? []) {
    const other = enabled.get(nameOf(name) ?? "");
    if (other !== undefined) problems.push(fallback(other, file));
  }
  problems.push(...checkReferences([...enabled.values()], disabledNames));
  const get = (name: string): Agent | undefined => enabled.get(nameOf(name) ?? "");
  const isDisabled = (name: string): boolean =>
    disabledNames.has(nameOf(name) ?? "") || isBroken(name) || (switchedOff.has(name) && !get(name));
  const sorted = [...enabled.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    list: () => sorted,
    get,
    isDisabled,
    isBroken,
    disabled,
    shadowed,
    problems,
    unknownAgentMessage: (name, among = sorted) =>
      describeUnknown(name, isBroken(name) ? "broken" : isDisabled(name) ? "disabled" : "unknown", among),
  };
}

/** Nobody changes a definition once it can be run. The readers of definitions let only plain values in. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
    return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

function takeFirst(agents: readonly Agent[]): { winners: Map<string, Agent>; shadowed: ShadowedAgent[] } {
  const winners = new Map<string, Agent>();
  const shadowed: ShadowedAgent[] = [];
  for (const agent of agents) {
    const by = winners.get(agent.name);
    if (by === undefined) winners.set(agent.name, agent);
    else shadowed.push({ agent, by });
  }
  return { winners, shadowed };
}

/** A name beats every alias, and the first agent with an alias keeps it. */
function takeAliases(winners: ReadonlyMap<string, Agent>, problems: Problem[]): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const agent of winners.values()) {
    for (const alias of agent.aliases) {
      const owner = winners.has(alias) ? alias : aliases.get(alias);
      if (owner === undefined) aliases.set(alias, agent.name);
      else problems.push(takenAlias(agent, alias, owner));
    }
  }
  return aliases;
}

function applyChange(agent: Agent, { fields }: AgentChange): Agent {
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

function fallback(other: Agent, file: string): Problem {
  const message = `'${other.name}' is not read from this file, which has errors, but from ${other.source.file ?? "code"}`;
  return {
    severity: "warning",
    file,
    line: 0,
    code: "fallback-agent",
    message,
    fix: "correct the errors above",
  };
}

function describeUnknown(
  name: string,
  why: "broken" | "disabled" | "unknown",
  agents: readonly Agent[],
): string {
  const names = agents.map((agent) => agent.name);
  const available = `available: ${names.length === 0 ? "none" : names.join(", ")}`;
  if (why === "broken")
    return `the role '${name}' of the settings could not be loaded, and no other agent takes its place; ${available}`;
  if (why === "disabled") return `the agent '${name}' is disabled; ${available}`;
  const candidates = [...names, ...agents.flatMap((agent) => agent.aliases)];
  return `no agent '${name}'${didYouMean(name, candidates) || ";"} ${available}`;
}
