/** A length of time in at most two units: `2.4 s`, `12 s`, `3 m 20 s`, `2 h 5 m`. */
export function showDuration(ms: number): string {
  if (ms > 0 && ms < 50) return "<0.1 s";
  if (ms < 9_950) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} m` : `${minutes} m ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} m`;
}

/** A number of tokens: `840`, `12.4k`, `1.2M`. */
export function showTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  if (tokens < 1_000_000) return `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** A cost; one that is not known is `$?`, never 0. */
export function showCost(costUsd: number | null): string {
  if (costUsd === null) return "$?";
  if (costUsd === 0) return "$0";
  return costUsd < 0.01 ? `$${costUsd.toFixed(4)}` : `$${costUsd.toFixed(2)}`;
}

/** How long ago a moment was, in words that fit a list. */
export function showAge(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1_000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.round(hours / 24);
  return days < 14 ? `${days} d ago` : showDay(atMs);
}

/** A day of the person's own calendar: `2026-03-09`. */
function showDay(atMs: number): string {
  const at = new Date(atMs);
  const two = (part: number) => part.toString().padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** A moment by the person's own clock: `2026-03-09 14:05:12`. */
export function showMoment(atMs: number): string {
  return `${showDay(atMs)} ${new Date(atMs).toLocaleTimeString("en-GB")}`;
}

/** A count with its noun: `1 run`, `3 runs`. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Bytes in the unit that people would choose. */
export function showBytes(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000
    ? `${(bytes / 1_000_000).toFixed(1)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
