import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { Deadline } from "../budget/deadline.ts";
import type { Ledger } from "../budget/ledger.ts";
import type { RunSlot } from "../budget/slots.ts";
import type { WaitingOn } from "../schema/event.ts";
import type { BailoutReason, ChangeKind, SuiteTests } from "../schema/result.ts";
import { combineChanges } from "../schema/subtree.ts";
import type { FlowStep } from "./flow.ts";
import { sizeOf } from "./history.ts";
import type { CallableModel } from "./model/callable-model.ts";
import type { Interruption, Resumption, RunSpec } from "./run-spec.ts";
import type { Repetition } from "./turns/repetition.ts";

/** Nothing of a conversation has been measured. */
export const UNMEASURED = Object.freeze({ tokens: 0, bytes: 0 });

/** One execution of an agent: its fixed part and what changes while it runs. */
export class Run {
  readonly spec: RunSpec;
  readonly account: Ledger;
  readonly slot: RunSlot;
  readonly parent: Run | null;
  /** Ids of this run and its ancestors. */
  readonly line: readonly string[];
  readonly controller = new AbortController();
  /** The model of the next call: the agent's, or the fallback that took over for the rest of the run. */
  model: CallableModel;
  readonly fallbacks: CallableModel[];
  readonly history: LanguageModelV4Message[] = [];
  /** Where in the history its own task stands; what comes before it is another run's conversation. */
  begunAt = 1;
  contextChars = 0;
  contextBytes = 0;
  turn = 0;
  toolCalls = 0;
  /** It wanted more tool calls than it may make. */
  overToolCalls = false;
  readonly toolCounts = new Map<string, number>();
  /** Tools that really ran. */
  readonly toolsUsed = new Set<string>();
  tainted: boolean;
  /** Data that is not public has entered it, so that what it writes may tell of them. */
  privateData: boolean;
  tokens = 0;
  /** Null once a call of unknown price was made. */
  costUsd: number | null = 0;
  readonly changes = new Map<string, ChangeKind>();
  /** Suites of tests that it ran, by name. */
  readonly tests = new Map<string, SuiteTests>();
  readonly warnings: string[] = [];
  /** How many of the warnings some row tells of. */
  warningsRecorded = 0;
  /** The last turn's calls, and how often they came in a row. */
  readonly repetition: Repetition = { last: "", count: 0 };
  /** Tokens the last call measured, and the bytes of history it covered. */
  measured: { readonly tokens: number; readonly bytes: number } = UNMEASURED;
  /** Set if the run goes on after a crash. */
  resumption: Resumption | null = null;
  /** What a person has said since the last turn's row. */
  readonly steered: string[] = [];
  /** User messages that no row tells of yet; the next turn's row takes them. */
  readonly unrecorded: string[] = [];
  /** The history was replaced since the last turn's row, which must then hold all of it. */
  historyReplaced = false;
  /** Row of the current turn. */
  turnMessageId: number;
  repairsLeft: number;
  /** Files that matched the deliverables before the run began. */
  baseline: ReadonlyMap<string, string> = new Map();
  emptyReplies = 0;
  /** What the model had written of a reply that broke off; empty again with the next reply. */
  brokenOff = "";
  /** What the model has written of an answer that was cut at the output limit and is to go on, part by part. */
  cutAnswer: readonly string[] = [];
  /** Its answer was sent back once because a mandatory delegation was missing. */
  sentBack = false;
  /** Set once the run has begun its last report. */
  wrapUpReason: BailoutReason | null = null;
  compactedForOverflow = false;
  /** The step that its flow is in; null in a free turn. */
  step: FlowStep | null = null;
  /** Every call below this run had a known price. */
  subtreePriced = true;
  /** Ids of all calls so far. */
  readonly callIds = new Set<string>();
  /** What it waits for, and how often at once. */
  readonly waits = new Map<WaitingOn, number>();
  /** The end of its own time, which stands still while it waits for children or a person. */
  readonly deadline: Deadline;
  interruption: Interruption | null = null;
  /** Messages from a person for the next turn. */
  readonly steering: string[] = [];
  /** Set while the run is paused; resolves when it may go on. */
  paused: { promise: Promise<void>; resume: () => void } | null = null;

  constructor(
    spec: RunSpec,
    parts: { account: Ledger; slot: RunSlot; tainted: boolean; privateData: boolean; parent: Run | null },
  ) {
    this.spec = spec;
    this.model = spec.model;
    this.fallbacks = [...(spec.model.fallbacks ?? [])];
    this.parent = parts.parent;
    this.line = [...(parts.parent?.line ?? []), spec.runId];
    this.deadline = new Deadline(spec.deadlineMs);
    this.account = parts.account;
    this.slot = parts.slot;
    this.tainted = parts.tainted;
    this.privateData = parts.privateData;
    this.turnMessageId = spec.messageId;
    this.repairsLeft = spec.limits.repairs;
    this.push({ role: "system", content: spec.system });
    this.push({ role: "user", content: [{ type: "text", text: spec.task }] });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  push(message: LanguageModelV4Message): void {
    this.history.push(message);
    const { chars, bytes } = sizeOf(message);
    this.contextChars += chars;
    this.contextBytes += bytes;
  }

  get waitingOn(): WaitingOn | null {
    return [...this.waits.keys()].at(-1) ?? null;
  }

  /** Milliseconds the run has worked, without the time it waited for children or a person. */
  elapsedMs(nowMs: number): number {
    return Math.max(0, Math.round(nowMs - this.spec.startedMs - (this.deadline.atMs - this.spec.deadlineMs)));
  }

  /** Adds what the host or a person says. */
  pushUser(text: string): void {
    this.unrecorded.push(text);
    this.push({ role: "user", content: [{ type: "text", text }] });
  }

  /** Puts another history in place of this one; rights, taint and counters stay as they are. */
  replaceHistory(messages: readonly LanguageModelV4Message[]): void {
    const task = JSON.stringify(this.history[this.begunAt]);
    this.begunAt = Math.max(
      1,
      messages.findLastIndex((message) => JSON.stringify(message) === task),
    );
    this.historyReplaced = true;
    this.unrecorded.length = 0;
    this.history.length = 0;
    this.contextChars = 0;
    this.contextBytes = 0;
    this.measured = UNMEASURED;
    for (const message of messages) this.push(message);
  }

  /** Remembers a file that the run made, changed or deleted. */
  noteChange(path: string, kind: ChangeKind): void {
    const net = combineChanges(this.changes.get(path), kind);
    if (net) this.changes.set(path, net);
    else this.changes.delete(path);
  }

  /** Remembers a run of a suite of tests; the last one counts. */
  noteTests(tests: Omit<SuiteTests, "runs">): void {
    const runs = (this.tests.get(tests.suite)?.runs ?? 0) + 1;
    this.tests.set(tests.suite, { ...tests, runs });
  }

  /** Holds the run at its next turn until `paused.resume` is called. */
  pause(): void {
    if (this.paused || this.interruption) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const resume = () => {
      this.paused = null;
      resolve();
    };
    this.paused = { promise, resume };
  }

  /** Ends the run from outside; the first reason stays. */
  interrupt(interruption: Interruption): void {
    if (this.interruption) return;
    this.interruption = interruption;
    this.paused?.resume();
    this.controller.abort(new Error(interruption.message));
  }
}
