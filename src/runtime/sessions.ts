import { Gate } from "../scheduler/gate.ts";
import type { Agent, Deliverable, Limits } from "../schema/agent.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import type { RunResult, RunStatus } from "../schema/result.ts";
import { createId } from "./create-id.ts";
import { findAgent, isAgent } from "./delegation/find-agent.ts";
import type { LiveRun, Session } from "./host.ts";
import { adoptSession, openSession, type SessionMaker } from "./open-session.ts";
import { pastOf } from "./record/fork-run.ts";
import { isClosed, metadataOf, resultOfRow, spentIn } from "./record/read-row.ts";
import { failedResult } from "./runs/failed-result.ts";
import { createProfile, type Profile, restoreProfile } from "./runs/profile.ts";
import type { SpawnRequest } from "./runs/spawn-request.ts";
import { cancelTree, spawnRun } from "./runs/spawn-run.ts";
import type { RunHandle, RunRequest } from "./runtime.ts";

type Outcome<Value> = { status: RunStatus; value: Value };

/** The sessions that are open in this process, and how they begin, go on and end. */
export class Sessions {
  readonly #maker: SessionMaker;
  readonly #open = new Map<string, Session>();
  /** Sessions that have not yet handed over their last row. */
  readonly #endings = new Set<Promise<void>>();
  #closed = false;

  constructor(maker: SessionMaker) {
    this.#maker = maker;
  }

  /** A live run of any session. */
  find(runId: string): LiveRun | undefined {
    for (const session of this.#open.values()) {
      const live = session.live.get(runId);
      if (live) return live;
    }
    return undefined;
  }

  /** Ends a session and lets nothing more begin in it; false if it is not open here. */
  cancel(sessionId: string, message: string): boolean {
    const session = this.#open.get(sessionId);
    if (!session) return false;
    session.stopped = true;
    this.#maker.host.store.updateSession(sessionId, { status: "cancelled" });
    for (const live of session.live.values()) if (!live.parent) cancelTree(live, message);
    return true;
  }

  /** Starts a task in a session of its own. What a person must fix is thrown before anything is recorded. */
  async start(request: RunRequest): Promise<RunHandle> {
    const agent = this.#agentOf(request);
    await this.#maker.host.resolveModel(request.model ?? agent.model, null, agent);
    return this.#handle((started) =>
      this.#within(
        () => openSession(this.#maker, request.task),
        async (session) => {
          const handle = await this.#begin(session, request);
          started(handle);
          const value = await handle.result;
          return { status: value.status, value };
        },
      ),
    );
  }

  /** Runs several tasks in one session; an exception becomes a failed result. */
  fanOut(
    tasks: readonly (readonly [agent: string, task: string])[],
    maxConcurrent: number,
  ): Promise<RunResult[]> {
    const gate = new Gate(maxConcurrent);
    return this.#within(
      () => openSession(this.#maker, `${tasks.length} tasks at once`),
      async (session) => {
        const one = async ([agent, task]: readonly [string, string]) =>
          (await this.#begin(session, { agent, task })).result;
        const failed = (agent: string, thrown: unknown) =>
          failedResult(
            { runId: createId("run"), sessionId: session.id, agent },
            { type: "failed", message: session.ports.redactor.redact(messageOf(thrown)), recoverable: false },
          );
        const value = await Promise.all(
          tasks.map((task) => gate.run(() => one(task)).catch((thrown) => failed(task[0], thrown))),
        );
        return { status: value.every((result) => result.success) ? "completed" : "failed", value };
      },
    );
  }

  /** Goes on with the open root run of a recorded session, in its own rows. Nothing changes if it cannot. */
  async resume(sessionId: string): Promise<RunHandle> {
    const { host } = this.#maker;
    const row = host.store.findSession(sessionId);
    if (this.#open.has(row.session_id)) throw inUse(row);
    if (row.status !== "running") throw endedAlready(row);
    const release = host.store.takeLease(row.session_id);
    try {
      const roots = host.store.tree(row.session_id);
      const root = roots.find((node) => !isClosed(node));
      if (!root) return await this.#endLate(row, roots).finally(release);
      if (roots.length > 1) throw severalRoots(row);
      return await this.#goOn({ row, root, release, profile: await restoreProfile(host, root, null) });
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  #goOn({ row, root, release, profile }: Continued): Promise<RunHandle> {
    return this.#handle((started) =>
      this.#within(
        () => adoptSession(this.#maker, row, release),
        async (session) => {
          charge(session, [root]);
          const result = spawnRun(this.#maker.host, requestOf(session, root, profile));
          started({ sessionId: session.id, runId: root.run_id, result });
          const value = await result;
          return { status: value.status, value };
        },
      ),
    );
  }

  /** A session whose process ended between its last run's row and its own: only that is left to write. */
  async #endLate(row: SessionRow, roots: readonly MessageNode[]): Promise<RunHandle> {
    const { store } = this.#maker.host;
    const last = roots.at(-1);
    store.endSession(row.session_id, last?.status ?? "failed");
    await store.committed();
    if (!last) throw endedAlready({ ...row, status: "failed" });
    return { sessionId: row.session_id, runId: last.run_id, result: Promise.resolve(resultOfRow(last)) };
  }

  /** Ends everything that is open or about to be; what is left to write is the store's. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const sessionId of this.#open.keys()) this.cancel(sessionId, "the runtime was closed");
    await Promise.all(this.#endings);
  }

  #agentOf(request: RunRequest): Agent {
    const agent = findAgent(this.#maker.host.registry, request.agent, null);
    if (isAgent(agent)) return agent;
    throw new RetinueError("input", agent.message, "see them with: retinue agents list");
  }

  async #begin(session: Session, request: RunRequest): Promise<RunHandle> {
    const { host } = this.#maker;
    if (session.stopped) throw new RetinueError("failed", "the session was stopped before this task began");
    const agent = this.#agentOf(request);
    const { tools, limits, model } = request;
    const profile = await createProfile(host, { agent, session, parent: null, tools, limits, model });
    const runId = createId("run");
    const message = session.ports.redactor.redact(request.task);
    const deliverables = [...agent.deliverables, ...(request.deliverables ?? [])];
    const root = { session, parent: null, callId: null, parentRowId: null, attempt: 0 };
    const past = request.fork ? pastOf(host.store, request.fork) : undefined;
    const result = spawnRun(host, {
      ...root,
      profile,
      runId,
      task: message,
      message,
      deliverables,
      limits,
      past,
    });
    return { sessionId: session.id, runId, result };
  }

  /** Gives the handle as soon as the run has begun; its result is the whole session's. */
  #handle(begin: (started: (handle: RunHandle) => void) => Promise<RunResult>): Promise<RunHandle> {
    const { promise, resolve, reject } = Promise.withResolvers<RunHandle>();
    const whole = begin((handle) => resolve({ ...handle, result: whole }));
    whole.catch(reject);
    return promise;
  }

  async #within<Value>(
    opening: () => Promise<Session>,
    work: (session: Session) => Promise<Outcome<Value>>,
  ): Promise<Value> {
    if (this.#closed) throw new RetinueError("failed", "the runtime is closed");
    const { promise: ending, resolve: ended } = Promise.withResolvers<void>();
    this.#endings.add(ending);
    try {
      return await this.#workIn(await opening(), work, ended);
    } finally {
      ended();
      this.#endings.delete(ending);
    }
  }

  async #workIn<Value>(
    session: Session,
    work: (session: Session) => Promise<Outcome<Value>>,
    ended: () => void,
  ): Promise<Value> {
    const { store } = this.#maker.host;
    this.#open.set(session.id, session);
    session.stopped = this.#closed;
    let status: RunStatus = "failed";
    try {
      const done = await work(session);
      status = done.status;
      return done.value;
    } finally {
      this.#open.delete(session.id);
      store.endSession(session.id, session.stopped ? "cancelled" : status);
      ended();
      await store.committed();
      session.release();
      session.ports.emit(session.id, { type: "session.ended", status });
    }
  }
}

/** A recorded session that can go on. */
type Continued = { row: SessionRow; root: MessageNode; release: () => void; profile: Profile };

function requestOf(session: Session, node: MessageNode, profile: Profile): SpawnRequest {
  const { deliverables, limits } = metadataOf(node);
  const message = node.request_content ?? "";
  return {
    session,
    parent: null,
    profile: { ...profile, chain: [...profile.chain, ...session.base] },
    runId: node.run_id,
    task: message,
    message,
    callId: null,
    parentRowId: null,
    attempt: 0,
    deliverables: (deliverables as Deliverable[] | undefined) ?? [],
    limits: limits as Limits | undefined,
    resume: node,
  };
}

/** All that a session has spent before counts against its budget now. */
function charge(session: Session, roots: readonly MessageNode[]): void {
  for (const root of roots) {
    const spent = spentIn(root);
    session.account.charge(spent.tokens, spent.costUsd);
    session.account.spawns += spent.runs;
  }
}

function endedAlready(row: SessionRow): RetinueError {
  const hint = "start a new one with: retinue run";
  if (row.status === "cancelled")
    return new RetinueError("input", `session ${row.session_id} was stopped, and stays stopped`, hint);
  return new RetinueError(
    "input",
    `session ${row.session_id} has ended (${row.status}); there is nothing to resume`,
    hint,
  );
}

function inUse(row: SessionRow): RetinueError {
  return new RetinueError("input", `session ${row.session_id} is being worked on in this process`);
}

function severalRoots(row: SessionRow): RetinueError {
  const message = `session ${row.session_id} has several tasks at once, which cannot be resumed together`;
  return new RetinueError(
    "input",
    message,
    "start the tasks that did not end again; see them with: retinue trace",
  );
}
