import type { ChildKey, Run } from "../run/run.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type { RecordedSession } from "./recorded-session.ts";

/** Lets each parent of a replay hear of its children in the turn in which it heard of them then. */
export class ReplayChildren {
  readonly #session: RecordedSession;
  readonly #waiting = new Map<string, { turn: number; tell: () => void }[]>();
  /** The turn by whose end a run was told of everything that it had asked for. */
  readonly #allTold = new Map<string, number>();
  /** Calls some of whose tasks never began. */
  readonly #incomplete = new Set<string>();

  constructor(session: RecordedSession) {
    this.#session = session;
  }

  childId(parent: Run, child: ChildKey): string | undefined {
    const begun = this.#session.childOf(parent, child);
    if (begun || child.attempt > 0) return begun?.node.run_id;
    return this.#session.of(parent)?.idOfUnbegun(child.callId, child.taskId);
  }

  begins(parent: Run, child: ChildKey, agent: string): boolean {
    const begun = this.#session.childOf(parent, child);
    if (begun && !begun.isUnstarted) return true;
    this.#incomplete.add(callKey(parent, child.callId));
    if (begun) return false;
    const recorded = this.#session.of(parent);
    const mayBeMissing = recorded?.wasCutShort || recorded?.diverged || recorded?.callRow(child.callId);
    if (!mayBeMissing) this.#session.differs(parent, "a run", "no such run", `${agent} is started`);
    return false;
  }

  /** Whether a call had tasks that never began, so that its answer depends on what came first. */
  isIncomplete(parent: Run, callId: string): boolean {
    return this.#incomplete.has(callKey(parent, callId));
  }

  isTold(parent: Run, delegation: OpenDelegation): boolean {
    const askedIn = this.#session.of(parent)?.turnOfCall(delegation.callId) ?? 0;
    const allToldIn = this.#allTold.get(parent.runId) ?? -1;
    return askedIn <= allToldIn || parent.turn >= this.#toldIn(parent, delegation);
  }

  untilTold(parent: Run, delegation: OpenDelegation): Promise<void> {
    if (this.isTold(parent, delegation)) return Promise.resolve();
    const { promise, resolve: tell } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(parent.runId) ?? [];
    this.#waiting.set(parent.runId, [...waiting, { turn: this.#toldIn(parent, delegation), tell }]);
    return promise;
  }

  tellAll(parent: Run): void {
    this.#allTold.set(parent.runId, parent.turn);
    this.#tell(parent, Number.POSITIVE_INFINITY);
  }

  /** A turn begins: what the parent was told in it may be told now. */
  turnBegan(parent: Run): void {
    this.#tell(parent, parent.turn);
  }

  #tell(parent: Run, turn: number): void {
    const waiting = this.#waiting.get(parent.runId) ?? [];
    this.#waiting.set(
      parent.runId,
      waiting.filter((one) => one.turn > turn),
    );
    for (const one of waiting) if (one.turn <= turn) one.tell();
  }

  #toldIn(parent: Run, { callId, taskId }: OpenDelegation): number {
    const runIds: string[] = [];
    for (let attempt = 0; ; attempt++) {
      const child = { callId, attempt, ...(taskId !== undefined && { taskId }) };
      const begun = this.#session.childOf(parent, child);
      if (!begun) return this.#session.of(parent)?.toldIn(callId, taskId, runIds) ?? 0;
      runIds.push(begun.node.run_id);
    }
  }
}

function callKey(parent: Run, callId: string): string {
  return `${parent.runId} ${callId}`;
}
