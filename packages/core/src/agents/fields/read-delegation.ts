import { type Agent, EXECUTION_MODES, type SubagentPolicy } from "../../schema/agent.ts";
import { AT_LEAST_ONE } from "../../schema/number-range.ts";
import { readTriggers } from "./read-triggers.ts";
import {
  badValue,
  type ReadContext,
  readBoolean,
  readLimit,
  readMap,
  readNames,
  readOneOf,
  report,
} from "./read-values.ts";
import { agentReference } from "./slug.ts";

const POLICY_KEYS = ["allow", "deny", "execution", "maxConcurrent", "recursive"] as const;

/** What says whom an agent may delegate to: the `subagents` map, Copilot's `agents`, and names in the tools list. */
export type SubagentsInput = { subagents: unknown; agents: unknown; delegateTo: readonly string[] };

/** The policy, or undefined for an agent that works alone. Anything unreadable allows nobody. */
export function readSubagents(ctx: ReadContext, input: SubagentsInput): SubagentPolicy | undefined {
  const { subagents } = input;
  const shorthand =
    typeof subagents === "string" || Array.isArray(subagents) ? { allow: subagents } : subagents;
  const map = readMap(ctx, "subagents", shorthand, POLICY_KEYS, "error");
  if (map === "bad") {
    badValue(ctx, "subagents", {
      value: subagents,
      accepted: "a map such as {allow: [name]}",
      instead: "it works alone",
    });
    return undefined;
  }
  const listed = map?.allow === undefined ? "agents" : "subagents.allow";
  const written = readReferences(ctx, listed, map?.allow ?? input.agents);
  const allow = allowed(ctx, written, input.delegateTo);
  const deny = readReferences(ctx, "subagents.deny", map?.deny);
  if (allow === "bad" || deny === "bad") return undefined;
  if (map === undefined && allow === undefined) return undefined;
  return {
    allow: allow ?? [],
    deny: deny ?? [],
    execution: readOneOf(ctx, "subagents.execution", {
      value: map?.execution,
      words: EXECUTION_MODES,
      absent: "parallel",
      bad: "sequential",
    }),
    maxConcurrent: readLimit(ctx, "subagents.maxConcurrent", map?.maxConcurrent, AT_LEAST_ONE) ?? 5,
    recursive: readBoolean(ctx, "subagents.recursive", map?.recursive, { absent: false, bad: false }),
  };
}

/** A bare `Agent` in the tools list opens everybody, but only where no list says otherwise. */
function allowed(
  ctx: ReadContext,
  written: string[] | "bad" | undefined,
  delegateTo: readonly string[],
): string[] | "bad" | undefined {
  if (written === "bad") return "bad";
  const named = delegateTo.filter((name) => name !== "*").flatMap((name) => agentReference(name) ?? []);
  const bare = delegateTo.includes("*");
  if (bare && written === undefined && named.length === 0) {
    report(ctx, "info", {
      path: "tools",
      code: "delegates-to-all",
      message:
        "the tools list has delegation without naming agents, so every enabled agent may be delegated to",
      fix: "name the agents in subagents.allow",
    });
    return ["*"];
  }
  if (written === undefined && named.length === 0) return undefined;
  return [...new Set([...(written ?? []), ...named])];
}

function readReferences(ctx: ReadContext, path: string, value: unknown): string[] | "bad" | undefined {
  const names = readNames(value);
  const references = names === "bad" ? undefined : names?.map(agentReference);
  if (names !== "bad" && references?.every((name) => name !== undefined) !== false) return references;
  badValue(ctx, path, { value, accepted: "a list of agent names", instead: "it works alone" });
  return "bad";
}

/** The `delegation` field: which requests must go to this agent. */
export function readDelegation(ctx: ReadContext, value: unknown): Agent["delegation"] {
  const map = readMap(ctx, "delegation", value, ["mandatory", "triggers"]);
  if (map === undefined) return undefined;
  const triggers = map === "bad" ? "bad" : readTriggers(ctx, map.triggers);
  if (map === "bad" || triggers === "bad") {
    badValue(ctx, "delegation", {
      value,
      accepted: "a map such as {mandatory: true, triggers: [report]}",
      instead: "it is ignored",
    });
    return undefined;
  }
  const mandatory = readBoolean(ctx, "delegation.mandatory", map.mandatory, { absent: false, bad: false });
  return { mandatory, triggers };
}
