import type { TransportReply } from "../../schema/transport.ts";
import { isRecord } from "./json.ts";

/** How long the server asks to wait by its headers: milliseconds, seconds or a date. */
export function retryAfterMs(headers: TransportReply["headers"], nowMs: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers["retry-after"];
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined;
}

/** What the body of a refusal tells about waiting: Google's details, or words in the message. */
export type RetryHints = {
  retryAfterMs?: number;
  /** A limit that waiting a little does not lift. */
  usedUp?: boolean;
};

/** Reads the hints of an error object. */
export function retryHintsIn(error: Readonly<Record<string, unknown>>): RetryHints {
  const details = Array.isArray(error.details) ? error.details.filter(isRecord) : [];
  const delays = details.map((detail) => durationMs(detail.retryDelay));
  const message = typeof error.message === "string" ? error.message : "";
  const said = /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i.exec(message)?.[1];
  const waitMs = delays.find((delay) => delay !== undefined) ?? durationMs(said);
  const usedUp = details.some((detail) =>
    /PerDay/.test(JSON.stringify([detail.violations, detail.metadata])),
  );
  return { ...(waitMs !== undefined && { retryAfterMs: waitMs }), ...(usedUp && { usedUp }) };
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Milliseconds of a duration such as `37.5s` or `6m0s`. */
function durationMs(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^(\d+(\.\d+)?(ms|h|m|s))+$/i.test(value)) return undefined;
  let total = 0;
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gi))
    total += Number(amount) * (UNIT_MS[unit?.toLowerCase() ?? ""] ?? 0);
  return Math.round(total);
}
