import type { AccountLimits } from "../budget/ledger.ts";
import type { RunLimits } from "../run/run.ts";
import type { Agent, Limits } from "../schema/agent.ts";
import { findOwn } from "../schema/find-own.ts";
import { LARGEST } from "../schema/number-range.ts";
import type { Settings } from "../schema/settings.ts";

/** What binds a run when neither its agent, the settings nor the delegation say otherwise. */
export const DEFAULT_LIMITS = { turns: 20, toolCalls: 200, contextChars: 400_000, minutes: 5 } as const;

const REPAIRS = 1;
const SPARE_TURNS = 5;

/** Limits of one task, and who asks for them: a person or a program replaces the agent's own, a model only narrows. */
export type AskedLimits = { readonly limits: Limits | undefined; readonly by: "person" | "model" };

/** An agent's limits over the settings' defaults, with those that the task was given. */
export function effectiveLimits(
  { limits: agent, maxOutputTokens }: Pick<Agent, "limits" | "maxOutputTokens">,
  asked: AskedLimits,
  settings: Pick<Settings, "limits" | "watchdog" | "maxOutputTokens">,
): RunLimits {
  const outputTokens = maxOutputTokens ?? settings.maxOutputTokens;
  const { scale = 1 } = settings.limits;
  const pick = (key: keyof typeof DEFAULT_LIMITS) => {
    const own = agent[key] ?? settings.limits[key] ?? DEFAULT_LIMITS[key];
    return combine(raise(own, key, scale), asked.limits?.[key], asked.by);
  };
  const [turns, toolCalls] = [pick("turns"), pick("toolCalls")];
  // Who gives a number of calls wants them to be possible one by one, and an answer after them.
  const isGivenCalls = asked.by === "person" && asked.limits?.toolCalls !== undefined;
  const wantsTurns = isGivenCalls && asked.limits?.turns === undefined;
  return {
    turns: wantsTurns ? Math.max(turns, toolCalls + SPARE_TURNS) : turns,
    toolCalls,
    contextChars: pick("contextChars"),
    ...(outputTokens !== undefined && { maxOutputTokens: outputTokens }),
    timeoutMs: pick("minutes") * 60_000,
    perTool: limitPerTool({ ...settings.limits.perTool, ...agent.perTool }, asked),
    firstTokenMs: settings.watchdog.firstTokenMs,
    idleMs: settings.watchdog.idleMs,
    repairs: REPAIRS,
  };
}

/** What an agent sets for itself suits a model of average strength; the settings' scale suits it to another. */
function raise(limit: number, key: keyof typeof DEFAULT_LIMITS, scale: number): number {
  if (key === "minutes") return limit * scale;
  return Math.min(LARGEST, limit === 0 ? 0 : Math.max(1, Math.round(limit * scale)));
}

/** The part of the limits that a run's account keeps for itself and everything below it. */
export function accountLimits(agent: Limits, asked?: AskedLimits): AccountLimits {
  const limits: AccountLimits = {};
  for (const key of ["tokens", "costUsd", "spawns"] as const) {
    const own = agent[key];
    const given = asked?.limits?.[key];
    const limit = own === undefined ? given : combine(own, given, asked?.by ?? "model");
    if (limit !== undefined) limits[key] = limit;
  }
  return limits;
}

function combine(own: number, given: number | undefined, by: AskedLimits["by"]): number {
  if (given === undefined) return own;
  return by === "person" ? given : Math.min(own, given);
}

function limitPerTool(
  own: Readonly<Record<string, number>>,
  { limits, by }: AskedLimits,
): Record<string, number> {
  const given = Object.entries(limits?.perTool ?? {});
  const changed = given.map(([tool, limit]) => [tool, combine(findOwn(own, tool) ?? limit, limit, by)]);
  return { ...own, ...Object.fromEntries(changed) };
}
