import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";
import type { Store } from "../store/create-store.ts";

/** This process's hold on a session. */
export type Lease = {
  /** Fires, with the reason, when another process has taken the session over. */
  readonly lost: AbortSignal;
  /** Lets other processes have the session. */
  release(): void;
};

/** Takes a session for this process; throws if another living one has it. */
export function takeLease(store: Pick<Store, "takeLease">, sessionId: string): Lease {
  const controller = new AbortController();
  const release = store.takeLease(sessionId, () =>
    controller.abort(
      new RetinueError(
        "store",
        `another process took session ${sessionId} over while this one stood still; nothing more of it is done or written here`,
      ),
    ),
  );
  return { lost: controller.signal, release };
}

/** The record as the runs of one session see it: once the session is lost, nothing of it counts as written. */
export function fencedJournal(store: Journal, { lost }: Lease): Journal {
  return {
    open: (row, onCommit) => store.open(row, onCommit),
    close: (id, sessionId, closing, onCommit) => store.close(id, sessionId, closing, onCommit),
    async committed() {
      await store.committed();
      lost.throwIfAborted();
    },
  };
}
