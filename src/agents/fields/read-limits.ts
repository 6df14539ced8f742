import type { Limits, RetryPolicy } from "../../schema/agent.ts";
import { COUNT, LIMIT_RANGES } from "../../schema/number-range.ts";
import { ERROR_TYPES } from "../../schema/result.ts";
import {
  badValue,
  isMap,
  type ReadContext,
  readLimit,
  readMap,
  readNames,
  readNumber,
} from "./read-values.ts";

/** Tried again once after network trouble or a rate limit, one second apart at first. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 1, on: ["network", "rate_limit"], backoffMs: 1000 };

const LIMIT_KEYS = [...Object.keys(LIMIT_RANGES), "perTool"];

/** The limits map, with `turns` and `minutes` of other vendors' keys where the map has none. */
export function readLimits(
  ctx: ReadContext,
  value: unknown,
  vendor: { turns?: [path: string, value: unknown]; minutes?: [path: string, value: unknown] },
): Limits {
  const limits: Limits = {};
  const map = readMap(ctx, "limits", value, LIMIT_KEYS);
  if (map === "bad")
    badValue(ctx, "limits", {
      value,
      accepted: "a map such as {turns: 20}",
      instead: "the agent cannot be used",
      severity: "error",
    });
  for (const key of ["turns", "minutes"] as const) {
    const [path, written] = vendor[key] ?? [key, undefined];
    const read = readNumber(ctx, path, written, LIMIT_RANGES[key]);
    if (read !== undefined) limits[key] = read;
  }
  if (map === undefined || map === "bad") return limits;
  for (const key of Object.keys(LIMIT_RANGES) as (keyof typeof LIMIT_RANGES)[]) {
    const read = readLimit(ctx, `limits.${key}`, map[key], LIMIT_RANGES[key]);
    if (read !== undefined) limits[key] = read;
  }
  const perTool = readPerTool(ctx, map.perTool);
  if (perTool !== undefined) limits.perTool = perTool;
  return limits;
}

function readPerTool(ctx: ReadContext, value: unknown): Record<string, number> | undefined {
  if (value === undefined) return undefined;
  const path = "limits.perTool";
  if (!isMap(value)) {
    badValue(ctx, path, {
      value,
      accepted: "a map such as {web_search: 5}",
      instead: "the agent cannot be used",
      severity: "error",
    });
    return undefined;
  }
  const result: Record<string, number> = {};
  for (const [tool, written] of Object.entries(value)) {
    const calls = readLimit(ctx, `${path}.${tool}`, written, COUNT);
    if (calls !== undefined) result[tool] = calls;
  }
  return result;
}

/** The retry policy; a bad part falls back to its default alone. */
export function readRetry(ctx: ReadContext, value: unknown): RetryPolicy {
  const shorthand = typeof value === "number" ? { attempts: value } : value;
  const map = readMap(ctx, "retry", shorthand, ["attempts", "on", "backoffMs"]);
  if (map === undefined) return DEFAULT_RETRY;
  if (map === "bad") {
    badValue(ctx, "retry", {
      value,
      accepted: "a map such as {attempts: 2}",
      instead: "the default is used",
    });
    return DEFAULT_RETRY;
  }
  return {
    attempts:
      readNumber(ctx, "retry.attempts", map.attempts, { min: 0, max: 10, whole: true }) ??
      DEFAULT_RETRY.attempts,
    on: readErrorTypes(ctx, map.on),
    backoffMs:
      readNumber(ctx, "retry.backoffMs", map.backoffMs, { min: 0, max: 3_600_000 }) ??
      DEFAULT_RETRY.backoffMs,
  };
}

function readErrorTypes(ctx: ReadContext, value: unknown): RetryPolicy["on"] {
  const names = readNames(value);
  if (names === undefined) return DEFAULT_RETRY.on;
  const known = names === "bad" ? undefined : names.map((name) => ERROR_TYPES.find((type) => type === name));
  if (known?.every((type) => type !== undefined)) return known;
  badValue(ctx, "retry.on", {
    value,
    accepted: `a list of ${ERROR_TYPES.join(", ")}`,
    instead: "the default is used",
  });
  return DEFAULT_RETRY.on;
}
