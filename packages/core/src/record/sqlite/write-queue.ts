import { messageOf, RetinueError } from "../../schema/error.ts";
import type { RecordNotice } from "../record.ts";
import { type FailureKind, failureKind, hintFor } from "./sqlite-failure.ts";

/** What the queue needs from outside. */
export type QueuePorts<Op> = {
  /** Names the database in messages. */
  path: string;
  /** Writes all operations in one transaction, or throws and leaves no trace. */
  write(ops: readonly Op[]): void;
  /** Called in order, once the operation is on disk. */
  onWritten(op: Op): void;
  describe(op: Op): string;
  onNotice(notice: RecordNotice): void;
  /** Runs a function later; the answer cancels it. */
  schedule(work: () => void, delayMs: number): () => void;
};

const MOST_PER_TRANSACTION = 200;
const COMPACT_AT = 10_000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;

type Waiter = {
  until: number;
  isPatient: boolean;
  resolve: () => void;
  reject: (reason: RetinueError) => void;
};

/** Collects operations and writes them together, in order, and never forgets one while the disk refuses. */
export class WriteQueue<Op> {
  private readonly ports: QueuePorts<Op>;
  private queue: Op[] = [];
  /** Where the unwritten part of the queue begins. */
  private head = 0;
  private pushed = 0;
  private done = 0;
  private waiters: Waiter[] = [];
  private cancelFlush: (() => void) | undefined;
  private failing: { kind: FailureKind; problem: RetinueError } | undefined;
  private delayMs = FIRST_DELAY_MS;
  /** How many operations are still written one by one, to find the one that can never be written. */
  private singles = 0;

  constructor(ports: QueuePorts<Op>) {
    this.ports = ports;
  }

  push(op: Op): void {
    this.queue.push(op);
    this.pushed++;
    if (this.cancelFlush === undefined) this.flushSoon();
  }

  /** Resolves when everything pushed so far is on disk; rejects if an operation of it can never be written. */
  committed(): Promise<void> {
    return this.wait(true);
  }

  /** Like `committed`, but tries at once, and rejects if the disk refuses instead of waiting until it does not. */
  written(): Promise<void> {
    const waiting = this.wait(false);
    if (this.failing && this.done < this.pushed) {
      this.cancelFlush?.();
      this.flush();
    }
    return waiting;
  }

  private wait(isPatient: boolean): Promise<void> {
    if (this.done === this.pushed) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.waiters.push({ until: this.pushed, isPatient, resolve, reject });
    });
  }

  /** Why nothing can be written now; null as long as it can. */
  problem(): RetinueError | null {
    return this.failing?.problem ?? null;
  }

  /** Writes the rest; rejects, naming what is lost, if that is impossible. No push may follow. */
  async end(): Promise<void> {
    this.cancelFlush?.();
    const problem = this.writeRest();
    if (problem === undefined) return;
    for (const waiter of this.waiters.splice(0)) waiter.reject(problem);
    throw problem;
  }

  private writeRest(): RetinueError | undefined {
    let refused: RetinueError | undefined;
    while (this.done < this.pushed) {
      try {
        refused = this.writeBatch() ?? refused;
      } catch (thrown) {
        return this.notWritten(thrown);
      }
    }
    return refused;
  }

  private flushSoon(): void {
    const immediate = setImmediate(() => this.flush());
    this.cancelFlush = () => clearImmediate(immediate);
  }

  private flush(): void {
    try {
      this.writeBatch();
    } catch (thrown) {
      this.pause(thrown);
      return;
    }
    this.cancelFlush = undefined;
    if (this.done < this.pushed) this.flushSoon();
  }

  /** Throws what the surroundings refuse; returns the error of a row that was given up. */
  private writeBatch(): RetinueError | undefined {
    const batch = this.queue.slice(this.head, this.head + (this.singles > 0 ? 1 : MOST_PER_TRANSACTION));
    try {
      this.ports.write(batch);
    } catch (thrown) {
      if (failureKind(thrown) !== "row") throw thrown;
      return this.isolate(batch, thrown);
    }
    this.recovered();
    this.finish(batch);
    return undefined;
  }

  private finish(batch: readonly Op[]): void {
    this.drop(batch.length);
    for (const op of batch) this.announce(op);
    while (this.waiters[0] !== undefined && this.waiters[0].until <= this.done)
      this.waiters.shift()?.resolve();
  }

  private drop(count: number): void {
    this.head += count;
    this.done += count;
    this.singles = Math.max(0, this.singles - count);
    if (this.head === this.queue.length || this.head > COMPACT_AT) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }

  private announce(op: Op): void {
    try {
      this.ports.onWritten(op);
    } catch (thrown) {
      this.ports.onNotice({
        level: "error",
        message: `A listener of the record failed: ${messageOf(thrown)}`,
      });
    }
  }

  private isolate(batch: readonly Op[], thrown: unknown): RetinueError | undefined {
    const [op] = batch;
    if (op === undefined || batch.length > 1) {
      this.singles = batch.length;
      return undefined;
    }
    const what = `cannot write ${this.ports.describe(op)} to ${this.ports.path}: ${messageOf(thrown)}`;
    const problem = new RetinueError("store", what, hintFor("row"), { cause: thrown });
    this.drop(1);
    this.ports.onNotice({ level: "error", message: what });
    // Whoever waits for this row or for a later one must learn of it.
    for (const waiter of this.waiters.splice(0)) waiter.reject(problem);
    return problem;
  }

  private pause(thrown: unknown): void {
    const kind = failureKind(thrown);
    if (this.failing?.kind !== kind) {
      const what = `Cannot write to ${this.ports.path}: ${messageOf(thrown)}`;
      this.failing = { kind, problem: new RetinueError("store", what, hintFor(kind), { cause: thrown }) };
      const message = `${what}. Runs wait; nothing is lost. ${hintFor(kind)}`;
      this.ports.onNotice({ level: "error", message });
    }
    if (kind !== "busy") this.rejectImpatient(this.failing.problem);
    this.cancelFlush = this.ports.schedule(() => this.flush(), this.delayMs);
    this.delayMs = Math.min(this.delayMs * 2, LONGEST_DELAY_MS);
  }

  private rejectImpatient(problem: RetinueError): void {
    const impatient = this.waiters.filter(({ isPatient }) => !isPatient);
    this.waiters = this.waiters.filter(({ isPatient }) => isPatient);
    for (const waiter of impatient) waiter.reject(problem);
  }

  private recovered(): void {
    if (this.failing === undefined) return;
    this.failing = undefined;
    this.delayMs = FIRST_DELAY_MS;
    this.ports.onNotice({ level: "info", message: `Writing to ${this.ports.path} works again; runs go on.` });
  }

  private notWritten(thrown: unknown): RetinueError {
    const left = this.pushed - this.done;
    const shown = this.queue.slice(this.head, this.head + 5).map((op) => this.ports.describe(op));
    const rest = left > shown.length ? ` and ${left - shown.length} more` : "";
    return new RetinueError(
      "store",
      `${left} changes were not written to ${this.ports.path}: ${shown.join(", ")}${rest} (${messageOf(thrown)})`,
      hintFor(failureKind(thrown)),
      { cause: thrown },
    );
  }
}
