import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCount, showNumber } from "@retinue/core/show/measures";
import { hasFailed, nameStatus } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { isFailed, isLive, type RunNode } from "./run-tree.ts";

/** Which runs get a line of their own, and how those stand that do not. */
export type Choice = { readonly shown: ReadonlySet<RunNode>; readonly hidden: Hidden };

/** Runs without a line. */
type Hidden = { running: number; waiting: number; failed: number; completed: number };

/** Whether the runs below a run are shown. */
export type IsOpen = (node: RunNode) => boolean;

/** Where a run stands among those that can be shown. */
type Place = { node: RunNode; parent: Place | null };

/**
 * Chooses at most `height` lines, one of them for the rest if not all fit. First come who waits for a person, failures and
 * what runs, each with all above it; then what ended, the latest first.
 */
export function chooseRows(
  { roots, below }: { roots: readonly RunNode[]; below?: RunNode | undefined },
  height: number,
  isOpen: IsOpen,
): Choice {
  const all = listRunPlaces(below?.children ?? roots, null, isOpen);
  const open = all.map(({ node }) => node).filter(isOpen);
  const lost = countLost(below ? [below, ...open] : open);
  if (height <= 0) return { shown: new Set(), hidden: NONE };
  if (all.length <= height && countHidden(lost) === 0)
    return { shown: new Set(all.map(({ node }) => node)), hidden: lost };
  const shown = new Set<RunNode>();
  const room = Math.max(1, height - 1);
  for (const place of byImportance(all, room)) {
    if (shown.size >= room) break;
    const missing = withAbove(place).filter((node) => !shown.has(node));
    if (shown.size + missing.length <= room) for (const node of missing) shown.add(node);
  }
  const hidden = { ...lost };
  for (const { node } of all) if (!shown.has(node)) addHidden(node, isOpen(node), hidden);
  return { shown, hidden };
}

const NONE: Hidden = { running: 0, waiting: 0, failed: 0, completed: 0 };

/** How many runs have no line. */
export function countHidden({ running, waiting, failed, completed }: Hidden): number {
  return running + waiting + failed + completed;
}

function listRunPlaces(nodes: readonly RunNode[], parent: Place | null, isOpen: IsOpen): Place[] {
  return nodes.flatMap((node) => {
    const place = { node, parent };
    return isOpen(node) ? [place, ...listRunPlaces(node.children, place, isOpen)] : [place];
  });
}

function byImportance(all: readonly Place[], room: number): Place[] {
  const newest = (some: Place[]) => some.sort((a, b) => (b.node.endedAtMs ?? 0) - (a.node.endedAtMs ?? 0));
  const asking = all.filter(({ node }) => node.waitingOn === "approval");
  const failed = newest(all.filter(({ node }) => isFailed(node)));
  const live = all.filter(({ node }) => isLive(node));
  const ended = newest(all.filter(({ node }) => !isLive(node) && !isFailed(node)));
  const most = Math.ceil(room / 3);
  return [...asking, ...failed.slice(0, most), ...live, ...failed.slice(most), ...ended];
}

function withAbove(place: Place): RunNode[] {
  const found: RunNode[] = [];
  for (let each: Place | null = place; each; each = each.parent) found.unshift(each.node);
  return found;
}

/** Counts runs that the tree no longer holds. */
function countLost(open: readonly RunNode[]): Hidden {
  const lost = { ...NONE };
  for (const node of open) {
    const held = { runs: 0, failed: 0 };
    for (const child of node.children) {
      held.runs += 1 + child.below.runs;
      held.failed += (isFailed(child) ? 1 : 0) + child.below.failed;
    }
    const failed = node.below.failed - held.failed;
    lost.failed += failed;
    lost.completed += node.below.runs - held.runs - failed;
  }
  return lost;
}

/** Counts a run, and everything below it unless its children are counted one by one. */
function addHidden(node: RunNode, open: boolean, hidden: Hidden): void {
  if (isFailed(node)) hidden.failed++;
  else if (node.status === "waiting") hidden.waiting++;
  else if (isLive(node)) hidden.running++;
  else hidden.completed++;
  if (open) return;
  const { runs, live, failed } = node.below;
  hidden.running += live;
  hidden.failed += failed;
  hidden.completed += runs - live - failed;
}

/** Of the runs that may be shown, how many failures come before anything else. */
const FAILURE_SHARE = 0.25;

/**
 * Which runs to show if there are more than `limit`: some failures with all above them, then level by level, so that
 * what is left out stands as low in the tree as can be. A run is never shown without those above it.
 */
export function pickRuns(roots: readonly TraceRun[], limit: number): ReadonlySet<TraceRun> {
  const runs = [...walkRuns(roots)];
  if (runs.length <= limit) return new Set(runs);
  const parents = new Map<TraceRun, TraceRun>();
  for (const run of runs) for (const child of run.children) parents.set(child, run);
  const picked = new Set<TraceRun>();
  for (const run of runs) {
    if (picked.size >= limit * FAILURE_SHARE) break;
    if (!hasFailed(run)) continue;
    const line: TraceRun[] = [];
    for (let at: TraceRun | undefined = run; at && !picked.has(at); at = parents.get(at)) line.push(at);
    if (picked.size + line.length <= limit) for (const one of line) picked.add(one);
  }
  for (let level = [roots]; level.length > 0; level = familiesBelow(level, picked)) {
    for (const run of inTurn(level)) {
      if (picked.size >= limit) return picked;
      picked.add(run);
    }
  }
  return picked;
}

function familiesBelow(
  level: readonly (readonly TraceRun[])[],
  picked: ReadonlySet<TraceRun>,
): (readonly TraceRun[])[] {
  const parents = level.flat().filter((run) => picked.has(run));
  return parents.map((run) => run.children).filter((family) => family.length > 0);
}

/** The first of every family, then the second of each, so that no parent takes all the room. */
function* inTurn(families: readonly (readonly TraceRun[])[]): Generator<TraceRun> {
  for (let index = 0, left = families; left.length > 0; index++) {
    left = left.filter((family) => index < family.length);
    for (const family of left) yield* family.slice(index, index + 1);
  }
}

/** `12 more runs (11 completed, 1 failed)`: runs that are not shown, with all below them. */
export function sayHidden(hidden: readonly TraceRun[]): string {
  const statuses = new Map<string, number>();
  let runs = 0;
  for (const run of walkRuns(hidden)) {
    runs++;
    statuses.set(nameStatus(run), (statuses.get(nameStatus(run)) ?? 0) + 1);
  }
  const parts = [...statuses].map(([status, count]) => `${showNumber(count)} ${status}`);
  return `${showCount(runs, "more run")} (${parts.join(", ")})`;
}
