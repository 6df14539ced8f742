import type { RunLimits } from "../../loop/run-spec.ts";
import type { AccountLimits } from "../../scheduler/ledger.ts";
import type { Agent, Limits } from "../../schema/agent.ts";
import { findOwn } from "../../schema/find-own.ts";
import type { Settings } from "../../schema/settings.ts";

/** What binds a run when neither its agent, the settings nor the delegation say otherwise. */
export const DEFAULT_LIMITS = { turns: 20, toolCalls: 200, contextChars: 400_000, minutes: 5 } as const;

const REPAIRS = 1;

/** An agent's limits over the settings' defaults, narrowed by what the delegation asks for; never widened by it. */
export function effectiveLimits(
  { limits: agent, maxOutputTokens }: Pick<Agent, "limits" | "maxOutputTokens">,
  narrowing: Limits | undefined,
  settings: Pick<Settings, "limits" | "watchdog" | "maxOutputTokens">,
): RunLimits {
  const outputTokens = maxOutputTokens ?? settings.maxOutputTokens;
  const pick = (key: "turns" | "toolCalls" | "contextChars" | "minutes") =>
    Math.min(
      agent[key] ?? settings.limits[key] ?? DEFAULT_LIMITS[key],
      narrowing?.[key] ?? Number.POSITIVE_INFINITY,
    );
  return {
    turns: pick("turns"),
    toolCalls: pick("toolCalls"),
    contextChars: pick("contextChars"),
    ...(outputTokens !== undefined && { maxOutputTokens: outputTokens }),
    timeoutMs: pick("minutes") * 60_000,
    perTool: narrowPerTool({ ...settings.limits.perTool, ...agent.perTool }, narrowing?.perTool),
    firstTokenMs: settings.watchdog.firstTokenMs,
    idleMs: settings.watchdog.idleMs,
    repairs: REPAIRS,
  };
}

/** The part of the limits that a run's account keeps for itself and everything below it. */
export function accountLimits(agent: Limits, narrowing?: Limits): AccountLimits {
  const limits: AccountLimits = {};
  for (const key of ["tokens", "costUsd", "spawns"] as const) {
    const least = Math.min(
      agent[key] ?? Number.POSITIVE_INFINITY,
      narrowing?.[key] ?? Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(least)) limits[key] = least;
  }
  return limits;
}

function narrowPerTool(
  own: Readonly<Record<string, number>>,
  narrowing: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const result: Record<string, number> = { ...own };
  for (const [tool, limit] of Object.entries(narrowing))
    result[tool] = Math.min(limit, findOwn(own, tool) ?? limit);
  return result;
}
