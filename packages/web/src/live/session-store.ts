import type { RunView, SessionCard, SessionDetail, StepView } from "@retinue/core/schema/api/session";
import type { LiveChange, LiveText, StreamEvent } from "@retinue/core/schema/api/stream";
import { hasFailed } from "@retinue/core/show/standing";
import { ApiFailure, api, walkPages } from "../data/client.ts";
import { Signal } from "./signal.ts";
import { findRetryDelay, followStream, whileVisible } from "./stream.ts";

type Loading = { state: "loading" | "ready" | "reconnecting" } | { state: "failed"; failure: unknown };

/** A message for the person about the session. */
export type Notice = Omit<Extract<StreamEvent, { kind: "notice" }>, "kind"> & { id: number };

type StepPage = { steps: StepView[]; next: number | null };

const NO_IDS: readonly string[] = [];
const NO_STEPS: readonly StepView[] = [];
const MOST_NOTICES = 50;
/** Of a large session these are shown while the rest is still on its way; `begin.js` asks for as many. */
const FIRST_RUNS = 300;

/**
 * One session as the page knows it: loaded once, then kept up to date by its stream. Everything has a signal of its own,
 * so that fifty runs that stream at once redraw fifty cards and nothing else.
 */
export class SessionStore {
  readonly sessionId: string;
  readonly loading = new Signal<Loading>({ state: "loading" });
  readonly session = new Signal<SessionCard | null>(null);
  /** Root runs in the order they began. */
  readonly roots = new Signal<readonly string[]>(NO_IDS);
  readonly totals = new Signal<Totals>(addUpRuns([], () => null));
  readonly notices = new Signal<readonly Notice[]>([]);
  /** Rises with every run that is new or has another status: the shape of the tree. */
  readonly shape = new Signal(0);
  readonly #runs = new Map<string, Signal<RunView>>();
  readonly #children = new Map<string, Signal<readonly string[]>>();
  readonly #live = new Map<string, Signal<LiveText | null>>();
  readonly #steps = new Map<string, Signal<readonly StepView[]>>();
  /** Runs whose calls were asked for; of others only what is live is kept. */
  readonly #followed = new Set<string>();
  /** Of those, the ones whose calls could not be loaded. */
  readonly #owed = new Set<string>();
  #seq = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #unfollow: (() => void) | null = null;
  #isBegun = false;
  #isClosed = false;
  #noticeIds = 0;
  #failures = 0;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Loads the session and follows it from then on; once is enough. */
  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    void this.#load();
  }

  run(runId: string): Signal<RunView> | undefined {
    return this.#runs.get(runId);
  }

  /** Runs that a run has delegated to, in the order they began. */
  children(runId: string): Signal<readonly string[]> {
    return ensured(this.#children, runId, () => new Signal(NO_IDS));
  }

  live(runId: string): Signal<LiveText | null> {
    return ensured(this.#live, runId, () => new Signal<LiveText | null>(null));
  }

  /** Model and tool calls of a run; asking for them loads them. */
  steps(runId: string): Signal<readonly StepView[]> {
    const signal = ensured(this.#steps, runId, () => new Signal(NO_STEPS));
    if (!this.#followed.has(runId)) {
      this.#followed.add(runId);
      void this.#loadSteps(runId);
    }
    return signal;
  }

  /** Every run there is, in no particular order. */
  *walkRuns(): Generator<RunView> {
    for (const signal of this.#runs.values()) yield signal.value;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#unfollow?.();
  }

  /** Asks again after a failure. */
  again(): void {
    clearTimeout(this.#retry);
    this.loading.set({ state: "loading" });
    void this.#load();
  }

  async #load(): Promise<void> {
    try {
      const path = `/api/sessions/${this.sessionId}`;
      const detail = await api.get<SessionDetail>(`${path}?limit=${FIRST_RUNS}`);
      if (this.#isClosed) return;
      this.session.set(detail.session);
      this.#seq = detail.seq;
      this.#takeRuns(detail.runs);
      this.loading.set({ state: "ready" });
      if (detail.next !== null)
        this.#takeRuns((await api.get<SessionDetail>(`${path}?after=${detail.next}`)).runs);
      if (this.#isClosed) return;
      this.#unfollow ??= whileVisible(() => this.#follow());
    } catch (failure) {
      if (this.#isClosed) return;
      this.loading.set({ state: "failed", failure });
      // A server that does not answer may be back in a moment.
      if (failure instanceof ApiFailure && failure.status === 0)
        this.#retry = setTimeout(() => void this.#load(), findRetryDelay(this.#failures++));
    }
  }

  async #loadSteps(runId: string): Promise<void> {
    const steps: StepView[] = [];
    try {
      const path = `/api/sessions/${this.sessionId}/steps`;
      for await (const page of walkPages<StepPage>(path, { run: runId, limit: 500 })) {
        if (this.#isClosed) return;
        steps.push(...page.steps);
      }
      this.#owed.delete(runId);
    } catch {
      // What the stream tells is kept all the same; what came before is asked for again with the next connection.
      this.#owed.add(runId);
    }
    if (!this.#isClosed) this.#takeSteps(steps);
  }

  #follow(): () => void {
    return followStream<StreamEvent>({
      findPath: () => `/api/sessions/${this.sessionId}/events?after=${this.#seq}`,
      onLost: async () => {
        this.loading.set({ state: "reconnecting" });
        return undefined;
      },
      takers: {
        changed: ({ seq, runs, steps }) => {
          this.#seq = Math.max(this.#seq, seq);
          this.#takeRuns(runs);
          this.#takeSteps(steps.filter(({ runId }) => this.#followed.has(runId)));
        },
        snapshot: ({ live }) => {
          this.loading.set({ state: "ready" });
          for (const runId of this.#owed) void this.#loadSteps(runId);
          for (const [runId, signal] of this.#live) signal.set(live[runId] ?? null);
          for (const [runId, run] of Object.entries(live)) this.live(runId).set(run);
          this.#count();
        },
        live: ({ runs }) => {
          let isDearer = false;
          for (const [runId, change] of Object.entries(runs)) {
            const signal = this.live(runId);
            signal.set(changedRun(signal.value, change));
            isDearer ||= change.tokens !== undefined || change.costUsd !== undefined;
          }
          if (isDearer) this.#count();
        },
        session: ({ state, holder, asks }) => {
          const { value } = this.session;
          if (value) this.session.set({ ...value, state, holder, asks });
        },
        notice: ({ level, message, runId }) => {
          const id = this.#noticeIds++;
          this.notices.set([...this.notices.value, { id, level, message, runId }].slice(-MOST_NOTICES));
        },
      },
    });
  }

  #takeRuns(runs: readonly RunView[]): void {
    if (runs.length === 0) return;
    const families = new Map<string, string[]>();
    const roots: string[] = [];
    for (const run of runs) {
      const known = this.#runs.get(run.runId);
      if (known) {
        known.set(run);
        if (run.endedAtMs !== null) this.#live.get(run.runId)?.set(null);
        continue;
      }
      this.#runs.set(run.runId, new Signal(run));
      if (run.parentRunId === null) roots.push(run.runId);
      else ensured(families, run.parentRunId, (): string[] => []).push(run.runId);
    }
    for (const [parent, ids] of families) {
      const signal = this.children(parent);
      signal.set([...signal.value, ...ids]);
    }
    if (roots.length > 0) this.roots.set([...this.roots.value, ...roots]);
    this.shape.set(this.shape.value + 1);
    this.#count();
  }

  #takeSteps(steps: readonly StepView[]): void {
    const byRun = Map.groupBy(steps, ({ runId }) => runId);
    for (const [runId, fresh] of byRun) {
      const signal = ensured(this.#steps, runId, () => new Signal(NO_STEPS));
      const known = new Map(signal.value.map((step) => [step.messageId, step]));
      for (const step of fresh) {
        const before = known.get(step.messageId);
        if (!before || before.closedSeq === null) known.set(step.messageId, step);
      }
      signal.set([...known.values()].sort((one, other) => one.openedSeq - other.openedSeq));
    }
  }

  #count(): void {
    this.totals.set(addUpRuns(this.walkRuns(), (runId) => this.#live.get(runId)?.value ?? null));
  }
}

function ensured<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A run of which nothing has been told yet. */
const STILL: LiveText = {
  text: "",
  reasoning: "",
  turn: 0,
  waitingOn: null,
  calls: [],
  tokens: 0,
  costUsd: 0,
  isPaused: false,
};

/** How a live run stands after a change of it. */
function changedRun(before: LiveText | null, change: LiveChange): LiveText {
  const { cleared, text = "", reasoning = "", ...rest } = change;
  const from = before ?? STILL;
  return {
    ...from,
    ...rest,
    text: (cleared ? "" : from.text) + text,
    reasoning: (cleared ? "" : from.reasoning) + reasoning,
  };
}

/** What a whole tree has used so far. */
export type Totals = { runs: number; live: number; failed: number; tokens: number; costUsd: number | null };

/** Adds up a tree. Of live runs the record has no figures yet; those come with the stream. */
export function addUpRuns(runs: Iterable<RunView>, findLive: (runId: string) => LiveText | null): Totals {
  const totals: Totals = { runs: 0, live: 0, failed: 0, tokens: 0, costUsd: 0 };
  for (const run of runs) {
    const isLive = run.endedAtMs === null;
    const live = isLive ? findLive(run.runId) : null;
    totals.runs++;
    if (isLive) totals.live++;
    if (hasFailed(run)) totals.failed++;
    totals.tokens += live?.tokens ?? run.tokens;
    const cost = isLive ? (live ? live.costUsd : 0) : run.costUsd;
    totals.costUsd = totals.costUsd === null || cost === null ? null : totals.costUsd + cost;
  }
  return totals;
}
