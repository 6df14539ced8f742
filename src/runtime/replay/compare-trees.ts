import type { MessageNode } from "../../schema/record.ts";
import { isClosed, subtreeOf } from "../record/read-row.ts";
import type { Divergence } from "./divergence.ts";

/** All runs of some trees. */
export function runsIn(roots: readonly MessageNode[]): MessageNode[] {
  return roots
    .flatMap((root) => [...subtreeOf(root)])
    .filter((row) => row.request_type === "prompt" || row.request_type === "delegation");
}

/** The first recorded run that is missing now, or ended in another way; else one that is new. */
export function compareTrees(
  recorded: readonly MessageNode[],
  now: readonly MessageNode[],
): Divergence | null {
  const today = new Map(runsIn(now).map((run) => [run.run_id, run]));
  const then = runsIn(recorded).sort((one, other) => one.opened_seq - other.opened_seq);
  for (const run of then) {
    const same = today.get(run.run_id);
    today.delete(run.run_id);
    if (!same) return differing(run, outline(run), "it is not started");
    // Where the record ends, how it would have gone on is not known.
    if (isClosed(run) && outline(run) !== outline(same)) return differing(run, outline(run), outline(same));
  }
  const [added] = today.values();
  return added ? differing(added, "no such run", outline(added)) : null;
}

function differing(run: MessageNode, recorded: string, now: string): Divergence {
  return { run: run.agent_role ?? "", turn: 0, what: "the run", recorded, now };
}

function outline({ status, iteration_count }: MessageNode): string {
  return `${status}, ${iteration_count} turns`;
}
