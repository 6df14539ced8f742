import type { Limits, RetryPolicy } from "../../schema/agent.ts";
import { findOwn } from "../../schema/find-own.ts";
import { COUNT, LIMIT_RANGES, type NumberRange } from "../../schema/number-range.ts";
import { ERROR_TYPES } from "../../schema/result.ts";
import {
  badValue,
  isMap,
  type ReadContext,
  readLimit,
  readMap,
  readNames,
  report,
  showValue,
  UNUSABLE,
} from "./read-values.ts";
import { resolveToolName } from "./resolve-rule.ts";
import { reportUnusable } from "./rule-lists.ts";

/** Tried again once after network trouble or a rate limit, one second apart at first. */
export const DEFAULT_RETRY: RetryPolicy = { attempts: 1, on: ["network", "rate_limit"], backoffMs: 1000 };

const RETRIES: NumberRange = { min: 0, max: 10, whole: true };
const BACKOFF_MS: NumberRange = { min: 0, max: 3_600_000 };
const LIMIT_KEYS = [...Object.keys(LIMIT_RANGES), "perTool"];

/** A limit under another vendor's key. */
export type VendorLimit = { limit: "turns" | "minutes"; path: string; value: unknown };

/** The limits map, with `turns` and `minutes` of other vendors' keys where the map has none. */
export function readLimits(ctx: ReadContext, value: unknown, vendor: readonly VendorLimit[]): Limits {
  const limits: Limits = {};
  const map = readMap(ctx, "limits", value, LIMIT_KEYS, "error");
  if (map === "bad") refuse(ctx, "limits", value, "a map such as {turns: 20}");
  for (const { limit, path, value: written } of vendor) {
    const read = readLimit(ctx, path, asVendorReads(ctx, path, written), LIMIT_RANGES[limit]);
    if (read !== undefined) limits[limit] = Math.min(read, limits[limit] ?? read);
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

/** Claude Code reads a number in quotes as that number; the others refuse it. */
function asVendorReads({ format }: ReadContext, path: string, value: unknown): unknown {
  const isNumber = typeof value === "string" && /^[0-9]+$/.test(value);
  return isNumber && format === "claude" && path === "maxTurns" ? Number(value) : value;
}

/** Limits by tool, in our own names; a name that is nobody's is an error, since the limit would not hold. */
function readPerTool(ctx: ReadContext, value: unknown): Record<string, number> | undefined {
  if (value === undefined) return undefined;
  const path = "limits.perTool";
  if (!isMap(value)) {
    refuse(ctx, path, value, "a map such as {web_search: 5}");
    return undefined;
  }
  const result: Record<string, number> = {};
  for (const [written, each] of Object.entries(value)) {
    const at = `${path}.${written}`;
    const calls = readLimit(ctx, at, each, COUNT);
    const tool = resolveToolName(written, ctx.format, ctx.known);
    if ("hint" in tool) {
      const message = `${at} names the unknown tool ${showValue(written)}, so its limit would not hold; ${tool.hint}`;
      report(ctx, "error", {
        path: at,
        code: "unknown-limited-tool",
        message,
        fix: "correct the name or remove it",
      });
    } else if (tool.names.length === 0) reportUnusable(ctx, at, written, { kind: "elsewhere" });
    else if (calls !== undefined) addToolLimits(result, tool.names, calls);
  }
  return result;
}

/** Adds the limit of some tools; where one has a limit already, the lower one holds. */
export function addToolLimits(limits: Record<string, number>, tools: readonly string[], calls: number): void {
  for (const tool of tools) limits[tool] = Math.min(calls, findOwn(limits, tool) ?? calls);
}

/** The retry policy. A part that cannot be read is an error: by default an agent may be called more often than was meant. */
export function readRetry(ctx: ReadContext, value: unknown): RetryPolicy {
  const shorthand = typeof value === "number" ? { attempts: value } : value;
  const map = readMap(ctx, "retry", shorthand, ["attempts", "on", "backoffMs"], "error");
  if (map === undefined) return DEFAULT_RETRY;
  if (map === "bad") {
    refuse(ctx, "retry", value, "a map such as {attempts: 2}");
    return DEFAULT_RETRY;
  }
  const { attempts, on, backoffMs } = map;
  return {
    attempts: readLimit(ctx, "retry.attempts", attempts, RETRIES) ?? DEFAULT_RETRY.attempts,
    on: readErrorTypes(ctx, on),
    backoffMs: readLimit(ctx, "retry.backoffMs", backoffMs, BACKOFF_MS) ?? DEFAULT_RETRY.backoffMs,
  };
}

function refuse(ctx: ReadContext, path: string, value: unknown, accepted: string): void {
  badValue(ctx, path, { value, accepted, instead: UNUSABLE, severity: "error" });
}

function readErrorTypes(ctx: ReadContext, value: unknown): RetryPolicy["on"] {
  const names = readNames(value);
  if (names === undefined) return DEFAULT_RETRY.on;
  const known = names === "bad" ? undefined : names.map((name) => ERROR_TYPES.find((type) => type === name));
  if (known?.every((type) => type !== undefined)) return known;
  refuse(ctx, "retry.on", value, `a list of ${ERROR_TYPES.join(", ")}`);
  return DEFAULT_RETRY.on;
}
