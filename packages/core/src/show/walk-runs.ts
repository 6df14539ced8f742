import type { TraceRun } from "../schema/inspect/trace.ts";

/** Every run of a forest, or pair of runs, a parent before its children and those in their order; without recursion. */
export function* walkRuns<Run extends { readonly children: readonly Run[] }>(
  roots: readonly Run[],
): Generator<Run> {
  const left = roots.toReversed();
  for (let run = left.pop(); run; run = left.pop()) {
    yield run;
    for (let index = run.children.length - 1; index >= 0; index--) {
      const child = run.children[index];
      if (child) left.push(child);
    }
  }
}

/** The run with this id, or the only one whose id begins so. */
export function findRun(roots: readonly TraceRun[], id: string): TraceRun[] {
  const found: TraceRun[] = [];
  if (id === "") return found;
  for (const run of walkRuns(roots)) {
    if (run.runId === id) return [run];
    if (run.runId.startsWith(id)) found.push(run);
  }
  return found;
}

/** The runs from a root to this one, both included; empty if it is not among them. */
export function pathTo(roots: readonly TraceRun[], target: TraceRun): TraceRun[] {
  const parents = new Map<TraceRun, TraceRun>();
  for (const run of walkRuns(roots)) for (const child of run.children) parents.set(child, run);
  const path = [target];
  for (let above = parents.get(target); above; above = parents.get(above)) path.unshift(above);
  return path[0] && roots.includes(path[0]) ? path : [];
}
