import type { Clock } from "@retinue/core/budget/clock";
import { Gate } from "@retinue/core/budget/gate";
import { isRunRow } from "@retinue/core/record/read-tree";
import type { MessageChange, Record } from "@retinue/core/record/record";
import type { RunView, SessionStanding, StepView } from "@retinue/core/schema/api/session";
import type { StreamEvent } from "@retinue/core/schema/api/stream";
import { findParentRun, runView, stepView } from "../views/run-view.ts";
import { EventStream, encodeEvent } from "./event-stream.ts";
import type { LiveRuns } from "./live-runs.ts";

/** Where a feed looks things up. */
type FeedPorts = {
  readonly clock: Clock;
  readonly live: LiveRuns;
  readonly record: Pick<Record, "readLog" | "readLastSeq" | "readRow">;
  standing(sessionId: string): Promise<SessionStanding | null>;
  /** The last reader has gone. */
  ended(): void;
};

/** A reader; `seq` is how far it has been told the record, null once it is told together with all others. */
type Watcher = { readonly stream: EventStream; seq: number | null };

const PAGE = 200;
const FLUSH_MS = 50;
const RETRY_MS = 1_000;

/**
 * What is told of one session while a page watches it. The record is the source: after each change of it all readers get
 * the rows since the last time, made once for all. Who comes later first reads the record up to where the others are.
 */
export class SessionFeed {
  readonly #id: string;
  readonly #ports: FeedPorts;
  readonly #watchers = new Set<Watcher>();
  /** What is read from the record is told before anything else is read. */
  readonly #oneByOne = new Gate(1);
  /** How far those who are up to date have been told. */
  #seq = 0;
  #standing = "";
  #isStandingStale = false;
  #isRecordStale = false;
  #calledOff: (() => void) | null = null;

  constructor(id: string, ports: FeedPorts) {
    this.#id = id;
    this.#ports = ports;
    ports.live.watch(id, true);
  }

  /** Adds a reader that knows the record up to a seq. */
  join(after: number, signal: AbortSignal): Response {
    const stream = new EventStream({
      signal,
      more: () => this.#oneByOne.run(() => this.#catchUp(watcher)),
      ended: () => this.#leave(watcher),
    });
    const watcher: Watcher = { stream, seq: after };
    const { response } = stream;
    this.#watchers.add(watcher);
    return response;
  }

  /** The record has changed, here or elsewhere; all readers are told within a moment. */
  recordChanged(): void {
    this.#isRecordStale = true;
    this.#soon();
  }

  /** Who works on it, its state or what waits may have changed. */
  standingChanged(): void {
    this.#isStandingStale = true;
    this.#soon();
  }

  /** A live run has changed. */
  liveChanged(): void {
    this.#soon();
  }

  /** Tells something at once. */
  tell(event: StreamEvent): void {
    this.sendAll(encodeEvent(event));
  }

  /** Sends bytes to all readers that are up to date. */
  sendAll(bytes: Uint8Array): void {
    for (const { stream, seq } of this.#watchers) if (seq === null) stream.send(bytes);
  }

  close(): void {
    for (const { stream } of this.#watchers) stream.close();
  }

  #soon(delayMs = FLUSH_MS): void {
    this.#calledOff ??= this.#ports.clock.timer(delayMs, () => {
      this.#calledOff = null;
      // A record that cannot be read now is read again in a second.
      this.#oneByOne.run(() => this.#flush()).catch(() => this.#soon(RETRY_MS));
    });
  }

  /** Rows come before the live text, so that what a turn said is never gone for a moment. What could not be told stays stale. */
  async #flush(): Promise<void> {
    while (this.#isRecordStale) {
      this.#isRecordStale = false;
      await this.#tellRecord().catch((thrown) => {
        this.#isRecordStale = true;
        throw thrown;
      });
    }
    this.#tellLive();
    if (!this.#isStandingStale) return;
    const standing = await this.#ports.standing(this.#id);
    this.#isStandingStale = false;
    const text = JSON.stringify(standing);
    if (!standing || text === this.#standing) return;
    this.#standing = text;
    this.tell({ kind: "session", ...standing });
  }

  async #tellRecord(): Promise<void> {
    if (![...this.#watchers].some(({ seq }) => seq === null)) {
      this.#seq = await this.#ports.record.readLastSeq(this.#id);
      return;
    }
    for (;;) {
      const changes = await this.#readLog(this.#seq);
      const last = changes.at(-1);
      if (!last) return;
      const bytes = await this.#encode(changes, last.seq);
      this.#seq = last.seq;
      this.sendAll(bytes);
      if (changes.length < PAGE) return;
    }
  }

  #tellLive(): void {
    const runs = this.#ports.live.untold(this.#id);
    if (runs) this.tell({ kind: "live", runs });
  }

  #readLog(after: number): Promise<MessageChange[]> {
    return this.#ports.record.readLog({ sessionId: this.#id, after, limit: PAGE });
  }

  /** Sends the next page of what a reader missed; once it has caught up it gets what all get. */
  async #catchUp(watcher: Watcher): Promise<void> {
    const { stream } = watcher;
    if (watcher.seq === null) return;
    // The others are told first: from here on nothing is told until this reader is one of them, or has a page to read.
    if (![...this.#watchers].some(({ seq }) => seq === null)) this.#isRecordStale = true;
    await this.#flush();
    const missed =
      watcher.seq < this.#seq ? (await this.#readLog(watcher.seq)).filter(({ seq }) => seq <= this.#seq) : [];
    const last = missed.at(-1);
    if (last) stream.send(await this.#encode(missed, last.seq));
    if (last && last.seq < this.#seq) {
      watcher.seq = last.seq;
      return;
    }
    const standing = await this.#ports.standing(this.#id);
    // The snapshot holds what others have yet to be told.
    this.#tellLive();
    watcher.seq = null;
    if (standing) stream.send(encodeEvent({ kind: "session", ...standing }));
    stream.send(encodeEvent({ kind: "snapshot", live: this.#ports.live.snapshot(this.#id) }));
    // What was written since then may have found no reader.
    this.recordChanged();
  }

  async #encode(changes: readonly MessageChange[], seq: number): Promise<Uint8Array> {
    // A row that opened and closed since the last time is told once, as it is now.
    const rows = new Map(changes.map(({ row }) => [row.id, row]));
    const runs: RunView[] = [];
    const steps: StepView[] = [];
    for (const row of rows.values()) {
      if (isRunRow(row)) runs.push(runView(row, await findParentRun(row, this.#ports.record)));
      else steps.push(stepView(row));
    }
    return encodeEvent({ kind: "changed", seq, runs, steps }, seq);
  }

  #leave(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    this.#calledOff?.();
    this.#calledOff = null;
    this.#ports.live.watch(this.#id, false);
    this.#ports.ended();
  }
}
