import type { Agent, Problem } from "../schema/agent.ts";
import { didYouMean } from "./closest.ts";

/** Always there, whatever the files say. */
const BUILT_IN = "general-purpose";

/** The agent with aliases in its subagent lists replaced by names. */
export function resolveReferences(agent: Agent, nameOf: (name: string) => string | undefined): Agent {
  if (agent.subagents === undefined) return agent;
  const resolve = (names: readonly string[]): string[] => [
    ...new Set(names.map((name) => nameOf(name) ?? name)),
  ];
  const { allow, deny } = agent.subagents;
  return { ...agent, subagents: { ...agent.subagents, allow: resolve(allow), deny: resolve(deny) } };
}

/** Delegation references that lead nowhere, to an agent that is `out` of use, or in a circle. */
export function checkReferences(agents: readonly Agent[], out: ReadonlySet<string>): Problem[] {
  const names = new Set(agents.map((agent) => agent.name));
  const problems: Problem[] = [];
  for (const agent of agents) {
    const { allow = [], deny = [] } = agent.subagents ?? {};
    for (const list of [allow, deny]) {
      const unknown = list.filter((name) => !name.includes("*") && !names.has(name) && name !== BUILT_IN);
      for (const name of unknown)
        problems.push(out.has(name) ? leadsToDisabled(agent, name) : leadsNowhere(agent, name, names));
    }
  }
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  for (const cycle of findCycles(agents)) {
    const members = cycle.flatMap((name) => byName.get(name) ?? []);
    if (!members.some((agent) => agent.subagents?.recursive)) problems.push(...inCircle(cycle, members[0]));
  }
  return problems;
}

function leadsNowhere(agent: Agent, name: string, names: ReadonlySet<string>): Problem {
  const message = `'${agent.name}' may delegate to '${name}', but there is no such agent${didYouMean(name, names)}`;
  return problem(agent, "unknown-subagent", message, `available are ${[...names].sort().join(", ")}`);
}

function leadsToDisabled(agent: Agent, name: string): Problem {
  const message = `'${agent.name}' may delegate to '${name}', which is disabled or cannot be used and will not be reached`;
  return {
    ...problem(agent, "disabled-subagent", message, "enable or correct it, or remove the reference"),
    severity: "info",
  };
}

function inCircle(cycle: readonly string[], first: Agent | undefined): Problem[] {
  if (first === undefined) return [];
  const path = [...cycle, cycle[0]].join(" → ");
  const kind = cycle.length === 1 ? "delegates to itself" : "delegate in a circle";
  const message = `${path} ${kind}; the last step is refused when it runs`;
  return [
    problem(
      first,
      "delegation-cycle",
      message,
      "remove one of the references, or set subagents.recursive: true",
    ),
  ];
}

function problem(agent: Agent, code: string, message: string, fix: string): Problem {
  return { severity: "warning", file: agent.source.file ?? "code", line: 0, code, message, fix };
}

/** Cycles listed before the search stops; more tell a person nothing new. */
const MAX_CYCLES = 50;

/**
 * Circular delegations among named references, each once, beginning with its alphabetically first agent:
 * `["a", "b"]` is a → b → a. Globs such as `*` are not followed: they name nobody in particular.
 */
export function findCycles(agents: readonly Agent[]): string[][] {
  const edges = new Map(agents.map((agent) => [agent.name, listReferred(agent)]));
  const finished = new Set<string>();
  const found = new Map<string, string[]>();
  for (const start of [...edges.keys()].sort()) {
    const path: string[] = [];
    const onPath = new Map<string, number>();
    const pending: { name: string; leave: boolean }[] = [{ name: start, leave: false }];
    for (let step = pending.pop(); step !== undefined && found.size < MAX_CYCLES; step = pending.pop()) {
      const { name, leave } = step;
      const at = onPath.get(name);
      if (leave) {
        path.pop();
        onPath.delete(name);
        finished.add(name);
      } else if (at !== undefined) {
        const cycle = rotate(path.slice(at));
        found.set(cycle.join(" "), cycle);
      } else if (!finished.has(name)) {
        onPath.set(name, path.length);
        path.push(name);
        pending.push({ name, leave: true });
        for (const next of (edges.get(name) ?? []).toReversed()) pending.push({ name: next, leave: false });
      }
    }
  }
  return [...found.values()];
}

/** Names an agent may delegate to, globs left out. */
function listReferred(agent: Agent): string[] {
  const { allow = [], deny = [] } = agent.subagents ?? {};
  return allow.filter((name) => !name.includes("*") && !deny.includes(name));
}

function rotate(cycle: readonly string[]): string[] {
  const first = cycle.indexOf([...cycle].sort()[0] ?? "");
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}
