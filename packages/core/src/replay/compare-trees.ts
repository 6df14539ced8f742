import { isClosed } from "../run/read-row.ts";
import type { Divergence } from "./divergence.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RecordedSession } from "./recorded-session.ts";

/** The first recorded run that is missing now, or ended in another way; else one that is new. */
export function compareTrees(recorded: RecordedSession, now: RecordedSession): Divergence | null {
  const then = [...recorded.runs.values()].sort((one, other) => one.node.opened_seq - other.node.opened_seq);
  for (const run of then) {
    const same = now.runs.get(run.node.run_id);
    if (!same) return differing(run, outline(run), "it is not started");
    // Where the record ends, how the run would have gone on is not known.
    if (isClosed(run.node) && outline(run) !== outline(same))
      return differing(run, outline(run), outline(same));
  }
  // Records of earlier versions have no rows for tasks that never began.
  const added = [...now.runs].find(([id, run]) => !recorded.runs.has(id) && !run.isUnstarted)?.[1];
  return added ? differing(added, "no such run", outline(added)) : null;
}

function differing({ path }: RecordedRun, recorded: string, now: string): Divergence {
  return { run: path, turn: 0, what: "the run", recorded, now };
}

function outline({ path, node }: RecordedRun): string {
  return `${path}: ${node.status} after ${node.iteration_count} turns`;
}
