import { showDuration } from "../../ui/measures.ts";

/** A length of time in a trace, where milliseconds matter: `12 ms`, `3 s`, `2 m 10 s`. */
export function showSpan(ms: number): string {
  return ms < 950 ? `${Math.max(0, Math.round(ms))} ms` : showDuration(ms);
}
