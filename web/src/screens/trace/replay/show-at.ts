/** A moment of a replay; `endMs` says how fine: `3.42 s`, `12.4 s`, `3 m 05 s`, `1 h 03 m 05 s`. */
export function showAt(atMs: number, endMs: number): string {
  if (endMs < 10_000) return `${(atMs / 1_000).toFixed(2)} s`;
  if (atMs < 60_000) return `${(atMs / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(atMs / 1_000);
  const two = (part: number) => String(part).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m ${two(seconds % 60)} s`;
}
