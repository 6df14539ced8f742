import { isClosed, metadataOf, replyOfRow, resultOfRow } from "../run/read-row.ts";
import type { Interruption } from "../run/run.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type { MessageNode } from "../schema/record.ts";
import type { BailoutReason, RunResult } from "../schema/result.ts";

/** What a model call is made for. */
export type Purpose = "turn" | "wrap_up" | "summary";

/** One recorded run while it is played: its rows, and which of its model calls have been played. */
export class RecordedRun {
  readonly node: MessageNode;
  /** Names of the agents from the root down to this run. */
  readonly path: string;
  /** It no longer is what was recorded, so that what follows tells nothing. */
  diverged = false;
  /** Seq of the record up to which it was played. */
  position: number;
  readonly #turns: readonly MessageNode[];
  readonly #calls: ReadonlyMap<string, MessageNode>;
  /** The turn in which a call was asked for, by its id. */
  readonly #turnOfCall = new Map<string, number>();
  /** Ids of delegations that were open when a turn began or a call was answered, by call and task. */
  readonly #open = new Map<string, string>();
  /** The turn in which the run was told of a child's end, by run id; infinite if no call of it was answered with that. */
  readonly #told = new Map<string, number>();
  #left: readonly MessageNode[];

  constructor(node: MessageNode, path: string) {
    this.node = node;
    this.path = path;
    this.position = node.opened_seq;
    this.#turns = node.children.filter((row) => row.request_type === "continuation");
    this.#left = this.#turns;
    const calls = this.#turns.flatMap((turn) => turn.children);
    this.#calls = new Map(
      calls.flatMap((row) => (row.request_type === "tool_call" ? [[row.call_id ?? "", row]] : [])),
    );
    for (const turn of this.#turns) this.#noteDelegations(turn);
  }

  get turns(): readonly MessageNode[] {
    return this.#turns;
  }

  /** The run was ended by something other than its own answer, so that things begun may lack an end. */
  get wasCutShort(): boolean {
    return !isClosed(this.node) || this.node.bailout_reason !== null;
  }

  /** It is a task that never became a run. */
  get isUnstarted(): boolean {
    return (
      this.node.bailout_reason === "not_started" || (isClosed(this.node) && !metadataOf(this.node).snapshot)
    );
  }

  /** The result the run had; null if the record ends before it. */
  get result(): RunResult | null {
    return isClosed(this.node) && metadataOf(this.node).result ? resultOfRow(this.node) : null;
  }

  /** The row of a tool call. */
  callRow(callId: string): MessageNode | undefined {
    return this.#calls.get(callId);
  }

  /** Whether runs stand for a call themselves, as they do for a single delegation. */
  hasChildOf(callId: string): boolean {
    return this.#turns.some((turn) =>
      turn.children.some((row) => row.request_type === "delegation" && row.call_id === callId),
    );
  }

  /** The next model call that the run itself went on with; null if there is none. */
  next(): MessageNode | null {
    return this.#left.find((row) => !wasLost(row) && purposeOf(row) !== "summary") ?? null;
  }

  /** What a person said to the run before that next model call. */
  steering(): string[] {
    return this.#upToNext().flatMap((row) => (metadataOf(row).steered as string[] | undefined) ?? []);
  }

  /** What the host or a person added to the conversation before that next model call. */
  told(): string[] {
    return this.#upToNext().flatMap((row) => (metadataOf(row).before as string[] | undefined) ?? []);
  }

  /** The next model call, after those before it that a crash cut off. */
  #upToNext(): readonly MessageNode[] {
    const next = this.next();
    return this.#left.slice(0, next ? this.#left.indexOf(next) + 1 : 0);
  }

  /** Whether the same call was made once more, as after a failure. */
  hasAnother(turn: number, purpose: Purpose): boolean {
    return this.#left.some((row) => !wasLost(row) && isFor(row, turn, purpose));
  }

  /**
   * Takes the model call that comes next in a turn. Calls that a crash cut off come along: the run went on with what they
   * were told, and with the call that was made in their place. `skipped` are earlier ones that led to nothing.
   */
  take(
    turn: number,
    purpose: Purpose,
  ): { row: MessageNode | null; lost: MessageNode[]; skipped: MessageNode[] } {
    const lost: MessageNode[] = [];
    const skipped: MessageNode[] = [];
    for (const [index, row] of this.#left.entries()) {
      if (!isFor(row, turn, purpose)) skipped.push(row);
      else if (wasLost(row)) lost.push(row);
      else {
        this.#left = this.#left.slice(index + 1);
        return { row, lost, skipped };
      }
    }
    return { row: null, lost, skipped: [] };
  }

  /** How the run was ended from outside, by time, a person or its parent; null if it was not. */
  endedOutside(): Interruption | null {
    const { bailout_reason: bailout } = this.node;
    if (!isClosed(this.node) || (bailout !== "cancelled" && bailout !== "timeout")) return null;
    const message = this.result?.error?.message ?? this.node.error_message ?? bailout;
    return { status: bailout, bailout, message };
  }

  /** The limit that led to the run's last report; null if it reached none. */
  limitReached(): BailoutReason | null {
    const reasons = this.#turns.flatMap((row) => metadataOf(row).reason ?? []);
    return ((reasons[0] ?? this.node.bailout_reason) as BailoutReason | null) ?? null;
  }

  /** Whether the run kept to a budget, so that a call may have been refused without leaving a row. */
  get wasLimited(): boolean {
    return this.#turns.some((row) => metadataOf(row).reserved !== undefined);
  }

  /** The id under which a delegation was known although its run never began. */
  idOfUnbegun(callId: string, taskId: string | undefined): string | undefined {
    return this.#open.get(keyOf(callId, taskId));
  }

  /** The turn in which the run was told how a delegation had ended, whose attempts had these ids; 0 if at once. */
  toldIn(callId: string, taskId: string | undefined, runIds: readonly string[]): number {
    const open = this.#open.get(keyOf(callId, taskId));
    for (const id of open === undefined ? runIds : [...runIds, open]) {
      const turn = this.#told.get(id);
      if (turn !== undefined) return turn;
    }
    return open === undefined ? 0 : Number.POSITIVE_INFINITY;
  }

  /** The turn in which a call was asked for. */
  turnOfCall(callId: string): number {
    return this.#turnOfCall.get(callId) ?? 0;
  }

  #noteDelegations(row: MessageNode): void {
    const { turn, running = [], before = [] } = metadataOf(row) as Told;
    for (const { callId } of replyOfRow(row).calls) this.#turnOfCall.set(callId, turn);
    for (const [, runId = ""] of before.join("\n").matchAll(RESULT_OF))
      this.#told.set(runId, Number.POSITIVE_INFINITY);
    for (const call of row.children) {
      const { children } = metadataOf(call) as Told;
      running.push(...(children?.running ?? []));
      for (const id of children?.delivered ?? []) this.#told.set(id, turn);
    }
    for (const { id, callId, taskId } of running) this.#open.set(keyOf(callId, taskId), id);
  }
}

/** What rows tell of delegations: those of turns what was open and said before, those of calls what was answered. */
type Told = {
  turn: number;
  before?: string[];
  running?: OpenDelegation[];
  children?: { delivered: string[]; running: OpenDelegation[] };
};

/** A child's result in a message of the host. */
const RESULT_OF = /<subagent_result agent="[^"]*" run_id="(\w+)"/g;

/** What a row's model call was made for. */
export function purposeOf(row: MessageNode): Purpose {
  return (metadataOf(row).purpose as Purpose | undefined) ?? "turn";
}

/** The process ended during this call, and it was made again. */
function wasLost(row: MessageNode): boolean {
  return isClosed(row) && row.status === "failed" && metadataOf(row).errorType === undefined;
}

function isFor(row: MessageNode, turn: number, purpose: Purpose): boolean {
  return Number(metadataOf(row).turn) === turn && purposeOf(row) === purpose;
}

function keyOf(callId: string, taskId: string | undefined): string {
  return taskId === undefined ? callId : `${callId} ${taskId}`;
}
