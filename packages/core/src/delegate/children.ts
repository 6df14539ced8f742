import { delay } from "../budget/clock.ts";
import { Gate } from "../budget/gate.ts";
import { isBelow } from "../files/is-below.ts";
import { noteSeen } from "../files/seen-files.ts";
import { taint } from "../run/calls/dispatch.ts";
import { summarise } from "../run/compact.ts";
import { type Delegation, Delegations } from "../run/delegations.ts";
import { isClosed, metadataOf, recordedMoment, resultOfRow } from "../run/read-row.ts";
import type { Below, Interruption, Profile, Run } from "../run/run.ts";
import { waitFor } from "../run/wait-for.ts";
import {
  type Agent,
  type ContextMode,
  type Deliverable,
  type ExecutionMode,
  type Limits,
  toContextMode,
} from "../schema/agent.ts";
import type { DelegationRequest } from "../schema/delegation.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import type { Spawner } from "../tools/tool.ts";
import { childMessage, readContextFiles } from "./child-message.ts";
import { deliver } from "./deliver.ts";
import { EarlierAttempts, type Origin, originOf } from "./earlier-attempts.ts";
import { findAgent, isAgent } from "./find-agent.ts";
import { createProfile, restoreProfile } from "./profile.ts";
import { recordUnstarted } from "./record-run.ts";
import { startBelow } from "./spawn-below.ts";

/** What ends the children of a run that begins its last report. */
export const PARENT_AT_LIMIT = "its parent reached a limit";

/** The children of one run: how many at once, what they share, and which of them the parent has heard of. */
export class Children {
  readonly parent: Run;
  readonly delegates: readonly Agent[];
  readonly mode: ExecutionMode;
  readonly #gate: Gate;
  readonly #profiles = new Map<string, Promise<Profile>>();
  readonly delegations: Delegations;
  /** Runs that were begun before a crash. */
  readonly #earlier: EarlierAttempts;
  /** Ids of delegations that have a row. */
  readonly #begun = new Set<string>();
  /** Agents that delegations with a row were made to. */
  readonly #begunAgents: Set<string>;
  #stopped: string | null = null;
  /** Ends when the child before begins: children begin in the order they were asked for. */
  #ready: Promise<void> = Promise.resolve();
  #summary: { turn: number; text: Promise<string> } | undefined;

  constructor(parent: Run, profile: Profile, earlier = new EarlierAttempts()) {
    this.parent = parent;
    const { pace } = parent.host;
    this.delegations = new Delegations(
      () => parent.turn,
      (about, ended) => pace.hear(parent, about, ended),
    );
    this.#earlier = earlier;
    this.#begunAgents = new Set([...earlier.all()].flatMap((rows) => rows[0]?.agent_role ?? []));
    this.delegates = profile.delegates;
    this.mode = profile.agent.subagents?.execution ?? "parallel";
    this.#gate = new Gate(this.mode === "sequential" ? 1 : (profile.agent.subagents?.maxConcurrent ?? 5));
  }

  /** Ends the children that run and lets no further one begin. */
  stop(message: string): void {
    this.parent.host.pace.stopChildren(this.parent, () => {
      this.#stopped = message;
      for (const kid of this.parent.kids) kid.interruptTree(cancelled(message));
    });
  }

  /** What the run has not been told of its children; see `ChildRuns`. */
  async collectRest(how: "wait" | "stop"): Promise<string | null> {
    const { parent } = this;
    if (how === "stop") this.stop(PARENT_AT_LIMIT);
    parent.host.pace.hearAll(parent);
    const open = this.delegations.undelivered();
    if (open.length === 0) return null;
    await this.waiting(Promise.all(open.map((delegation) => delegation.done)));
    const output = deliver(this, open, "ended");
    if (output.tainted) await taint(parent, "collect_results");
    if (output.privateData) parent.privateData = true;
    const text = parent.host.redactor.redact(output.text);
    return `These sub-agents had not been collected yet. Take their results into account, then finish.\n${text}`;
  }

  /** Starts children for the code of a tool. */
  createSpawner(below: Below): Spawner {
    return startBelow(this, below);
  }

  /** What ends a child that comes to life only after its siblings were stopped; null if they were not. */
  get stopping(): Interruption | null {
    const message = this.#stopped;
    return message === null ? null : cancelled(message);
  }

  /** The agent that a request names, or why it cannot run here. */
  find(name: string): Agent | RunError {
    return findAgent(this.parent.host.registry, name, this.parent.agent, this.delegates);
  }

  /** What is wrong with a request in itself: there is no such agent, or results that it hands over are not there. */
  findMistake({ agent, fromResults = [] }: Partial<DelegationRequest>): RunError | null {
    const mistake = (message: string) => ({ type: "params", message, recoverable: true }) as const;
    if (agent === undefined) return mistake(`agent is missing; available: ${this.#listDelegates()}`);
    const found = this.find(agent);
    if (!isAgent(found)) return found;
    const missing = this.delegations.missingResults(fromResults);
    return missing === null ? null : mistake(missing);
  }

  /** Why this run cannot delegate to an agent, whatever the task; the same for as long as it runs. */
  refuseAgent(name: string): RunError | null {
    const found = this.find(name);
    if (!isAgent(found)) return found;
    const refusal = this.admit(found);
    if (refusal || this.delegates.some((one) => one.name === found.name)) return refusal;
    const message = `${this.parent.agent.name} may not delegate to '${found.name}'; available: ${this.#listDelegates()}`;
    return { type: "not_allowed", message, recoverable: false };
  }

  #listDelegates(): string {
    return this.delegates.map(({ name }) => name).join(", ") || "none";
  }

  /** Looks at depth and circles before anything is begun. */
  admit(child: Agent): RunError | null {
    const { agent, ancestors, depth, maxDepth } = this.parent;
    return this.parent.host.guards.admitChild({
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

  /** The id of a delegation, or of another attempt of it: the one it had before a crash, or a new one. */
  idFor({ callId, taskId }: Pick<Origin, "callId" | "taskId">, attempt = 0): string {
    const earlier = this.#earlier.of({ callId, ...(taskId !== undefined && { taskId }) })[attempt];
    return earlier?.run_id ?? this.parent.host.createRunId(this.parent, { callId, taskId, attempt });
  }

  /** Begins one delegation behind the limit; it goes on whether or not anyone waits. */
  start(request: DelegationRequest, origin: Origin, id = this.idFor(origin)): Delegation {
    const done = this.#gate.run(() => this.delegate(id, request, origin));
    const { agent, task } = request;
    return this.delegations.track({ id, agent, task, callId: origin.callId }, done);
  }

  /** Begins a child for a program, which gets its result itself; the signal ends it, begun or not. */
  startFor(
    request: DelegationRequest,
    { id, callId, rowId, signal }: { id: string; callId: string; rowId: number; signal: AbortSignal },
  ): Promise<RunResult> {
    const cancel = () => {
      for (const kid of this.parent.kids)
        if (kid.callId === callId) kid.interruptTree(cancelled(String(signal.reason)));
    };
    signal.addEventListener("abort", cancel, { once: true });
    const unlessStopped = async () => {
      const error = { type: "cancelled", message: String(signal.reason), recoverable: false } as const;
      return signal.aborted
        ? this.fail({ id, agent: request.agent }, error)
        : this.delegate(id, request, { callId, rowId, byProgram: true });
    };
    const done = this.#gate.run(unlessStopped).finally(() => signal.removeEventListener("abort", cancel));
    const { agent, task } = request;
    return this.delegations.track({ id, agent, task, callId }, done, true).done;
  }

  /** The result of a child that did not come to run. */
  fail({ id, agent }: { id: string; agent: string }, error: RunError): RunResult {
    const { session, host } = this.parent;
    const message = host.redactor.redact(error.message);
    return failedResult({ runId: id, sessionId: session.id, agent }, { ...error, message });
  }

  /** Goes on with the children that a program had begun in a call before its process ended. */
  async finish(callId: string): Promise<void> {
    const isOpen = (row: MessageNode) => row.call_id?.startsWith(`${callId}.`) && !isClosed(row);
    const open = [...this.#earlier.all()].filter((rows) => rows.some(isOpen));
    await Promise.all(
      open.map(async ([first]) => {
        if (!first) return;
        // Another attempt is made with what the first one was given.
        const { limits } = metadataOf(first) as { limits?: Limits };
        const request: DelegationRequest = {
          agent: first.agent_role ?? "",
          task: first.request_content ?? "",
          ...(limits && { limits }),
        };
        const origin = { ...originOf(first), rowId: first.parent_message_id ?? first.id, byProgram: true };
        await this.waiting(this.start(request, origin, first.run_id).done);
      }),
    );
  }

  /** Whether the record has a run of that delegation from before a crash. */
  hasRow(origin: Pick<Origin, "callId" | "taskId">): boolean {
    return this.#earlier.of(origin).length > 0;
  }

  /** Gives a delegation that never became a run a row that says why, unless it has one. */
  recordUnstarted(request: DelegationRequest, origin: Origin, result: RunResult): void {
    if (this.#begun.has(result.run_id) || this.hasRow(origin)) return;
    this.#begun.add(result.run_id);
    recordUnstarted({
      session: this.parent.session,
      parent: this.parent,
      origin,
      task: request.task,
      result,
    });
  }

  /** Whether a delegation has come so far that a row tells of it. */
  hasBegun(id: string): boolean {
    return this.#begun.has(id);
  }

  /** Whether a delegation to an agent has come so far that a row tells of it. */
  hasDelegatedTo(agent: string): boolean {
    return this.#begunAgents.has(agent);
  }

  /** Runs a delegation and, where its policy says so, again. Never rejects. */
  async delegate(
    id: string,
    request: DelegationRequest,
    origin: Origin,
    needed: readonly RunResult[] = [],
  ): Promise<RunResult> {
    const { parent } = this;
    const { clock, pace } = parent.host;
    const { callId, taskId } = origin;
    const failed = (error: RunError) => this.fail({ id, agent: request.agent }, error);
    const refuse = (agent: string, attempt: number) =>
      pace.refuseChild(
        parent,
        { callId, taskId, attempt, agent },
        parent.interruption?.message ?? this.#stopped,
      );
    const stopped = refuse(request.agent, 0);
    if (stopped !== null) return failed({ type: "cancelled", message: stopped, recoverable: false });
    const found = this.find(request.agent);
    if (!isAgent(found)) return failed(found);
    const refusal = this.admit(found);
    if (refusal) return failed(refusal);
    try {
      for (let attempt = 0; ; attempt++) {
        const earlier = this.#earlier.of(origin)[attempt];
        const began = earlier ? recordedMoment(earlier.opened_seq) : clock.monotonicMs();
        const result = await this.#attempt({ id, attempt, agent: found }, request, origin, needed);
        const { attempts, on, backoffMs } = found.retry;
        this.delegations.keep({ result, began, ended: clock.monotonicMs() });
        const again = attempt < attempts && result.error && on.includes(result.error.type);
        if (!again || result.status === "cancelled" || this.#hasActed(found, result)) return result;
        const isStopped = () => refuse(found.name, attempt + 1) !== null;
        if (isStopped()) return result;
        await delay(clock, result.error?.retryAfterMs ?? backoffMs * 2 ** attempt, parent.signal);
        if (isStopped()) return result;
      }
    } catch (thrown) {
      const code = thrown instanceof RetinueError ? thrown.code : "failed";
      if (code === "input") return failed({ type: "params", message: messageOf(thrown), recoverable: true });
      const type = code === "auth" || code === "failed" ? code : "config";
      return failed({ type, message: messageOf(thrown), recoverable: false });
    }
  }

  /** Whether a run used tools that reach others: another attempt would do that a second time. */
  #hasActed({ flow: name }: Agent, { tools_used }: RunResult): boolean {
    const { flows, tools } = this.parent.host;
    const flow = flows[name];
    return tools_used.some((used) => {
      const tool = tools.get(used);
      if (!tool) return false;
      return (
        tool.outbound !== false || tool.replay === "lookup" || (flow.actsByWriting && tool.replay !== "safe")
      );
    });
  }

  async #attempt(
    about: { id: string; attempt: number; agent: Agent },
    request: DelegationRequest,
    origin: Origin,
    needed: readonly RunResult[],
  ): Promise<RunResult> {
    const { agent, attempt } = about;
    const earlier = this.#earlier.of(origin)[attempt];
    if (earlier) this.#begun.add(about.id);
    if (earlier && isClosed(earlier)) return resultOfRow(earlier);
    const { byProgram } = origin;
    if (earlier) return goOnWith(earlier, { parent: this.parent, byProgram });
    const before = this.#ready;
    const { promise, resolve: ready } = Promise.withResolvers<void>();
    this.#ready = promise;
    const context = toContextMode(request.context ?? agent.context);
    // A summary is asked of a model, which others need not wait for.
    if (context === "summary") ready();
    const asked = { agent, origin, needed, context };
    const prepared = await this.#prepare(request, asked).catch((thrown) => {
      void before.then(ready);
      throw thrown;
    });
    const { profile, cwd, files, built, results, isUntrusted } = prepared;
    await before;
    // From here to its row nothing is waited for.
    ready();
    const { redactor } = this.parent.host;
    const message = redactor.redact(built);
    this.#begun.add(about.id);
    this.#begunAgents.add(agent.name);
    const runId = attempt === 0 ? about.id : this.idFor(origin, attempt);
    // What a run was given whole it has read.
    for (const { path, version } of files) if (version !== undefined) noteSeen(runId, path, version);
    return this.parent.host.runChild({
      session: this.parent.session,
      parent: this.parent,
      profile,
      runId,
      attempt,
      taskId: origin.taskId,
      task: request.task,
      message,
      tainted: isUntrusted || results.some((result) => result.tainted),
      privateData: results.some((result) => result.private_data) || (request.contextFiles ?? []).length > 0,
      contextMode: context,
      callId: origin.callId,
      parentRowId: origin.rowId,
      deliverables: redactor.redactJson([...agent.deliverables, ...(request.deliverables ?? [])]),
      limits: request.limits,
      byProgram,
      cwd,
      criteria: request.successCriteria && redactor.redact(request.successCriteria),
    });
  }

  /** What a child is given: rights, tools and prompt, and its first message. */
  async #prepare(
    request: DelegationRequest,
    {
      agent,
      origin,
      needed,
      context,
    }: { agent: Agent; origin: Origin; needed: readonly RunResult[]; context: ContextMode },
  ) {
    const { parent } = this;
    const { workplace, guards, untrusted } = parent.host;
    const profile = await this.#profile(agent, request, origin);
    const results = [
      ...needed,
      ...(request.fromResults ?? []).flatMap((id) => this.delegations.resultOf(id) ?? []),
    ];
    const cwd = request.cwd === undefined ? undefined : await workplace.findFolder(this.parent, request.cwd);
    const files = await readContextFiles(this, profile, request.contextFiles ?? []);
    if (files.some(({ path }) => !isBelow(path, parent.workspaceDir))) parent.session.projectText.enter();
    const built = await childMessage({ children: this, request, profile, context, results, files });
    const isUntrusted = guards.taintsReader(await untrusted.hold(files.map(({ path }) => path)));
    return { profile, results, cwd, files, built, isUntrusted };
  }

  /** A summary of the parent's conversation, made once per turn and shared by everything begun in it. */
  summary(): Promise<string> {
    const { parent } = this;
    if (this.#summary?.turn !== parent.turn)
      this.#summary = { turn: parent.turn, text: summarise(parent, parent.history) };
    return this.#summary.text;
  }

  /** Waits until one or all of some delegations have ended, or something else has happened. */
  async untilEnded(
    some: readonly Delegation[],
    enough: "one" | "all",
    orUntil: readonly Promise<unknown>[] = [],
  ): Promise<void> {
    await this.waiting(this.parent.host.pace.untilEnded(this.parent, some, enough, orUntil));
  }

  /** Waits for a promise while the parent holds no slot. */
  waiting<Value>(promise: Promise<Value>): Promise<Value> {
    return waitFor(this.parent, "children", promise);
  }

  #profile(agent: Agent, request: DelegationRequest, { byProgram }: Origin): Promise<Profile> {
    const make = () =>
      createProfile(this.parent.session, {
        agent,
        parent: this.parent,
        tools: request.tools,
        limits: request.limits,
        cwd: request.cwd,
        byProgram,
      });
    if (request.tools || request.limits || request.cwd !== undefined) return make();
    // A prompt that tells the time is another one every minute.
    const minute = Math.floor(this.parent.host.clock.wallMs() / 60_000);
    const key = agent.prompt.includes("{{now}}") ? `${agent.name} ${minute}` : agent.name;
    let profile = this.#profiles.get(key);
    if (!profile) {
      profile = make();
      this.#profiles.set(key, profile);
    }
    return profile;
  }
}

function cancelled(message: string): Interruption {
  return { status: "cancelled", bailout: "cancelled", message };
}

/** Goes on in place with a child run that was open when the process ended, with all that it had been given. */
async function goOnWith(
  node: MessageNode,
  { parent, byProgram }: { parent: Run; byProgram: boolean | undefined },
): Promise<RunResult> {
  const { session } = parent;
  const { task, attempt, deliverables, limits, taskId, cwd, criteria } = metadataOf(node);
  const message = node.request_content ?? "";
  const profile = await restoreProfile(session.host, node, parent);
  return session.host.runChild({
    session,
    parent,
    profile: { ...profile, chain: [...profile.chain, ...session.base] },
    runId: node.run_id,
    attempt: Number(attempt),
    task: typeof task === "string" ? task : message,
    message,
    callId: node.call_id,
    parentRowId: node.parent_message_id,
    deliverables: (deliverables as Deliverable[] | undefined) ?? [],
    limits: limits as Limits | undefined,
    byProgram,
    taskId: taskId as string | undefined,
    cwd: cwd as string | undefined,
    criteria: criteria as string | undefined,
    resume: node,
  });
}
