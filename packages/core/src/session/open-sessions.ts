import { STOPPED_FROM_OUTSIDE } from "../delegate/bring-to-life.ts";
import type { Record, StopRequest } from "../record/record.ts";
import type { Host, Interruption, Run, Session } from "../run/run.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { RunStatus } from "../schema/result.ts";
import { LeftForLater, Parked } from "./take-lease.ts";

/** What came of the work in a session. */
export type Outcome<Value> = { status: RunStatus; value: Value };

/** The sessions that are open in this process: every one of them ends with a row, however its work ends. */
export class OpenSessions {
  readonly #record: Record;
  readonly #open: Map<string, Session>;
  /** Sessions that have not yet handed over their last row. */
  readonly #endings = new Set<Promise<void>>();
  #closed: "ending" | "leaving" | null = null;
  /** Stops looking for what other processes asked to stop; set while anything is open. */
  #unwatch: (() => void) | undefined;

  constructor({ record, sessions }: Pick<Host, "record" | "sessions">) {
    this.#record = record;
    this.#open = sessions;
  }

  has(sessionId: string): boolean {
    return this.#open.has(sessionId);
  }

  get(sessionId: string): Session | undefined {
    return this.#open.get(sessionId);
  }

  /** A live run of any session. */
  find(runId: string): Run | undefined {
    for (const session of this.#open.values()) {
      const live = session.live.get(runId);
      if (live) return live;
    }
    return undefined;
  }

  /** Ends a session and lets nothing more begin in it; false if it is not open here. */
  cancel(sessionId: string, message: string): boolean {
    const session = this.#open.get(sessionId);
    if (!session) return false;
    this.#record.append({ kind: "session.update", sessionId, change: { status: "cancelled" } });
    stop(session, cancelled(message));
    return true;
  }

  /** Opens a session, works in it and closes it. */
  async within<Value>(
    opening: () => Promise<Session>,
    work: (session: Session) => Promise<Outcome<Value>>,
  ): Promise<Value> {
    if (this.#closed) throw new RetinueError("failed", "the runtime is closed");
    const { promise: ending, resolve: ended } = Promise.withResolvers<void>();
    this.#endings.add(ending);
    try {
      return await this.#workIn(await opening(), work, ended);
    } finally {
      ended();
      this.#endings.delete(ending);
    }
  }

  /** Ends everything that is open or about to be; what is left to write is the store's. */
  async close(): Promise<void> {
    this.#closed ??= "ending";
    for (const sessionId of this.#open.keys()) this.cancel(sessionId, CLOSED);
    await Promise.all(this.#endings);
  }

  /**
   * Leaves everything as it is on disk, to be resumed later; nothing of it counts as cancelled. Nothing begins meanwhile; what
   * is under way continues until `drained`. Rejects if the disk refuses what is left to write.
   */
  async leave(drained?: Promise<void>): Promise<void> {
    this.#closed ??= "leaving";
    await drained;
    await this.#record.written();
    await Promise.all([...this.#open.values()].map(({ lease }) => lease.park(new LeftForLater())));
    await Promise.all(this.#endings);
  }

  async #workIn<Value>(
    session: Session,
    work: (session: Session) => Promise<Outcome<Value>>,
    ended: () => void,
  ): Promise<Value> {
    this.#open.set(session.id, session);
    this.#unwatch ??= watchStops(this.#record, (asked) => this.#obey(asked));
    if (this.#closed === "leaving") await session.lease.park(new LeftForLater());
    else if (this.#closed) session.stop = cancelled(CLOSED);
    const { lost } = session.lease;
    if (lost.aborted) abandon(session);
    else lost.addEventListener("abort", () => abandon(session));
    let status: RunStatus = "failed";
    try {
      const done = await work(session);
      status = done.status;
      return done.value;
    } finally {
      await session.flushObserved();
      this.#close(session);
      this.#record.append({
        kind: "session.update",
        sessionId: session.id,
        change: { status: session.stop ? "cancelled" : status },
      });
      // Closing does not wait for a disk that refuses: the record then says what is lost.
      this.#record.written().catch(ended);
      await this.#record.committed();
      if (!lost.aborted) await this.#record.forgetStops(session.id);
      await session.lease.release();
      session.emit({ type: "session.ended", status });
    }
  }

  #close(session: Session): void {
    this.#open.delete(session.id);
    if (this.#open.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Does what another process asked for, as far as it is about something that is open here. */
  #obey({ sessionId, id }: StopRequest): void {
    if (id === sessionId) this.cancel(sessionId, STOPPED_FROM_OUTSIDE.message);
    const live = this.#open.get(sessionId)?.live.get(id);
    if (live) live.interruptTree(STOPPED_FROM_OUTSIDE);
  }
}

const CLOSED = "the runtime was closed";

function cancelled(message: string): Interruption {
  return { status: "cancelled", bailout: "cancelled", message };
}

/** Ends what runs in a session, and whatever is about to. */
function stop(session: Session, interruption: Interruption): void {
  session.stop = interruption;
  for (const live of session.live.values()) if (!live.parent) live.interruptTree(interruption);
}

/** Another process has the session, or will have it: nothing more is done or written for it here. */
function abandon(session: Session): void {
  const { reason } = session.lease.lost;
  const message = messageOf(reason);
  if (reason instanceof Parked) session.emit({ type: "session.parked", approvalIds: reason.approvalIds });
  if (reason instanceof Parked || reason instanceof LeftForLater) {
    stop(session, cancelled(message));
    return;
  }
  session.emit({ type: "notice.raised", level: "error", message });
  stop(session, { status: "failed", bailout: "error", message });
}

const LOOK_MS = 1_000;

/** Looks each second for wishes to stop that other processes left; the answer ends the looking. */
function watchStops(record: Pick<Record, "listStops">, act: (request: StopRequest) => void): () => void {
  const look = async () => {
    try {
      for (const request of await record.listStops()) act(request);
    } catch {
      // A database that is busy now is looked at again in a second.
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return () => clearInterval(timer);
}
