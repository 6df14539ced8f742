import type { OpenDelegation } from "../schema/delegation.ts";
import type { RunResult } from "../schema/result.ts";

/** One delegation of a run, from the moment it was asked for; by its id the parent knows it. */
export type Delegation = Readonly<OpenDelegation> & {
  /** What was asked for. */
  readonly task: string;
  readonly done: Promise<RunResult>;
  result?: RunResult;
  /** The parent has been told. */
  delivered: boolean;
};

/** The result of one attempt, and the moments of its beginning and end; see `Claim`. */
export type EndedAttempt = { result: RunResult; began: number; ended: number };

/** The end of a delegation as its parent may hear of it. */
type Hear = (about: OpenDelegation, ended: Promise<RunResult>) => Promise<RunResult>;

/** What a run has asked of others: what has ended, and what of it the run has heard of. */
export class Delegations {
  readonly #turnOf: () => number;
  readonly #hear: Hear;
  readonly #known = new Map<string, Delegation>();
  /** Results of all attempts, by run id. */
  readonly #results = new Map<string, EndedAttempt>();
  #firstOfTurn: { turn: number; done: Promise<void>; resolve: () => void } | undefined;

  constructor(turnOf: () => number, hear: Hear) {
    this.#turnOf = turnOf;
    this.#hear = hear;
  }

  /** Keeps a delegation until its result was delivered. */
  track(about: OpenDelegation & { task: string }, ended: Promise<RunResult>, delivered = false): Delegation {
    const done = this.#hear(about, ended);
    const delegation: Delegation = { ...about, done, delivered };
    this.#known.set(delegation.id, delegation);
    const turn = this.#turn();
    done.then((result) => {
      delegation.result = result;
      turn.resolve();
    });
    return delegation;
  }

  /** Keeps a delegation that ended, and was delivered, before a crash. */
  recall(about: OpenDelegation & { task: string }, result: RunResult): void {
    this.#known.set(about.id, { ...about, done: Promise.resolve(result), result, delivered: true });
  }

  /** Keeps the result of one attempt. */
  keep(attempt: EndedAttempt): void {
    const { run_id: runId } = attempt.result;
    if (!this.#results.has(runId)) this.#results.set(runId, attempt);
  }

  /** All attempts that have ended, in the order they did. */
  ended(): EndedAttempt[] {
    return [...this.#results.values()].sort((one, other) => one.ended - other.ended);
  }

  /** Resolves when every delegation that was asked for has ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#known.values()].map((delegation) => delegation.done));
  }

  /** The result of a finished delegation by run id or task id, for `fromResults`. */
  resultOf(id: string): RunResult | undefined {
    return this.#results.get(id)?.result ?? this.#find(id)?.result;
  }

  /** The id under which the parent knows the task that a result belongs to; undefined for a single delegation. */
  findTaskId({ run_id: runId }: RunResult): string | undefined {
    return [...this.#known.values()].find((one) => one.id === runId || one.result?.run_id === runId)?.taskId;
  }

  /** What to say to ids of results that do not exist or are not there yet; null if all are. */
  missingResults(ids: readonly string[]): string | null {
    const missing = ids.filter((id) => !this.resultOf(id));
    if (missing.length === 0) return null;
    const known = [...this.#known.values()].filter((one) => one.result).map((one) => one.taskId ?? one.id);
    return `no finished result ${missing.map((id) => `'${id}'`).join(", ")}; available: ${known.join(", ") || "none"}`;
  }

  /** Whether a delegation of that run id or task id was ever asked for. */
  knows(id: string): boolean {
    return this.#results.has(id) || this.#find(id) !== undefined;
  }

  /** Delegations the parent has not heard of, optionally only those with one of the ids. */
  undelivered(ids?: readonly string[]): Delegation[] {
    return [...this.#known.values()].filter(
      (one) => !one.delivered && (!ids || ids.includes(one.id) || (one.taskId && ids.includes(one.taskId))),
    );
  }

  /** Resolves when the first delegation begun in this turn has ended. */
  firstOfTurn(): Promise<void> {
    return this.#turn().done;
  }

  #find(id: string): Delegation | undefined {
    return this.#known.get(id) ?? [...this.#known.values()].find((one) => one.taskId === id);
  }

  #turn(): { turn: number; done: Promise<void>; resolve: () => void } {
    const turn = this.#turnOf();
    if (this.#firstOfTurn?.turn !== turn) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      this.#firstOfTurn = { turn, done, resolve };
    }
    return this.#firstOfTurn;
  }
}

/** A delegation as the record keeps it. */
export function openDelegation({ id, agent, callId, taskId }: OpenDelegation): OpenDelegation {
  return { id, agent, callId, ...(taskId !== undefined && { taskId }) };
}
