import type { LiveChange, LiveText } from "@retinue/core/schema/api/stream";
import type { RetinueEvent } from "@retinue/core/schema/event";

/** What a run had spent before this process took it up. */
export type SpentBefore = (
  sessionId: string,
  runId: string,
) => Promise<{ tokens: number; costUsd: number | null }>;

const MOST_CHARS = 100_000;
const MOST_PROGRESS_CHARS = 500;

/** The present state of one run, and what has not been told of it yet. */
type Entry = {
  run: { -readonly [Field in keyof LiveText]: LiveText[Field] };
  calls: Map<string, { callId: string; tool: string; progress: string | null }>;
  untold: LiveChange | null;
};
type Sessions = Map<string, { runs: Map<string, Entry>; isWatched: boolean }>;
type RunEvent = Extract<RetinueEvent, { runId: string }>;

/**
 * The state of this process's live runs between two rows of the record, kept whether or not a page watches, so that
 * one that opens later sees the text so far. Changes are collected only for sessions that are watched.
 */
export class LiveRuns {
  readonly #sessions: Sessions = new Map();
  readonly #spentBefore: SpentBefore;

  constructor(spentBefore: SpentBefore) {
    this.#spentBefore = spentBefore;
  }

  /** Takes an event; says whether there is something to tell of it. */
  take(event: RetinueEvent): boolean {
    if (event.type === "session.ended") {
      this.#sessions.get(event.sessionId)?.runs.clear();
      this.#forget(event.sessionId);
      return false;
    }
    if (!("runId" in event) || event.runId === undefined || event.type === "notice.raised") return false;
    if (event.type === "run.ended") {
      this.#sessions.get(event.sessionId)?.runs.delete(event.runId);
      return false;
    }
    const entry = this.#entryFor(event);
    if (!entry) return false;
    const changed = changeBy(entry, event);
    if (!changed) return false;
    const isWatched = this.#sessions.get(event.sessionId)?.isWatched === true;
    if (isWatched) entry.untold = merged(entry.untold, changed);
    return isWatched;
  }

  /** Begins to collect changes of a session, or stops. */
  watch(sessionId: string, isWatched: boolean): void {
    const session = this.#session(sessionId);
    session.isWatched = isWatched;
    if (!isWatched) for (const entry of session.runs.values()) entry.untold = null;
    this.#forget(sessionId);
  }

  /** The present state of all live runs of a session. */
  snapshot(sessionId: string): Record<string, LiveText> {
    const { runs } = this.#sessions.get(sessionId) ?? { runs: new Map<string, Entry>() };
    return Object.fromEntries([...runs].map(([runId, entry]) => [runId, entry.run]));
  }

  /** What changed since the last time; null if nothing did. */
  untold(sessionId: string): Record<string, LiveChange> | null {
    const changes: Record<string, LiveChange> = {};
    let isEmpty = true;
    for (const [runId, entry] of this.#sessions.get(sessionId)?.runs ?? []) {
      if (!entry.untold) continue;
      changes[runId] = entry.untold;
      entry.untold = null;
      isEmpty = false;
    }
    return isEmpty ? null : changes;
  }

  #entryFor(event: RunEvent): Entry | undefined {
    const { sessionId, runId } = event;
    const known = this.#sessions.get(sessionId)?.runs.get(runId);
    if (event.type === "run.started") {
      // The start of a resumed run has no seq: its row was there already.
      const isPaused = known?.run.isPaused ?? false;
      const entry = this.#begin(sessionId, runId, { tokens: 0, costUsd: 0, isPaused });
      if (event.seq === undefined) void this.#addSpent(entry, sessionId, runId);
      return entry;
    }
    if (known) return known;
    // A run that begins in a paused tree may be told so before its row is on disk. All else comes after the start.
    if (event.type !== "run.paused") return undefined;
    return this.#begin(sessionId, runId, { tokens: 0, costUsd: 0, isPaused: false });
  }

  #begin(sessionId: string, runId: string, known: Pick<LiveText, "tokens" | "costUsd" | "isPaused">): Entry {
    const run = { text: "", reasoning: "", turn: 0, waitingOn: null, calls: [], ...known };
    const entry: Entry = { run, calls: new Map(), untold: null };
    this.#session(sessionId).runs.set(runId, entry);
    return entry;
  }

  async #addSpent(entry: Entry, sessionId: string, runId: string): Promise<void> {
    const spent = await this.#spentBefore(sessionId, runId);
    const { tokens, costUsd } = entry.run;
    const changed = put(entry.run, {
      tokens: tokens + spent.tokens,
      costUsd: costUsd === null || spent.costUsd === null ? null : costUsd + spent.costUsd,
    });
    if (this.#sessions.get(sessionId)?.isWatched) entry.untold = merged(entry.untold, changed);
  }

  #session(sessionId: string) {
    const session = this.#sessions.get(sessionId) ?? { runs: new Map<string, Entry>(), isWatched: false };
    this.#sessions.set(sessionId, session);
    return session;
  }

  #forget(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session && !session.isWatched && session.runs.size === 0) this.#sessions.delete(sessionId);
  }
}

/** Changes the run as the event says; null if it says nothing that is shown. */
function changeBy({ run, calls }: Entry, event: RunEvent): LiveChange | null {
  switch (event.type) {
    case "run.started":
      return { cleared: true, ...run, text: "", reasoning: "" };
    case "text.streamed":
      return more(run, "text", event);
    case "reasoning.streamed":
      return more(run, "reasoning", event);
    case "turn.started":
      return enterTurn(run, event.turn);
    case "turn.ended": {
      const { usage, costUsd } = event;
      const tokens = run.tokens + (usage ? usage.inputTokens + usage.outputTokens : 0);
      // Of a call that failed before it was counted nothing is known to have been spent.
      const isUnknown = run.costUsd === null || (usage !== null && costUsd === null);
      return cleared(run, { tokens, costUsd: isUnknown ? null : (run.costUsd ?? 0) + (costUsd ?? 0) });
    }
    case "run.waiting":
      return put(run, { waitingOn: event.on });
    case "run.paused":
      return put(run, { isPaused: event.isPaused });
    case "call.started":
      calls.set(event.callId, { callId: event.callId, tool: event.tool, progress: null });
      return put(run, { calls: [...calls.values()] });
    case "call.progressed": {
      if (!calls.has(event.callId)) return null;
      const progress = event.message.slice(0, MOST_PROGRESS_CHARS);
      calls.set(event.callId, { callId: event.callId, tool: event.tool, progress });
      return put(run, { calls: [...calls.values()] });
    }
    case "call.ended":
      calls.delete(event.callId);
      return put(run, { calls: [...calls.values()] });
    default:
      return null;
  }
}

function put(run: Entry["run"], change: Partial<Omit<LiveText, "text" | "reasoning">>): LiveChange {
  Object.assign(run, change);
  return change;
}

/** What was said is in the record now. */
function cleared(run: Entry["run"], change: Partial<Omit<LiveText, "text" | "reasoning">>): LiveChange {
  Object.assign(run, change, { text: "", reasoning: "" });
  return { cleared: true, ...change };
}

/** A fast model may speak before the start of its turn is on disk and told; what it said stays. */
function enterTurn(run: Entry["run"], turn: number): LiveChange | null {
  return run.turn === turn ? null : cleared(run, { turn });
}

/** The rest of a very long text is in the record when its turn ends. */
function more(
  run: Entry["run"],
  field: "text" | "reasoning",
  said: { turn: number; text: string },
): LiveChange | null {
  const begun = enterTurn(run, said.turn);
  const room = MOST_CHARS - run.text.length - run.reasoning.length;
  const text = said.text.length <= room ? said.text : said.text.slice(0, Math.max(0, room));
  if (text === "") return begun;
  run[field] += text;
  return { ...begun, [field]: text };
}

/** Puts a later change onto an earlier one: what was said before something was cleared is not told any more. */
function merged(earlier: LiveChange | null, later: LiveChange): LiveChange {
  if (!earlier) return later;
  const said = later.cleared ? {} : { text: earlier.text, reasoning: earlier.reasoning };
  if (later.cleared) {
    delete earlier.text;
    delete earlier.reasoning;
  }
  Object.assign(earlier, later);
  if (later.text !== undefined) earlier.text = (said.text ?? "") + later.text;
  if (later.reasoning !== undefined) earlier.reasoning = (said.reasoning ?? "") + later.reasoning;
  return earlier;
}
