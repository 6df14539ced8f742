import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { Account } from "../scheduler/ledger.ts";
import type { RunSlot } from "../scheduler/slots.ts";
import type { Agent, Deliverable } from "../schema/agent.ts";
import type { WaitingOn } from "../schema/event.ts";
import type { BailoutReason } from "../schema/result.ts";
import type { Layer } from "../schema/rights.ts";
import type { Price } from "../schema/settings.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { CallResult } from "./calls/dispatch.ts";
import type { Reply, ToolCall } from "./model/read-stream.ts";

/** Streams a reply to a callback, which spares a web stream per call. It stops when its signal fires. */
export type StreamToCallback = (
  options: LanguageModelV4CallOptions,
  onPart: (part: LanguageModelV4StreamPart) => void,
) => Promise<void>;

/** A model that a run can call, with what the ledger and the limiter need to know of it. */
export type CallableModel = {
  /** `provider/model-id`. */
  readonly id: string;
  readonly provider: string;
  readonly model: LanguageModelV4;
  /** Used instead of `model.doStream` where the provider has it. */
  readonly stream?: StreamToCallback;
  /** USD per million tokens; null if unknown. */
  readonly price: Price | null;
  readonly maxOutputTokens?: number;
  /** It uses no tokens at all, so that none are estimated for it. */
  readonly unmetered?: boolean;
  /** Called one after the other for a run whose model stays unavailable. */
  readonly fallbacks?: readonly CallableModel[];
};

/** The bounds of one run, all filled in. */
export type RunLimits = {
  readonly turns: number;
  readonly toolCalls: number;
  readonly perTool: Readonly<Record<string, number>>;
  readonly contextChars: number;
  readonly timeoutMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  /** How often a run may mend missing deliverables. */
  readonly repairs: number;
};

/** Everything about a run that is fixed when it starts. */
export type RunSpec = {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  /** The parent's tool call that made this run. */
  readonly callId: string | null;
  readonly attempt: number;
  /** Its task's id in the parent's batch. */
  readonly taskId: string | null;
  readonly depth: number;
  readonly agent: Agent;
  /** Names of the ancestors, root first. */
  readonly ancestors: readonly string[];
  readonly system: string;
  readonly task: string;
  readonly model: CallableModel;
  readonly chain: readonly Layer[];
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly limits: RunLimits;
  readonly deliverables: readonly Deliverable[];
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** This run's row in the record. */
  readonly messageId: number;
  readonly startedAtMs: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** Monotonic; the tighter of its own and its parent's. */
  readonly deadlineMs: number;
  /** How deep delegation may go below the root, the tightest limit of the line. */
  readonly maxDepth: number;
};

/** Why a run must end from outside. */
export type Interruption = { status: "cancelled" | "timeout"; bailout: BailoutReason; message: string };

/** Where a run stood when its process ended. */
export type Resumption =
  /** The model had asked for calls; some may have been answered. */
  | { kind: "calls"; calls: readonly ToolCall[]; answered: ReadonlyMap<string, CallResult> }
  /** The model had given its answer. */
  | { kind: "answer"; reply: Reply }
  /** The run had begun its last report. */
  | { kind: "wrap_up"; reason: BailoutReason; text: string | null }
  /** The next turn was due. */
  | { kind: "turn" };

/** One execution of an agent: its fixed part and what changes while it runs. */
export class Run {
  readonly spec: RunSpec;
  readonly account: Account;
  readonly slot: RunSlot;
  readonly parent: Run | null;
  /** Ids of this run and its ancestors. */
  readonly line: readonly string[];
  readonly controller = new AbortController();
  /** The model of the next call: the agent's, or the fallback that took over for the rest of the run. */
  model: CallableModel;
  readonly fallbacks: CallableModel[];
  readonly history: LanguageModelV4Message[] = [];
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
  tokens = 0;
  /** Null once a call of unknown price was made. */
  costUsd: number | null = 0;
  readonly changes = new Map<string, "created" | "modified">();
  testsRun = 0;
  testsPassed = 0;
  readonly warnings: string[] = [];
  /** Tokens the last call measured, and the bytes of history it covered. */
  measured = { tokens: 0, bytes: 0 };
  /** Set if the run goes on after a crash. */
  resumption: Resumption | null = null;
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
  /** Set once the run has begun its last report. */
  wrapUpReason: BailoutReason | null = null;
  compactedForOverflow = false;
  /** Every call below this run had a known price. */
  subtreePriced = true;
  /** Ids of all calls so far. */
  readonly callIds = new Set<string>();
  /** What it waits for, and how often at once. */
  readonly waits = new Map<WaitingOn, number>();
  /** Waits for a person, here or below, while no time counts. */
  personWaits = 0;
  /** Monotonic; moves by the time spent on waiting for a person. */
  deadlineMs: number;
  interruption: Interruption | null = null;
  /** Messages from a person for the next turn. */
  readonly steering: string[] = [];
  /** Set while the run is paused; resolves when it may go on. */
  paused: { promise: Promise<void>; resume: () => void } | null = null;

  constructor(
    spec: RunSpec,
    parts: { account: Account; slot: RunSlot; tainted: boolean; parent: Run | null },
  ) {
    this.spec = spec;
    this.model = spec.model;
    this.fallbacks = [...(spec.model.fallbacks ?? [])];
    this.parent = parts.parent;
    this.line = [...(parts.parent?.line ?? []), spec.runId];
    this.deadlineMs = spec.deadlineMs;
    this.account = parts.account;
    this.slot = parts.slot;
    this.tainted = parts.tainted;
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

  /** Milliseconds the run has worked, without the time it waited for a person. */
  elapsedMs(nowMs: number): number {
    return Math.max(0, Math.round(nowMs - this.spec.startedMs - (this.deadlineMs - this.spec.deadlineMs)));
  }

  /** Begins (+1) or ends (-1) a wait for a person, which stops the clock of this run and of all above it. */
  waitForPerson(change: 1 | -1, waitedMs: number): void {
    this.personWaits += change;
    this.deadlineMs += waitedMs;
    this.parent?.waitForPerson(change, waitedMs);
  }

  /** Adds what the host or a person says. */
  pushUser(text: string): void {
    this.unrecorded.push(text);
    this.push({ role: "user", content: [{ type: "text", text }] });
  }

  /** Puts another history in place of this one; rights, taint and counters stay as they are. */
  replaceHistory(messages: readonly LanguageModelV4Message[]): void {
    this.historyReplaced = true;
    this.unrecorded.length = 0;
    this.history.length = 0;
    this.contextChars = 0;
    this.contextBytes = 0;
    this.measured = { tokens: 0, bytes: 0 };
    for (const message of messages) this.push(message);
  }

  /** Remembers a file that the run made or changed; what it made itself stays made. */
  noteChange(path: string, kind: "created" | "modified"): void {
    if (kind === "created" || !this.changes.has(path)) this.changes.set(path, kind);
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

/** Characters of a message, which count against the context limit, and its bytes, which tell more of its tokens. */
export function sizeOf(message: LanguageModelV4Message): { chars: number; bytes: number } {
  const size = { chars: 0, bytes: 0 };
  const add = (text: string) => {
    size.chars += text.length;
    size.bytes += Buffer.byteLength(text);
  };
  if (typeof message.content === "string") add(message.content);
  else for (const part of message.content) for (const text of textsOf(part)) add(text);
  return size;
}

function textsOf(part: Exclude<LanguageModelV4Message["content"], string>[number]): string[] {
  if (part.type === "text" || part.type === "reasoning") return [part.text];
  if (part.type === "tool-call") return [part.toolName, JSON.stringify(part.input ?? null)];
  if (part.type !== "tool-result" || !("value" in part.output)) return [];
  const { value } = part.output;
  return [typeof value === "string" ? value : (JSON.stringify(value) ?? "")];
}
