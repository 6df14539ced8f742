import type { Record } from "../record/record.ts";
import { createRecordJournal } from "../record/record-journal.ts";
import type { Lease } from "../run/ports.ts";
import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";

/** Why a session was left for later. */
export class Parked extends Error {
  readonly approvalIds: readonly string[];

  constructor(approvalIds: readonly string[]) {
    super("it waits for a person's approval");
    this.name = "Parked";
    this.approvalIds = approvalIds;
  }
}

/** The process that had a session stopped, and wants it to go on later. */
export class LeftForLater extends Error {
  constructor() {
    super("its process stopped; it goes on when it is resumed");
    this.name = "LeftForLater";
  }
}

/** Takes a session for this process; throws if another living one has it. */
export async function takeLease(
  record: Pick<Record, "takeLease" | "letGo" | "committed">,
  sessionId: string,
): Promise<Lease> {
  const controller = new AbortController();
  const release = await record.takeLease(sessionId, () =>
    controller.abort(
      new RetinueError(
        "store",
        `another process took session ${sessionId} over while this one stood still; nothing more of it is done or written here`,
      ),
    ),
  );
  const park = async (reason: Parked | LeftForLater) => {
    await record.committed();
    await record.letGo(sessionId);
    controller.abort(reason);
  };
  return { lost: controller.signal, release, park };
}

/** The record as the runs of one session see it: once the session is lost, nothing of it counts as written. */
export async function fencedJournal(
  record: Pick<Record, "reserveRowIds" | "append" | "committed">,
  { lost }: Lease,
): Promise<Journal> {
  const journal = await createRecordJournal(record);
  return {
    open: (row, onCommit) => journal.open(row, onCommit),
    close: (id, sessionId, closing, onCommit) => journal.close(id, sessionId, closing, onCommit),
    async committed() {
      await journal.committed();
      lost.throwIfAborted();
    },
  };
}
