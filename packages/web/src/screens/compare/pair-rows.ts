import { nameStatus } from "@retinue/core/show/standing";
import { plainTask, type RunPair } from "./align-runs.ts";

/** A pair of runs as a row. */
export type PairRow = {
  readonly pair: RunPair;
  /** Roots are 1. */
  readonly level: number;
  /** Null if nothing is below it. */
  readonly isExpanded: boolean | null;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly siblings: number;
  /** The pair that it is below; null for roots. */
  readonly parentId: string | null;
  /** It is here only because a pair below it differs. */
  readonly isFaint: boolean;
};

/** How many pairs are whole, how many runs stand alone, and how many pairs ended otherwise. */
export type PairCounts = { both: number; onlyA: number; onlyB: number; otherwise: number };

/** Every pair, parents before children, without recursion: a chain may be deep. */
export function* everyPair(roots: readonly RunPair[]): Generator<RunPair> {
  const stack = roots.toReversed();
  for (let pair = stack.pop(); pair; pair = stack.pop()) {
    yield pair;
    for (const child of pair.children.toReversed()) stack.push(child);
  }
}

/** Whether two runs of a pair ended in different ways. */
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
  for (const pair of everyPair(roots)) {
    if (!pair.b) counts.onlyA++;
    else if (!pair.a) counts.onlyB++;
    else counts.both++;
    if (endsOtherwise(pair)) counts.otherwise++;
  }
  return counts;
}

/** Pairs that differ, and (with true) those above them that do not. */
function differing(roots: readonly RunPair[]): Map<RunPair, boolean> {
  const kept = new Map<RunPair, boolean>();
  for (const pair of [...everyPair(roots)].reverse()) {
    if (differs(pair)) kept.set(pair, false);
    else if (pair.children.some((child) => kept.has(child))) kept.set(pair, true);
  }
  return kept;
}

/** The rows in the order they are drawn; `isOnlyDifferent` leaves out what is the same on both sides. */
export function pairRows(
  roots: readonly RunPair[],
  collapsed: ReadonlySet<string>,
  isOnlyDifferent: boolean,
): PairRow[] {
  const kept = isOnlyDifferent ? differing(roots) : null;
  const shown = (pairs: readonly RunPair[]) => (kept ? pairs.filter((pair) => kept.has(pair)) : pairs);
  const makeRows = (pairs: readonly RunPair[], level: number, parentId: string | null) =>
    shown(pairs).map((pair, index, siblings): PairRow => {
      const isLeaf = shown(pair.children).length === 0;
      return {
        pair,
        level,
        isExpanded: isLeaf ? null : !collapsed.has(pair.id),
        place: index + 1,
        siblings: siblings.length,
        parentId,
        isFaint: kept?.get(pair) ?? false,
      };
    });
  const rows: PairRow[] = [];
  const stack = makeRows(roots, 1, null).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (!row.isExpanded) continue;
    const below = makeRows(row.pair.children, row.level + 1, row.pair.id);
    for (const child of below.reverse()) stack.push(child);
  }
  return rows;
}
