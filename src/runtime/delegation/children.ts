import { summarise } from "../../loop/summarise.ts";
import { waitFor } from "../../loop/wait-for.ts";
import { delay } from "../../scheduler/clock.ts";
import { Gate } from "../../scheduler/gate.ts";
import type { Agent, Deliverable, ExecutionMode, Limits } from "../../schema/agent.ts";
import type { DelegationRequest } from "../../schema/delegation.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { MessageNode } from "../../schema/record.ts";
import type { RunError, RunResult } from "../../schema/result.ts";
import { createId } from "../create-id.ts";
import type { Host, LiveRun } from "../host.ts";
import { isClosed, metadataOf, resultOfRow } from "../record/read-row.ts";
import { failedResult } from "../runs/failed-result.ts";
import { createProfile, type Profile, restoreProfile } from "../runs/profile.ts";
import { cancelTree, spawnRun } from "../runs/spawn-run.ts";
import { childMessage } from "./child-message.ts";
import { findAgent, isAgent } from "./find-agent.ts";

/** One delegation of a run, from the moment it was asked for. */
export type Delegation = {
  /** Run id of its first attempt; by this the parent knows it. */
  readonly id: string;
  readonly agent: string;
  /** The task's id in its batch. */
  readonly taskId?: string | undefined;
  readonly done: Promise<RunResult>;
  result?: RunResult;
  /** The parent has been told. */
  delivered: boolean;
};

/** Where a delegation came from: the parent's call, its task in a batch, and the row its runs hang from. */
export type Origin = { callId: string; rowId: number; taskId?: string };

/** The children of one run: how many at once, what they share, and which of them the parent has heard of. */
export class Children {
  readonly host: Host;
  readonly parent: LiveRun;
  readonly delegates: readonly Agent[];
  readonly mode: ExecutionMode;
  readonly #gate: Gate;
  readonly #profiles = new Map<string, Promise<Profile>>();
  readonly #delegations = new Map<string, Delegation>();
  /** Attempts of delegations that were begun before a crash, by call and task. */
  readonly #earlier = new Map<string, MessageNode[]>();
  readonly #results = new Map<string, RunResult>();
  #stopped: string | null = null;
  #summary: { turn: number; text: Promise<string> } | undefined;
  #firstOfTurn: { turn: number; done: Promise<void>; resolve: () => void } | undefined;

  constructor(host: Host, parent: LiveRun, profile: Profile) {
    this.host = host;
    this.parent = parent;
    this.delegates = profile.delegates;
    this.mode = profile.agent.subagents?.execution ?? "parallel";
    this.#gate = new Gate(this.mode === "sequential" ? 1 : (profile.agent.subagents?.maxConcurrent ?? 5));
  }

  /** Ends the children that run and lets no further one begin. */
  stop(message: string): void {
    this.#stopped = message;
    for (const kid of this.parent.kids) cancelTree(kid, message);
  }

  /** Resolves when every delegation that was asked for has ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#delegations.values()].map((delegation) => delegation.done));
  }

  /** The agent that a request names, or why it cannot run here. */
  find(name: string): Agent | RunError {
    return findAgent(this.host.registry, name, this.parent.run.spec.agent);
  }

  /** Looks at depth and circles before anything is begun. */
  admit(child: Agent): RunError | null {
    const { agent, ancestors, depth } = this.parent.run.spec;
    const { maxDepth } = this.parent.run.spec;
    return this.host.guards.admitChild({
      child,
      parent: agent,
      line: [...ancestors, agent.name],
      depth: depth + 1,
      maxDepth,
    });
  }

  /** Runs `work` within the limit on children at once; a sequential batch has a limit of one. */
  within(mode: ExecutionMode): <Result>(work: () => Promise<Result>) => Promise<Result> {
    if (mode !== "sequential") return (work) => this.#gate.run(work);
    const oneByOne = new Gate(1);
    return (work) => oneByOne.run(() => this.#gate.run(work));
  }

  /** Begins one delegation behind the limit; it goes on whether or not anyone waits. */
  start(request: DelegationRequest, origin: Origin): Delegation {
    const id = createId("run");
    return this.track({
      id,
      agent: request.agent,
      done: this.#gate.run(() => this.delegate(id, request, origin)),
    });
  }

  /** Keeps a delegation until its result was delivered. */
  track(parts: {
    id: string;
    agent: string;
    taskId?: string | undefined;
    done: Promise<RunResult>;
  }): Delegation {
    const delegation: Delegation = { ...parts, delivered: false };
    this.#delegations.set(delegation.id, delegation);
    const turn = this.#turn();
    parts.done.then((result) => {
      delegation.result = result;
      turn.resolve();
    });
    return delegation;
  }

  /** Runs a delegation and, where its policy says so, again. Never rejects. */
  async delegate(
    id: string,
    request: DelegationRequest,
    origin: Origin,
    needed: readonly RunResult[] = [],
  ): Promise<RunResult> {
    const { run, session } = this.parent;
    const { redactor } = session.ports;
    const failed = (error: RunError) =>
      failedResult(
        { runId: id, sessionId: session.id, agent: request.agent },
        { ...error, message: redactor.redact(error.message) },
      );
    const stopped = run.interruption?.message ?? this.#stopped;
    if (stopped !== null) return failed({ type: "cancelled", message: stopped, recoverable: false });
    const found = this.find(request.agent);
    if (!isAgent(found)) return failed(found);
    const refusal = this.admit(found);
    if (refusal) return failed(refusal);
    try {
      for (let attempt = 0; ; attempt++) {
        const result = await this.#attempt({ id, attempt, agent: found }, request, origin, needed);
        const { attempts, on, backoffMs } = found.retry;
        this.#results.set(result.run_id, result);
        const ended = result.status === "cancelled" || run.interruption || this.#stopped !== null;
        const again = !ended && attempt < attempts && result.error && on.includes(result.error.type);
        if (!again) return result;
        await delay(session.ports.clock, result.error?.retryAfterMs ?? backoffMs * 2 ** attempt, run.signal);
      }
    } catch (thrown) {
      const type =
        thrown instanceof RetinueError && thrown.code === "auth"
          ? "auth"
          : thrown instanceof RetinueError
            ? "config"
            : "failed";
      return failed({ type, message: messageOf(thrown), recoverable: false });
    }
  }

  async #attempt(
    about: { id: string; attempt: number; agent: Agent },
    request: DelegationRequest,
    origin: Origin,
    needed: readonly RunResult[],
  ): Promise<RunResult> {
    const { agent, attempt } = about;
    const earlier = this.#earlier.get(keyOf(origin))?.[attempt];
    if (earlier) return this.goOn(earlier);
    const profile = await this.#profile(agent, request);
    const context = request.context ?? agent.context;
    const results = [...needed, ...(request.fromResults ?? []).flatMap((id) => this.resultOf(id) ?? [])];
    const message = await childMessage({ children: this, request, profile, context, results });
    const { redactor } = this.parent.session.ports;
    return spawnRun(this.host, {
      session: this.parent.session,
      parent: this.parent,
      profile,
      runId: attempt === 0 ? about.id : createId("run"),
      attempt,
      taskId: origin.taskId,
      task: request.task,
      message: redactor.redact(message),
      tainted: results.some((result) => result.tainted),
      contextMode: context,
      callId: origin.callId,
      parentRowId: origin.rowId,
      deliverables: redactor.redactJson([...agent.deliverables, ...(request.deliverables ?? [])]),
      limits: request.limits,
    });
  }

  /** The result of a child run that was begun before a crash: as recorded, or by going on with it in place. */
  async goOn(node: MessageNode): Promise<RunResult> {
    if (isClosed(node)) return resultOfRow(node);
    const { session } = this.parent;
    const { task, attempt, deliverables, limits, taskId } = metadataOf(node);
    const message = node.request_content ?? "";
    const profile = await restoreProfile(this.host, node, this.parent);
    return spawnRun(this.host, {
      session,
      parent: this.parent,
      profile: { ...profile, chain: [...profile.chain, ...session.base] },
      runId: node.run_id,
      attempt: Number(attempt),
      task: typeof task === "string" ? task : message,
      message,
      callId: node.call_id,
      parentRowId: node.parent_message_id,
      deliverables: (deliverables as Deliverable[] | undefined) ?? [],
      limits: limits as Limits | undefined,
      taskId: taskId as string | undefined,
      resume: node,
    });
  }

  /** Takes note of the children a recorded run had, and goes on with those its model was told are still running. */
  remember(node: MessageNode): void {
    const { resumption, history } = this.parent.run;
    const told = JSON.stringify(history);
    const pending = new Set(resumption?.kind === "calls" ? resumption.calls.map((call) => call.callId) : []);
    if (resumption?.kind === "calls") for (const callId of resumption.answered.keys()) pending.delete(callId);
    for (const turn of node.children) {
      for (const row of turn.children.flatMap((child) => [child, ...child.children])) {
        if (row.request_type !== "delegation") continue;
        const { taskId } = metadataOf(row) as { taskId?: string };
        const key = keyOf({ callId: row.call_id ?? "", ...(taskId !== undefined && { taskId }) });
        const attempts = this.#earlier.get(key) ?? [];
        this.#earlier.set(key, [...attempts, row]);
        const known = { id: row.run_id, agent: row.agent_role ?? "", taskId };
        if (pending.has(row.call_id ?? "")) continue;
        if (
          !told.includes(`run_id=\\"${row.run_id}\\"`) &&
          (!isClosed(row) || this.mode === "parallel_streaming")
        )
          this.track({ ...known, done: this.#gate.run(() => this.goOn(row)) });
        else if (isClosed(row))
          this.#delegations.set(row.run_id, {
            ...known,
            done: Promise.resolve(resultOfRow(row)),
            result: resultOfRow(row),
            delivered: true,
          });
      }
    }
  }

  /** Results of finished delegations by id, for `fromResults`. */
  resultOf(id: string): RunResult | undefined {
    return this.#results.get(id) ?? this.#find(id)?.result;
  }

  /** What to say to ids of results that do not exist or are not there yet; null if all are. */
  missingResults(ids: readonly string[]): string | null {
    const missing = ids.filter((id) => !this.resultOf(id));
    if (missing.length === 0) return null;
    const known = [...this.#delegations.values()]
      .filter((one) => one.result)
      .map((one) => one.taskId ?? one.id);
    return `no finished result ${missing.map((id) => `'${id}'`).join(", ")}; available: ${known.join(", ") || "none"}`;
  }

  /** Whether a delegation of that run id or task id was ever asked for. */
  knows(id: string): boolean {
    return this.#results.has(id) || this.#find(id) !== undefined;
  }

  #find(id: string): Delegation | undefined {
    return this.#delegations.get(id) ?? [...this.#delegations.values()].find((one) => one.taskId === id);
  }

  /** A summary of the parent's conversation, made once per turn and shared by everything begun in it. */
  summary(): Promise<string> {
    const { run, session } = this.parent;
    if (this.#summary?.turn !== run.turn)
      this.#summary = { turn: run.turn, text: summarise(run, run.history, session.ports) };
    return this.#summary.text;
  }

  /** Resolves when the first delegation begun in this turn has ended. */
  firstOfTurn(): Promise<void> {
    return this.#turn().done;
  }

  /** Delegations the parent has not heard of, optionally only those with one of the ids. */
  undelivered(ids?: readonly string[]): Delegation[] {
    return [...this.#delegations.values()].filter(
      (one) => !one.delivered && (!ids || ids.includes(one.id) || (one.taskId && ids.includes(one.taskId))),
    );
  }

  /** Waits for a promise while the parent holds no slot. */
  waiting<Value>(promise: Promise<Value>): Promise<Value> {
    return waitFor(this.parent.run, "children", this.parent.session.ports, promise);
  }

  #profile(agent: Agent, request: DelegationRequest): Promise<Profile> {
    const make = () =>
      createProfile(this.host, {
        agent,
        session: this.parent.session,
        parent: this.parent,
        tools: request.tools,
        limits: request.limits,
      });
    if (request.tools || request.limits) return make();
    let profile = this.#profiles.get(agent.name);
    if (!profile) {
      profile = make();
      this.#profiles.set(agent.name, profile);
    }
    return profile;
  }

  #turn(): { turn: number; done: Promise<void>; resolve: () => void } {
    const { turn } = this.parent.run;
    if (this.#firstOfTurn?.turn !== turn) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      this.#firstOfTurn = { turn, done, resolve };
    }
    return this.#firstOfTurn;
  }
}

function keyOf({ callId, taskId }: Pick<Origin, "callId" | "taskId">): string {
  return taskId === undefined ? callId : `${callId} ${taskId}`;
}
