import { hasFailed, statusOf } from "../../runtime/trace/filter-trace.ts";
import { everyRun } from "../../runtime/trace/walk-runs.ts";
import type { TraceRun } from "../../schema/inspect/trace.ts";

/** Of the runs that may be shown, how many failures come before anything else. */
const FAILURE_SHARE = 0.25;

/**
 * Which runs to show if there are more than `limit`: some failures with all above them, then level by level, so that
 * what is left out stands as low in the tree as can be. A run is never shown without those above it.
 */
export function pickRuns(roots: readonly TraceRun[], limit: number): ReadonlySet<TraceRun> {
  const runs = [...everyRun(roots)];
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
  for (const run of everyRun(hidden)) {
    runs++;
    statuses.set(statusOf(run), (statuses.get(statusOf(run)) ?? 0) + 1);
  }
  const parts = [...statuses].map(([status, count]) => `${count.toLocaleString("en-US")} ${status}`);
  return `${runs.toLocaleString("en-US")} more ${runs === 1 ? "run" : "runs"} (${parts.join(", ")})`;
}
