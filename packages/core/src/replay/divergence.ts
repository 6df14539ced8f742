/** A place where a replay is not what was recorded. */
export type Divergence = {
  /** Names of the agents from the root down to the run. */
  run: string;
  /** The run's turn; 0 if it concerns the run as a whole. */
  turn: number;
  what: string;
  recorded: string;
  now: string;
};

/** Collects where a replay differs; of several the first is the one that comes first in the record. */
export class Divergences {
  #first: { seq: number; divergence: Divergence } | null = null;

  get first(): Divergence | null {
    return this.#first?.divergence ?? null;
  }

  note(seq: number, divergence: Divergence): void {
    if (this.#first && this.#first.seq <= seq) return;
    const { recorded, now } = divergence;
    this.#first = { seq, divergence: { ...divergence, ...aroundDifference(recorded, now) } };
  }
}

const SHOWN_CHARS = 600;
const LEAD_CHARS = 80;

/** Two texts around the first place where they differ, short enough to be read. */
export function aroundDifference(recorded: string, now: string): { recorded: string; now: string } {
  let at = 0;
  while (at < recorded.length && recorded[at] === now[at]) at++;
  const from = at > 2 * LEAD_CHARS ? at - LEAD_CHARS : 0;
  return { recorded: piece(recorded, from), now: piece(now, from) };
}

function piece(text: string, from: number): string {
  const start = isInsidePair(text, from) ? from - 1 : from;
  const end = start + SHOWN_CHARS;
  const shown = text.slice(start, isInsidePair(text, end) ? end - 1 : end);
  return `${start > 0 ? "…" : ""}${shown}${end < text.length ? "…" : ""}`;
}

function isInsidePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
