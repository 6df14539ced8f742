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
  return new Date(atMs).toLocaleDateString("sv-SE");
}

/** A moment by the person's own clock: `2026-03-09 14:05:12`. */
export function showMoment(atMs: number): string {
  return new Date(atMs).toLocaleString("sv-SE");
}
