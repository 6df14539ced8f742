import type { RetinueEvent, WaitingOn } from "@retinue/core/schema/event";
import type { Phase } from "@retinue/core/schema/intent";
import type { RunResult } from "@retinue/core/schema/result";
import { cutToLine } from "@retinue/core/text/plain-text";

/** How a run stands, as a person sees it: waiting is told from running, and cut short from completed. */
export type NodeStatus =
  | "pending"
  | "running"
  | "waiting"
  | "completed"
  | "partial"
  | "failed"
  | "timeout"
  | "cancelled";

/** A tool call under way: its name, its input in short, and what it last said of itself. */
type CurrentTool = { readonly name: string; readonly input: string; readonly progress: string };

/** One run of the tree. All texts are plain, on one line, and short. */
export type RunNode = {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  readonly messageId: number | null;
  readonly agent: string;
  readonly displayName: string;
  readonly icon: string | null;
  readonly model: string;
  readonly task: string;
  readonly depth: number;
  /** Retries that came before. */
  readonly attempt: number;
  readonly status: NodeStatus;
  readonly waitingOn: WaitingOn | null;
  readonly phase: Phase | null;
  /** What the model does while no tool is called. */
  readonly activity: "thinking" | "writing" | null;
  readonly currentTool: CurrentTool | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** Of this run and all below it. */
  readonly tokens: number;
  /** Of this run and all below it; null if a price is unknown. */
  readonly costUsd: number | null;
  /** Of this run alone; a delegation is a run, not a call. */
  readonly toolCalls: number;
  readonly turns: number;
  readonly error: string | null;
  /** The runs below that are still held; `below` counts those that were let go too. */
  readonly children: readonly RunNode[];
  readonly below: RunCounts;
};

/** How many runs there are, and how they stand. */
type RunCounts = {
  readonly runs: number;
  /** Not ended. */
  readonly live: number;
  /** Failed, timed out or cancelled. */
  readonly failed: number;
};

/** Whether a run has not ended. */
export function isLive({ status }: Pick<RunNode, "status">): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

/** Whether a run ended without success. */
export function isFailed({ status }: Pick<RunNode, "status">): boolean {
  return status === "failed" || status === "timeout" || status === "cancelled";
}

const MAX_NAME = 60;
const MAX_TASK = 300;
const MAX_ERROR = 300;
/** More calls at once than a person could follow. */
const MAX_OPEN_CALLS = 64;

type Of<Type extends RetinueEvent["type"]> = Extract<RetinueEvent, { type: Type }>;

/** What a node passes on to those above it. */
export type Sums = {
  runs: number;
  live: number;
  failed: number;
  tokens: number;
  usd: number;
  unpriced: number;
};

/** A node that changes. Its sums are kept by every change, so that drawing need not walk the tree. */
export class LiveNode implements RunNode {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  messageId: number | null = null;
  agent = "";
  displayName = "";
  icon: string | null = null;
  model = "";
  task = "";
  depth = 0;
  attempt = 0;
  status: NodeStatus = "running";
  waitingOn: WaitingOn | null = null;
  phase: Phase | null = null;
  activity: RunNode["activity"] = null;
  startedAtMs = 0;
  endedAtMs: number | null = null;
  toolCalls = 0;
  turns = 0;
  error: string | null = null;
  readonly children: LiveNode[] = [];
  parent: LiveNode | null = null;
  /** Of everything below. */
  readonly below: Sums = { runs: 0, live: 0, failed: 0, tokens: 0, usd: 0, unpriced: 0 };
  readonly #open = new Map<string, CurrentTool>();
  #own = { tokens: 0, usd: 0, unpriced: 0 };

  constructor(event: Of<"run.started">) {
    this.runId = event.runId;
    this.sessionId = event.sessionId;
    this.parentRunId = event.parentRunId;
    this.begin(event);
  }

  get tokens(): number {
    return this.#own.tokens + this.below.tokens;
  }

  get costUsd(): number | null {
    return this.#own.unpriced + this.below.unpriced > 0 ? null : this.#own.usd + this.below.usd;
  }

  get currentTool(): CurrentTool | null {
    return [...this.#open.values()].at(-1) ?? null;
  }

  /** The node itself and all below it. */
  get sums(): Sums {
    const { runs, live, failed, tokens, usd, unpriced } = this.below;
    return {
      runs: runs + 1,
      live: live + (isLive(this) ? 1 : 0),
      failed: failed + (isFailed(this) ? 1 : 0),
      tokens: tokens + this.#own.tokens,
      usd: usd + this.#own.usd,
      unpriced: unpriced + this.#own.unpriced,
    };
  }

  /** Takes what a start says; a run that goes on after a crash starts again in place. */
  begin(event: Of<"run.started">): void {
    this.messageId = event.messageId;
    this.agent = cutToLine(event.agent, MAX_NAME);
    this.displayName = cutToLine(event.displayName || event.agent, MAX_NAME);
    this.icon = event.icon === null ? null : cutToLine(event.icon, 8);
    this.model = cutToLine(event.model, MAX_NAME);
    this.task = cutToLine(event.task.slice(0, 4 * MAX_TASK), MAX_TASK);
    this.depth = event.depth;
    this.attempt = event.attempt;
    this.status = "running";
    this.waitingOn = null;
    this.activity = null;
    this.startedAtMs = event.atMs;
    this.endedAtMs = null;
    this.error = null;
    this.#open.clear();
  }

  wait(on: WaitingOn | null): void {
    this.waitingOn = on;
    this.status = on === null ? "running" : "waiting";
  }

  openCall(callId: string, name: string, input: unknown): void {
    this.toolCalls++;
    this.activity = null;
    if (this.#open.size >= MAX_OPEN_CALLS) return;
    this.#open.set(callId, { name: cutToLine(name, MAX_NAME), input: shortenInput(input), progress: "" });
  }

  progressCall(callId: string, message: string): void {
    const call = this.#open.get(callId);
    if (call)
      this.#open.set(callId, { ...call, progress: cutToLine(message.slice(0, 4 * MAX_NAME), MAX_NAME) });
  }

  closeCall(callId: string): void {
    this.#open.delete(callId);
  }

  spend({ usage, costUsd }: Of<"turn.ended">): void {
    if (!usage) return;
    this.#own.tokens += usage.inputTokens + usage.outputTokens;
    if (costUsd === null) this.#own.unpriced = 1;
    else this.#own.usd += costUsd;
  }

  /** Ends as the host measured it, which replaces what was counted on the way. */
  end(result: RunResult, atMs: number): void {
    const { status, partial, tokens, cost_usd: cost, error } = result;
    this.status = status === "completed" && partial ? "partial" : ENDS.has(status) ? status : "failed";
    this.waitingOn = null;
    this.activity = null;
    this.endedAtMs = atMs;
    this.turns = Math.max(this.turns, result.iteration_count);
    this.error =
      error && !result.success ? cutToLine(error.message.slice(0, 4 * MAX_ERROR), MAX_ERROR) : null;
    this.#open.clear();
    this.#own.tokens = tokens.self;
    this.#own.usd = cost.self ?? 0;
    this.#own.unpriced = cost.self === null ? 1 : 0;
  }
}

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);

const MAX_PARTS = 6;
const MAX_READ = 400;
const MAX_SHOWN = 120;

/** What a call is about, in few words: the plain values of its input, without their names. */
export function shortenInput(input: unknown): string {
  return cutToLine(listParts(input).join(" "), MAX_SHOWN);
}

function listParts(input: unknown): string[] {
  if (typeof input !== "object" || input === null) return [shown(input)];
  return Object.values(input)
    .slice(0, MAX_PARTS)
    .flatMap((value) => (typeof value === "object" ? [] : [shown(value)]));
}

function shown(value: unknown): string {
  return value === undefined || value === null ? "" : String(value).slice(0, MAX_READ);
}
