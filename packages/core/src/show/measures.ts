import type { Share } from "../schema/stats.ts";

/** A length of time where columns are narrow: `812ms`, `4.2s`, `3m05s`, `2h05m`. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** How long something has lasted that goes on: whole seconds, because a finer number would never stand still. */
export function showElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds}s` : showDuration(seconds * 1_000);
}

/** A number in at most five characters: `812`, `4.2k`, `123k`, `1.2M`. */
export function showShort(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return count < 9_950_000 ? `${(count / 1_000_000).toFixed(1)}M` : `${Math.round(count / 1_000_000)}M`;
}

/** An amount of money; an unknown one is `$?`, never 0. */
export function showCost(usd: number | null): string {
  if (usd === null) return "$?";
  if (usd === 0) return "$0";
  return `$${usd < 0.01 ? usd.toPrecision(2) : usd.toFixed(2)}`;
}

/** `1,234`. */
export function showNumber(value: number): string {
  // The first use of a locale takes 30 ms, a tenth of a short run.
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : value.toLocaleString("en-US");
}

/** `1 turn`, `2 turns`, `1,234 tokens`, `2 retries`. */
export function showCount(count: number, thing: string, things = `${thing}s`): string {
  return `${showNumber(count)} ${count === 1 ? thing : things}`;
}

/** A share in whole percents; 0 and 100 stand only where they are exact. */
export function showPercent(share: number): string {
  return String(
    share === 0 || share === 1 ? share * 100 : Math.min(99, Math.max(1, Math.round(share * 100))),
  );
}

/** A success rate with the interval in which the true one lies: `83 % (44–97, n=6)`. */
export function showShare({ rate, low, high, n }: Share): string {
  return `${showPercent(rate)} % (${showPercent(low)}–${showPercent(high)}, n=${showNumber(n)})`;
}

/** A moment as it is recorded, in UTC: `2026-01-31 08:00`, or with seconds. */
export function showUtc(moment: string | number, until: "minute" | "second" = "minute"): string {
  const iso = typeof moment === "string" ? moment : new Date(moment).toISOString();
  return iso.slice(0, until === "minute" ? 16 : 19).replace("T", " ");
}

/** The same where there is room, and tenths of a long one would only flicker: `2.4 s`, `12 s`, `3 m 20 s`, `2 h 5 m`. */
export function showSpacedDuration(ms: number): string {
  if (ms > 0 && ms < 50) return "<0.1 s";
  if (ms < 9_950) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} m` : `${minutes} m ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
}

/** Bytes in the unit that people would choose. */
export function showBytes(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
