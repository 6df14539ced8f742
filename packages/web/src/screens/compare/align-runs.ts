import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { nameStatus } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";

/** A run of one session beside the one of the other that has the same part; at least one of them is there. */
export type RunPair = {
  /** Of the run in A, or of the one in B if there is none. */
  readonly id: string;
  readonly a: TraceRun | null;
  readonly b: TraceRun | null;
  readonly children: readonly RunPair[];
};

type Building = { id: string; a: TraceRun | null; b: TraceRun | null; children: Building[] };
/** Places of two runs, in A and in B. */
type Match = readonly [a: number, b: number];
type ReadKey = (run: TraceRun) => string;

/**
 * Puts two trees of runs side by side. Siblings belong together if they have agent and task in common, else the agent, as far as
 * neither side's order is broken; root runs, each of which a person asked for, also by their place alone. Whatever has no
 * counterpart stands alone with everything below it. Every run appears once, and each side keeps its order.
 */
export function alignRuns(a: readonly TraceRun[], b: readonly TraceRun[]): RunPair[] {
  const roots = pairUp(a, b, [readTask, readAgent, () => ""]);
  const open = [...roots];
  for (let pair = open.pop(); pair; pair = open.pop()) {
    pair.children = pairUp(pair.a?.children ?? [], pair.b?.children ?? [], [readTask, readAgent]);
    for (const child of pair.children) open.push(child);
  }
  return roots;
}

const readAgent: ReadKey = ({ agent }) => agent;
const readTask: ReadKey = ({ agent, task }) => `${agent}\n${plainTask(task)}`;

/** A task without what differs only to the eye. */
function plainTask(task: string): string {
  return task.replaceAll(/\s+/g, " ").trim().toLowerCase();
}

/** What the first key leaves unmatched between two matches is tried with the next one. */
function pairUp(a: readonly TraceRun[], b: readonly TraceRun[], keys: readonly ReadKey[]): Building[] {
  const [readKey, ...others] = keys;
  if (!readKey || a.length === 0 || b.length === 0)
    return [...a.map((run) => pairRuns(run, null)), ...b.map((run) => pairRuns(null, run))];
  const pairs: Building[] = [];
  let fromA = 0;
  let fromB = 0;
  for (const [atA, atB] of [...inOrder(a, b, readKey), [a.length, b.length] as const]) {
    for (const pair of pairUp(a.slice(fromA, atA), b.slice(fromB, atB), others)) pairs.push(pair);
    const [one, other] = [a[atA], b[atB]];
    if (one && other) pairs.push(pairRuns(one, other));
    fromA = atA + 1;
    fromB = atB + 1;
  }
  return pairs;
}

function pairRuns(a: TraceRun | null, b: TraceRun | null): Building {
  return { id: (a ?? b)?.runId ?? "", a, b, children: [] };
}

/** The nth run of a key in A goes with the nth in B; of these matches the most that cross no other one. */
function inOrder(a: readonly TraceRun[], b: readonly TraceRun[], readKey: ReadKey): Match[] {
  const places = new Map<string, number[]>();
  for (const [place, run] of b.entries()) {
    const key = readKey(run);
    const known = places.get(key);
    if (known) known.push(place);
    else places.set(key, [place]);
  }
  const used = new Map<string, number>();
  const matches: Match[] = [];
  for (const [place, run] of a.entries()) {
    const key = readKey(run);
    const nth = used.get(key) ?? 0;
    const other = places.get(key)?.[nth];
    used.set(key, nth + 1);
    if (other !== undefined) matches.push([place, other]);
  }
  return longestRising(matches);
}

/** The longest part of the matches in which B's places rise, as A's do; by binary search, since siblings may be thousands. */
function longestRising(matches: readonly Match[]): Match[] {
  /** For each length, the match with the least place in B that ends such a part. */
  const ends: number[] = [];
  const before: number[] = [];
  const placeAt = (at: number | undefined) => matches[at ?? -1]?.[1] ?? -1;
  for (const [at, [, place]] of matches.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (placeAt(ends[middle]) < place) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1] ?? -1;
    ends[low] = at;
  }
  const rising: Match[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const match = matches[at];
    if (match) rising.push(match);
  }
  return rising.reverse();
}

/** How many pairs are whole, how many runs stand alone, and how many pairs ended otherwise. */
export type PairCounts = { both: number; onlyA: number; onlyB: number; otherwise: number };

function endsOtherwise({ a, b }: RunPair): boolean {
  return a !== null && b !== null && nameStatus(a) !== nameStatus(b);
}

/** Whether a pair is no pair, ended in different ways or was given to different agents. */
export function differs(pair: RunPair): boolean {
  return pair.a?.agent !== pair.b?.agent || endsOtherwise(pair);
}

/** Whether the two runs were told the same, by more than the look of it. */
export function hasSameTask({ a, b }: RunPair): boolean {
  return a === null || b === null || a.task === b.task || plainTask(a.task) === plainTask(b.task);
}

/** Counts the pairs by kind. */
export function countPairs(roots: readonly RunPair[]): PairCounts {
  const counts = { both: 0, onlyA: 0, onlyB: 0, otherwise: 0 };
  for (const pair of walkRuns(roots)) {
    if (!pair.b) counts.onlyA++;
    else if (!pair.a) counts.onlyB++;
    else counts.both++;
    if (endsOtherwise(pair)) counts.otherwise++;
  }
  return counts;
}
