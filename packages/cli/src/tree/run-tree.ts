import type { EventNamed, RetinueEvent, WaitingOn } from "@retinue/core/schema/event";
import type { RunResult } from "@retinue/core/schema/result";
import { cutToLine } from "@retinue/core/text/plain-text";

/** The status of a run as a person sees it: waiting is not running, and partial is not completed. */
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

/** What was spent; `unpriced` counts runs with a model whose price is not known. */
type Spent = { tokens: number; usd: number; unpriced: number };

/** How many runs there are, how many have not ended, and how many failed, timed out or were cancelled; what they spent. */
type Sums = Spent & { runs: number; live: number; failed: number };

const NOTHING: Sums = { runs: 0, live: 0, failed: 0, tokens: 0, usd: 0, unpriced: 0 };

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

/** One run of the tree. All texts are plain, on one line, and short. */
export class RunNode {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  parent: RunNode | null = null;
  /** The runs below that are still held. */
  readonly children: RunNode[] = [];
  /** What the runs below came to that were let go. */
  lost = NOTHING;
  own: Spent = { tokens: 0, usd: 0, unpriced: 0 };
  messageId: number | null = null;
  agent = "";
  displayName = "";
  icon: string | null = null;
  task = "";
  depth = 0;
  /** Retries that came before. */
  attempt = 0;
  status: NodeStatus = "running";
  waitingOn: WaitingOn | null = null;
  phase: string | null = null;
  /** What the model does while no tool is called. */
  activity: "thinking" | "writing" | null = null;
  startedAtMs = 0;
  endedAtMs: number | null = null;
  error: string | null = null;
  /** Calls under way, by their ids; a delegation is a run, not a call. */
  readonly calls = new Map<string, CurrentTool>();

  constructor(event: EventNamed<"run.started">) {
    this.runId = event.runId;
    this.sessionId = event.sessionId;
    this.parentRunId = event.parentRunId;
    this.begin(event);
  }

  /** Everything below, with those that were let go. */
  get below(): Sums {
    return this.children.reduce((sum, child) => add(sum, child.sums), this.lost);
  }

  /** The run itself and all below it. */
  get sums(): Sums {
    const own = { runs: 1, live: isLive(this) ? 1 : 0, failed: isFailed(this) ? 1 : 0, ...this.own };
    return add(own, this.below);
  }

  /** Of this run and all below it. */
  get tokens(): number {
    return this.sums.tokens;
  }

  /** Of this run and all below it; null if a price is unknown. */
  get costUsd(): number | null {
    const { usd, unpriced } = this.sums;
    return unpriced > 0 ? null : usd;
  }

  get currentTool(): CurrentTool | null {
    return [...this.calls.values()].at(-1) ?? null;
  }

  /** The run and all above it, nearest first. */
  get line(): ReadonlySet<RunNode> {
    const found = new Set<RunNode>();
    for (let each: RunNode | null = this; each && !found.has(each); each = each.parent) found.add(each);
    return found;
  }

  /** Takes what a start says; a run that is resumed after a crash starts again in place. */
  begin(event: EventNamed<"run.started">): void {
    this.messageId = event.messageId;
    this.agent = cutToLine(event.agent, MAX_NAME);
    this.displayName = cutToLine(event.displayName || event.agent, MAX_NAME);
    this.icon = event.icon === null ? null : cutToLine(event.icon, 8);
    this.task = cutToLine(event.task.slice(0, 4 * MAX_TASK), MAX_TASK);
    this.depth = event.depth;
    this.attempt = event.attempt;
    this.startedAtMs = event.atMs;
    this.endedAtMs = null;
    this.error = null;
    this.#become("running");
  }

  /** Takes an event of the run; false if nothing to be seen has changed. */
  take(event: RetinueEvent): boolean {
    if (event.type === "run.ended") this.#end(event.result, event.atMs);
    else if (!isLive(this)) return false;
    else if (event.type === "run.waiting") {
      this.waitingOn = event.on;
      this.status = event.on === null ? "running" : "waiting";
    } else if (event.type === "phase.entered") this.phase = event.phase;
    else if (event.type === "turn.started") this.activity = "thinking";
    else if (event.type === "reasoning.streamed") return this.#setActivity("thinking");
    else if (event.type === "text.streamed") return this.#setActivity("writing");
    else if (event.type === "turn.ended") {
      this.activity = null;
      this.#spend(event);
    } else if (event.type === "call.started") {
      this.activity = null;
      const call = { name: cutToLine(event.tool, MAX_NAME), input: shortenInput(event.input), progress: "" };
      if (this.calls.size < MAX_OPEN_CALLS) this.calls.set(event.callId, call);
    } else if (event.type === "call.progressed") {
      const call = this.calls.get(event.callId);
      const progress = cutToLine(event.message.slice(0, 4 * MAX_NAME), MAX_NAME);
      if (call) this.calls.set(event.callId, { ...call, progress });
    } else if (event.type === "call.ended") this.calls.delete(event.callId);
    else return false;
    return true;
  }

  #become(status: NodeStatus): void {
    this.status = status;
    this.waitingOn = null;
    this.activity = null;
    this.calls.clear();
  }

  #setActivity(activity: RunNode["activity"]): boolean {
    if (this.activity === activity) return false;
    this.activity = activity;
    return true;
  }

  #spend({ usage, costUsd }: EventNamed<"turn.ended">): void {
    if (!usage) return;
    const { tokens, usd, unpriced } = this.own;
    this.own = {
      tokens: tokens + usage.inputTokens + usage.outputTokens,
      usd: usd + (costUsd ?? 0),
      unpriced: costUsd === null ? 1 : unpriced,
    };
  }

  /** Ends as the host measured it, which replaces what was counted on the way. */
  #end({ status, partial, tokens, cost_usd: cost, error, success }: RunResult, atMs: number): void {
    this.#become(status === "completed" && partial ? "partial" : ENDS.has(status) ? status : "failed");
    this.endedAtMs = atMs;
    this.error = error && !success ? cutToLine(error.message.slice(0, 4 * MAX_ERROR), MAX_ERROR) : null;
    this.own = { tokens: tokens.self, usd: cost.self ?? 0, unpriced: cost.self === null ? 1 : 0 };
  }
}

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);

function add(one: Sums, other: Sums): Sums {
  return {
    runs: one.runs + other.runs,
    live: one.live + other.live,
    failed: one.failed + other.failed,
    tokens: one.tokens + other.tokens,
    usd: one.usd + other.usd,
    unpriced: one.unpriced + other.unpriced,
  };
}

const MAX_PARTS = 6;
const MAX_READ = 400;
const MAX_SHOWN = 120;

/** What a call is about, in few words: the plain values of its input, without their names. */
export function shortenInput(input: unknown): string {
  const parts =
    typeof input === "object" && input !== null ? Object.values(input).slice(0, MAX_PARTS) : [input];
  const shown = parts.flatMap((part) =>
    typeof part === "object" || part === undefined ? [] : [String(part).slice(0, MAX_READ)],
  );
  return cutToLine(shown.join(" "), MAX_SHOWN);
}

/** The runs of some sessions, as their events tell of them. Takes events in any order and never throws. */
export type RunTree = {
  take(event: RetinueEvent): void;
  /** Runs without a known parent, in the order they began. */
  readonly roots: readonly RunNode[];
  node(runId: string): RunNode | undefined;
  /** Grows with every change that can be seen. */
  readonly version: number;
};

const MAX_NODES = 2_000;

/** Creates an empty tree. Of more than `maxNodes` runs those are let go that ended first, successes before failures. */
export function createRunTree({ maxNodes = MAX_NODES }: { maxNodes?: number } = {}): RunTree {
  const nodes = new Map<string, RunNode>();
  const roots: RunNode[] = [];
  /** In the order in which they ended. */
  const ended = new Set<RunNode>();
  let version = 0;

  function start(event: EventNamed<"run.started">): void {
    const known = nodes.get(event.runId);
    if (known) {
      known.begin(event);
      ended.delete(known);
    } else if (nodes.size < maxNodes || letOneGo()) place(new RunNode(event));
  }

  /** Puts a run below its parent, and below it those that were heard of before it. */
  function place(node: RunNode): void {
    nodes.set(node.runId, node);
    hang(node);
    for (const root of roots.filter((each) => each.parentRunId === node.runId && each !== node)) {
      if (node.line.has(root)) continue;
      roots.splice(roots.indexOf(root), 1);
      hang(root);
    }
  }

  function hang(node: RunNode): void {
    const parent = node.parentRunId === node.runId ? undefined : nodes.get(node.parentRunId ?? "");
    if (!parent || parent.line.has(node)) roots.push(node);
    else {
      node.parent = parent;
      parent.children.push(node);
    }
  }

  /** Forgets one run that has ended, with those below it; its parent keeps counting them. */
  function letOneGo(): boolean {
    const fitting = (isWanted: (node: RunNode) => boolean) => {
      for (const node of ended) if (isWanted(node) && node.below.live === 0) return node;
      return undefined;
    };
    const node = fitting((each) => !isFailed(each)) ?? fitting(isFailed);
    if (!node) return false;
    if (node.parent) node.parent.lost = add(node.parent.lost, node.sums);
    const siblings = node.parent?.children ?? roots;
    siblings.splice(siblings.indexOf(node), 1);
    forget(node);
    return true;
  }

  function forget(node: RunNode): void {
    nodes.delete(node.runId);
    ended.delete(node);
    for (const child of node.children) forget(child);
  }

  return {
    take(event) {
      if (event.type === "run.started") start(event);
      else {
        const node = "runId" in event ? nodes.get(event.runId ?? "") : undefined;
        if (!node?.take(event)) return;
        if (!isLive(node)) {
          ended.delete(node);
          ended.add(node);
        }
      }
      version++;
    },
    roots,
    node: (runId) => nodes.get(runId),
    get version() {
      return version;
    },
  };
}
