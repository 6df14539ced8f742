import type { SubagentPolicy } from "../../schema/agent.ts";
import { AGENT_FIELDS } from "../../schema/agent-fields.ts";
import { readFieldPart } from "./read-parts.ts";
import { badValue, type ReadContext, readMap, readNames, report } from "./read-values.ts";
import { agentReference } from "./slug.ts";

const { kind: POLICY } = AGENT_FIELDS.subagents;

/** What says whom an agent may delegate to: the `subagents` map, Copilot's `agents`, and names in the tools list. */
export type SubagentsInput = { subagents: unknown; agents: unknown; delegateTo: readonly string[] };

/** The policy, or undefined for an agent that works alone. Anything unreadable allows nobody. */
export function readSubagents(ctx: ReadContext, input: SubagentsInput): SubagentPolicy | undefined {
  const { subagents } = input;
  const shorthand =
    typeof subagents === "string" || Array.isArray(subagents) ? { allow: subagents } : subagents;
  const map = readMap(ctx, "subagents", shorthand, POLICY);
  if (map === "bad") {
    badValue(ctx, "subagents", {
      value: subagents,
      accepted: `a map such as ${POLICY.example}`,
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
  const parts = (["execution", "maxConcurrent", "recursive"] as const).map((part) => [
    part,
    readFieldPart(ctx, `subagents.${part}`, map?.[part], POLICY.parts[part]),
  ]);
  return { allow: allow ?? [], deny: deny ?? [], ...Object.fromEntries(parts) };
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
