import { type Clock, systemClock } from "@retinue/core/budget/clock";
import { repeat } from "@retinue/core/budget/repeat";
import type { Record, RecordVersion } from "@retinue/core/record/record";
import { tokensOf } from "@retinue/core/run/read-row";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { RetinueEvent } from "@retinue/core/schema/event";
import { NotFound } from "../http/http-errors.ts";
import { readStanding } from "../views/session-card.ts";
import { HEARTBEAT } from "./event-stream.ts";
import { LiveRuns, type SpentBefore } from "./live-runs.ts";
import { NewsFeed } from "./news-feed.ts";
import { SessionFeed } from "./session-feed.ts";

/** What feeds are made of. */
type FeedsOptions = {
  readonly runtime: Runtime;
  /** The project's folder as the record names it: sessions of others are not shown. */
  readonly project: string;
  readonly version: string;
  readonly startedAtMs: number;
  readonly clock?: Clock;
};

const LOOK_MS = 500;
/** Whether a process is still alive is asked less often than whether it has written something. */
const LOOKS_PER_STANDING = 4;
const HEARTBEAT_MS = 15_000;
/** These events change the state of a session. */
const STANDING: ReadonlySet<RetinueEvent["type"]> = new Set([
  "session.started",
  "session.parked",
  "session.ended",
  "run.ended",
  "approval.requested",
  "approval.settled",
]);

/**
 * The live streams that browsers follow. They take the events of this runtime at all times, and look at what other processes
 * write only while a page watches.
 */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #clock: Clock;
  readonly #open = new Map<string, SessionFeed>();
  readonly #live: LiveRuns;
  readonly #news: NewsFeed;
  readonly #looking;
  readonly #beating;
  readonly #unsubscribe: () => void;
  /** How far the changes of other processes have been told. */
  #told: Promise<RecordVersion>;
  #looks = 0;
  #isLooking = false;

  constructor(options: FeedsOptions) {
    const { runtime, project, version, startedAtMs, clock = systemClock } = options;
    const { record } = runtime;
    this.#options = options;
    this.#clock = clock;
    this.#live = new LiveRuns(spentBefore(record));
    this.#looking = repeat(clock, LOOK_MS, () => void this.#look());
    this.#beating = repeat(clock, HEARTBEAT_MS, () => this.#beat());
    this.#news = new NewsFeed({
      clock,
      hello: async () => ({
        kind: "hello",
        startedAtMs,
        version,
        asks: (await record.countWaiting({ project })).count,
      }),
      asks: () => record.countWaiting({ project }),
      watched: () => this.#rest(),
    });
    this.#told = record.readVersion();
    // A record that cannot be read now is read at the next look.
    this.#told.catch(() => {});
    this.#unsubscribe = runtime.events((event) => this.#take(event));
  }

  /** The stream of one session after a seq, as server-sent events. Rejects for one that is not of this project. */
  async session(sessionId: string, after: number, signal: AbortSignal): Promise<Response> {
    const { runtime, project } = this.#options;
    if ((await runtime.record.readSession(sessionId))?.project !== project)
      throw new NotFound(`there is no session '${sessionId}' in this project`);
    const feed = this.#open.get(sessionId) ?? this.#begin(sessionId);
    return feed.join(after, signal);
  }

  /** The stream of everything, as server-sent events. */
  news(signal: AbortSignal): Promise<Response> {
    return this.#news.join(signal);
  }

  /** Calls of a session wait for a person, or no longer do. */
  asksChanged(sessionId: string): void {
    this.#open.get(sessionId)?.standingChanged();
    this.#news.sessionChanged(sessionId);
    this.#news.asksChanged();
  }

  /** Agents were saved, or have changed on disk. */
  agentsChanged(): void {
    this.#news.agentsChanged();
  }

  close(): void {
    this.#unsubscribe();
    for (const feed of [...this.#open.values()]) feed.close();
    this.#news.close();
    this.#rest();
  }

  #take(event: RetinueEvent): void {
    const isLiveChanged = this.#live.take(event);
    const feed = this.#open.get(event.sessionId);
    const isStanding = STANDING.has(event.type);
    if (isLiveChanged) feed?.liveChanged();
    if (event.seq !== undefined) feed?.recordChanged();
    if (isStanding) feed?.standingChanged();
    if (event.type === "notice.raised" || event.type === "compliance.failed") this.#notify(event);
    if (isStanding || event.type === "run.started") this.#news.sessionChanged(event.sessionId);
    if (isStanding) this.#news.asksChanged();
  }

  /** What concerns no session in particular goes to the readers of all. */
  #notify(event: Extract<RetinueEvent, { type: "notice.raised" | "compliance.failed" }>): void {
    const level = event.type === "notice.raised" ? event.level : "error";
    const told = { kind: "notice", level, message: event.message, runId: event.runId ?? null } as const;
    const concerned = event.sessionId === "" ? this.#open.values() : [this.#open.get(event.sessionId)];
    for (const feed of concerned) feed?.tell(told);
  }

  /** Finds out what other processes have written, and whether they are still alive. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const isDue = this.#looks++ % LOOKS_PER_STANDING === 0;
      const latest = await this.#options.runtime.record.readVersion();
      const before = await this.#told.catch(() => ({ changed: 0, others: Number.NaN }));
      const isWritten = latest.others !== before.others;
      for (const feed of this.#open.values()) {
        if (isWritten) feed.recordChanged();
        if (isWritten || isDue) feed.standingChanged();
      }
      // Without a reader it stays to be told.
      const isTelling = isWritten && this.#news.isWatched;
      if (isTelling) await this.#tellOthersWork(before.changed);
      this.#told = Promise.resolve(isTelling ? latest : { ...latest, changed: before.changed });
    } catch {
      // The record may be busy for a moment.
    } finally {
      this.#isLooking = false;
    }
  }

  /** Which session was written is not known: any that is new, has changed or is at work. */
  async #tellOthersWork(afterChange: number): Promise<void> {
    const { runtime, project } = this.#options;
    for (const query of [{ afterChange }, { status: "running" as const }]) {
      const { sessions } = await runtime.record.listSessions({ ...query, project, limit: -1 });
      for (const { session_id: id } of sessions) this.#news.sessionChanged(id);
    }
    this.#news.asksChanged();
  }

  #beat(): void {
    for (const feed of this.#open.values()) feed.sendAll(HEARTBEAT);
    this.#news.sendAll(HEARTBEAT);
  }

  #begin(sessionId: string): SessionFeed {
    const { runtime } = this.#options;
    const { record } = runtime;
    const feed = new SessionFeed(sessionId, {
      clock: this.#clock,
      live: this.#live,
      record,
      async standing(id) {
        const row = await record.readSession(id);
        return row ? await readStanding({ runtime }, row) : null;
      },
      ended: () => {
        this.#open.delete(sessionId);
        this.#rest();
      },
    });
    this.#open.set(sessionId, feed);
    this.#rest();
    return feed;
  }

  /** Looks and heartbeats stop while no page watches. */
  #rest(): void {
    const isWatched = this.#open.size > 0 || this.#news.isWatched;
    this.#looking.set(isWatched);
    this.#beating.set(isWatched);
  }
}

/** What the ended model calls of a run took before this process went on with it; nothing if that cannot be read. */
function spentBefore(record: Pick<Record, "readRows">): SpentBefore {
  return async (sessionId, runId) => {
    try {
      const turns = (await record.readRows({ sessionId: sessionId, runIds: [runId], kind: "steps" })).filter(
        (row) => row.request_type === "continuation" && row.closed_seq !== null,
      );
      const isKnown = turns.every((row) => row.cost_usd !== null);
      return {
        tokens: turns.reduce((sum, row) => sum + tokensOf(row), 0),
        costUsd: isKnown ? turns.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0) : null,
      };
    } catch {
      return { tokens: 0, costUsd: null };
    }
  };
}
