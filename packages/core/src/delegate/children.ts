import { stat } from "node:fs/promises";
import { delay } from "../budget/clock.ts";
import { Gate } from "../budget/gate.ts";
import { isBelow } from "../files/is-below.ts";
import { pathTarget } from "../files/resolve-path.ts";
import { noteSeen } from "../files/seen-files.ts";
import type { NewChild } from "../run/ports.ts";
import type { Interruption } from "../run/run-spec.ts";
import { summarise } from "../run/summarise.ts";
import { waitFor } from "../run/wait-for.ts";
import {
  type Agent,
  type ContextMode,
  type ExecutionMode,
  type Limits,
  toContextMode,
} from "../schema/agent.ts";
import type { DelegationRequest } from "../schema/delegation.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import { createId } from "../session/create-id.ts";
import type { Host, LiveRun } from "../session/host.ts";
import { isClosed, metadataOf, recordedMoment, resultOfRow } from "../session/read-row.ts";
import { childMessage, readContextFiles } from "./child-message.ts";
import { type Delegation, Delegations } from "./delegations.ts";
import { EarlierAttempts, type Origin, originOf } from "./earlier-attempts.ts";
import { failedResult } from "./failed-result.ts";
import { findAgent, isAgent } from "./find-agent.ts";
import { goOnWith } from "./go-on-with.ts";
import { cancelTree } from "./interrupt-tree.ts";
import { createProfile, type Profile } from "./profile.ts";
import { recordUnstarted } from "./record-run.ts";

/** What ends the children of a run that begins its last report. */
export const PARENT_AT_LIMIT = "its parent reached a limit";

/** The children of one run: how many at once, what they share, and which of them the parent has heard of. */
export class Children {
  readonly host: Host;
  readonly parent: LiveRun;
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

  constructor(host: Host, parent: LiveRun, profile: Profile, earlier = new EarlierAttempts()) {
    this.host = host;
    this.parent = parent;
    const { recorded } = parent.session.ports;
    this.delegations = new Delegations(
      () => parent.run.turn,
      recorded && ((delegation) => recorded.untilTold(parent.run, delegation)),
    );
    this.#earlier = earlier;
    this.#begunAgents = new Set([...earlier.all()].flatMap((rows) => rows[0]?.agent_role ?? []));
    this.delegates = profile.delegates;
    this.mode = profile.agent.subagents?.execution ?? "parallel";
    this.#gate = new Gate(this.mode === "sequential" ? 1 : (profile.agent.subagents?.maxConcurrent ?? 5));
  }

  /** Ends the children that run and lets no further one begin; in a replay each comes to its own recorded end. */
  stop(message: string): void {
    const { recorded } = this.parent.session.ports;
    recorded?.tellAll(this.parent.run);
    if (recorded) return;
    this.#stopped = message;
    for (const kid of this.parent.kids) cancelTree(kid, message);
  }

  /** What ends a child that comes to life only after its siblings were stopped; null if they were not. */
  get stopping(): Interruption | null {
    const message = this.#stopped;
    return message === null ? null : { status: "cancelled", bailout: "cancelled", message };
  }

  /** The agent that a request names, or why it cannot run here. */
  find(name: string): Agent | RunError {
    return findAgent(this.host.registry, name, this.parent.run.spec.agent, this.delegates);
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
    const message = `${this.parent.run.spec.agent.name} may not delegate to '${found.name}'; available: ${this.#listDelegates()}`;
    return { type: "not_allowed", message, recoverable: false };
  }

  #listDelegates(): string {
    return this.delegates.map(({ name }) => name).join(", ") || "none";
  }

  /** Looks at depth and circles before anything is begun. */
  admit(child: Agent): RunError | null {
    const { agent, ancestors, depth, maxDepth } = this.parent.run.spec;
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

  /** The id of a delegation, or of another attempt of it: the recorded one in a replay or after a crash, or a new one. */
  idFor(origin: Pick<Origin, "callId" | "taskId">, attempt = 0): string {
    const { run, session } = this.parent;
    const recorded = session.ports.recorded?.childId(run, { ...origin, attempt });
    return recorded ?? this.#earlier.of(origin)[attempt]?.run_id ?? createId("run");
  }

  /** Begins one delegation behind the limit; it goes on whether or not anyone waits. */
  start(request: DelegationRequest, origin: Origin, id = this.idFor(origin)): Delegation {
    const done = this.#gate.run(() => this.delegate(id, request, origin));
    const { agent, task } = request;
    return this.delegations.track({ id, agent, task, callId: origin.callId }, done);
  }

  /** Begins a child for a program, which gets its result itself; the signal ends it, begun or not. */
  startFor(request: DelegationRequest, { id, callId, rowId, signal }: NewChild): Promise<RunResult> {
    const cancel = () => {
      for (const kid of this.parent.kids)
        if (kid.run.spec.callId === callId) cancelTree(kid, String(signal.reason));
    };
    signal.addEventListener("abort", cancel, { once: true });
    const unlessStopped = async () => {
      const error = { type: "cancelled", message: String(signal.reason), recoverable: false } as const;
      const about = { runId: id, sessionId: this.parent.session.id, agent: request.agent };
      return signal.aborted
        ? failedResult(about, error)
        : this.delegate(id, request, { callId, rowId, byProgram: true });
    };
    const done = this.#gate.run(unlessStopped).finally(() => signal.removeEventListener("abort", cancel));
    const { agent, task } = request;
    return this.delegations.track({ id, agent, task, callId }, done, true).done;
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
    const { run, session } = this.parent;
    const { redactor } = session.ports;
    const failed = (error: RunError) =>
      failedResult(
        { runId: id, sessionId: session.id, agent: request.agent },
        { ...error, message: redactor.redact(error.message) },
      );
    const begins = session.ports.recorded?.begins(run, { ...origin, attempt: 0 }, request.agent);
    const stopped = begins ? null : (run.interruption?.message ?? this.#stopped);
    if (stopped !== null || begins === false)
      return failed({ type: "cancelled", message: stopped ?? PARENT_AT_LIMIT, recoverable: false });
    const found = this.find(request.agent);
    if (!isAgent(found)) return failed(found);
    const refusal = this.admit(found);
    if (refusal) return failed(refusal);
    try {
      for (let attempt = 0; ; attempt++) {
        const earlier = this.#earlier.of(origin)[attempt];
        const began = earlier ? recordedMoment(earlier.opened_seq) : session.ports.clock.monotonicMs();
        const result = await this.#attempt({ id, attempt, agent: found }, request, origin, needed);
        const { attempts, on, backoffMs } = found.retry;
        this.delegations.keep({ result, began, ended: session.ports.clock.monotonicMs() });
        const ended = result.status === "cancelled" || run.interruption || this.#stopped !== null;
        const again = attempt < attempts && result.error && on.includes(result.error.type);
        if (!again || this.#hasActed(found, result)) return result;
        const next = { ...origin, attempt: attempt + 1 };
        if (!(session.ports.recorded?.begins(run, next, found.name) ?? !ended)) return result;
        await delay(session.ports.clock, result.error?.retryAfterMs ?? backoffMs * 2 ** attempt, run.signal);
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
    const flow = this.host.flows[name];
    return tools_used.some((used) => {
      const tool = this.host.tools.get(used);
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
    if (earlier) return goOnWith(earlier, { parent: this.parent, byProgram }, this.host);
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
    const { redactor, recorded } = this.parent.session.ports;
    const message = redactor.redact(built);
    this.#begun.add(about.id);
    this.#begunAgents.add(agent.name);
    const runId = attempt === 0 ? about.id : this.idFor(origin, attempt);
    // What a run was given whole it has read.
    for (const { path, version } of files) if (version !== undefined) noteSeen(runId, path, version);
    return this.host.runChild({
      session: this.parent.session,
      parent: this.parent,
      profile,
      runId,
      attempt,
      taskId: origin.taskId,
      task: request.task,
      message: recorded?.message(this.parent.run, { ...origin, attempt }, message) ?? message,
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
    const profile = await this.#profile(agent, request, origin);
    const results = [
      ...needed,
      ...(request.fromResults ?? []).flatMap((id) => this.delegations.resultOf(id) ?? []),
    ];
    const cwd = request.cwd === undefined ? undefined : await folderInside(this.parent, request.cwd);
    const files = await readContextFiles(this, profile, request.contextFiles ?? []);
    const { workspaceDir } = this.parent.run.spec;
    if (files.some(({ path }) => !isBelow(path, workspaceDir))) this.parent.session.ports.projectText.enter();
    const built = await childMessage({ children: this, request, profile, context, results, files });
    const paths = files.map(({ path }) => path);
    const { recorded } = this.parent.session.ports;
    const isUntrusted = !recorded && this.host.guards.taintsReader(await this.host.untrusted.hold(paths));
    return { profile, results, cwd, files, built, isUntrusted };
  }

  /** A summary of the parent's conversation, made once per turn and shared by everything begun in it. */
  summary(): Promise<string> {
    const { run, session } = this.parent;
    if (this.#summary?.turn !== run.turn)
      this.#summary = { turn: run.turn, text: summarise(run, run.history, session.ports) };
    return this.#summary.text;
  }

  /**
   * Waits until one or all of some delegations have ended, or something else has happened. In a replay those are waited
   * for of which the parent was told then.
   */
  async untilEnded(
    some: readonly Delegation[],
    enough: "one" | "all",
    orUntil: readonly Promise<unknown>[] = [],
  ): Promise<void> {
    const { run, session } = this.parent;
    const { recorded } = session.ports;
    const told = recorded ? some.filter((one) => recorded.isTold(run, one)) : some;
    const ends: Promise<unknown>[] = told.map((one) => one.done);
    const all = recorded !== null || enough === "all";
    await this.waiting<unknown>(all ? Promise.all(ends) : Promise.race([...ends, ...orUntil]));
  }

  /** Waits for a promise while the parent holds no slot. */
  waiting<Value>(promise: Promise<Value>): Promise<Value> {
    return waitFor(this.parent.run, "children", this.parent.session.ports, promise);
  }

  #profile(agent: Agent, request: DelegationRequest, { byProgram }: Origin): Promise<Profile> {
    const make = () =>
      createProfile(this.host, {
        agent,
        session: this.parent.session,
        parent: this.parent,
        tools: request.tools,
        limits: request.limits,
        cwd: request.cwd,
        byProgram,
      });
    if (request.tools || request.limits || request.cwd !== undefined) return make();
    // A prompt that tells the time is another one every minute.
    const minute = Math.floor(this.parent.session.ports.clock.wallMs() / 60_000);
    const key = agent.prompt.includes("{{now}}") ? `${agent.name} ${minute}` : agent.name;
    let profile = this.#profiles.get(key);
    if (!profile) {
      profile = make();
      this.#profiles.set(key, profile);
    }
    return profile;
  }
}

/** A folder of the project, relative to it, that a child's paths may begin in. */
async function folderInside({ run, session }: LiveRun, cwd: string): Promise<string> {
  if (session.ports.recorded) return cwd;
  const target = await pathTarget(cwd, "read", run.spec);
  const isFolder =
    target.kind === "path" &&
    target.root === "project" &&
    (await stat(target.path).then(
      (found) => found.isDirectory(),
      () => false,
    ));
  if (isFolder && target.kind === "path") return target.relative;
  throw new RetinueError("input", `cwd must be a folder of the project, not ${JSON.stringify(cwd)}`);
}
