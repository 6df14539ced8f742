import { requireAgent } from "../agents/registry.ts";
import { type Clock, delay } from "../budget/clock.ts";
import { Gate } from "../budget/gate.ts";
import { recordUnstarted } from "../delegate/record-run.ts";
import { resolveLimits, resolveTools } from "../delegate/resolve-tools.ts";
import { checkTools, type ReadTask } from "../delegate/spawn-options.ts";
import { readTree } from "../record/read-tree.ts";
import { LEASE_MS, SessionTaken } from "../record/record.ts";
import { toolsLayer } from "../rights/layers.ts";
import type { Lease } from "../run/ports.ts";
import type { Host, Run, Session } from "../run/run.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import { failedResult, unstartedResult } from "../schema/failed-result.ts";
import { AT_LEAST_ONE, checkNumber } from "../schema/number-range.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import { adoptSession, baseLayers, openSession } from "./open-session.ts";
import { OpenSessions, type Outcome } from "./open-sessions.ts";
import { beginRoot, continueRoot, type RootRequest } from "./root-run.ts";
import {
  type FanOut,
  fanOutOf,
  newTasks,
  type RootTask,
  recordedTasks,
  restoreSession,
  statusOf,
} from "./root-tasks.ts";
import { takeLease } from "./take-lease.ts";

/** A run under way. */
export type RunHandle = { sessionId: string; runId: string; result: Promise<RunResult> };

/**
 * A session that continues. `results` are those of all its tasks, in their order; `result` is that of the first which was
 * open. Both are there when the whole session is over.
 */
export type ResumedHandle = RunHandle & { results: Promise<readonly RunResult[]> };

const LOOK_MS = 1_000;

/** How sessions begin and go on. */
export class Sessions {
  readonly #host: Host;
  readonly #open: OpenSessions;

  constructor(host: Host) {
    this.#host = host;
    this.#open = new OpenSessions(host);
  }

  /** A live run of any session. */
  find(runId: string): Run | undefined {
    return this.#open.find(runId);
  }

  /** Ends a session and lets nothing more begin in it; false if it is not open here. */
  cancel(sessionId: string, message: string): boolean {
    return this.#open.cancel(sessionId, message);
  }

  /** Ends everything that is open or about to be; what is left to write is the store's. */
  close(): Promise<void> {
    return this.#open.close();
  }

  /** Leaves everything that is open as it is on disk, to be resumed later, once calls under way had `graceMs` to end. */
  leave(graceMs: number): Promise<void> {
    const { clock, slots } = this.#host;
    return this.#open.leave(graceMs > 0 ? within(clock, graceMs, slots.drain()) : undefined);
  }

  /** The ids of the root runs that are alive in a session; null if it is not open here. */
  liveRoots(sessionId: string): readonly string[] | null {
    const session = this.#open.get(sessionId);
    if (!session) return null;
    return [...session.live.values()].flatMap(({ runId, parent }) => (parent ? [] : [runId]));
  }

  /** Starts a task in a session of its own. What a person must fix is thrown before anything is recorded. */
  async start(request: RootRequest): Promise<RunHandle> {
    const host = this.#host;
    resolveLimits(host, "limits", request.limits);
    const agent = request.leader ?? requireAgent(host.registry, request.agent);
    await host.resolveModel(request.model ?? agent.model, null, agent);
    if (request.tools !== undefined) {
      checkTools("tools", request.tools);
      const chain = [...baseLayers(host), toolsLayer(agent, host.homeDir)];
      resolveTools(host, { agent, chain }, request.tools);
    }
    const earlier = request.session === undefined ? null : await this.#takeUp(request.session);
    return handleOf((started) =>
      this.#open.within(
        () => (earlier ? earlier.open() : openSession(this.#host, request.task)),
        async (session) => {
          await request.onSession?.(session.id);
          const root = await beginRoot(session, { ...request, ...earlier?.more });
          await root.begun;
          started({ sessionId: session.id, runId: root.runId });
          const value = await root.result;
          return { status: value.status, value };
        },
      ),
    );
  }

  /** A session whose tasks have ended, to be opened once more for another that continues its conversation. */
  async #takeUp(
    sessionId: string,
  ): Promise<{ open: () => Promise<Session>; more: Pick<RootRequest, "fork"> }> {
    const { record } = this.#host;
    const found = await record.findSession(sessionId);
    if (this.#open.has(found.session_id)) throw inUse(found);
    if (found.status === "running") throw stillOpen(found, await record.findHolder(found.session_id));
    if (fanOutOf(found)) throw noConversation(found);
    const lease = await takeLease(record, found.session_id);
    // Another process may have begun a task in the meantime, and died.
    const row = await record.findSession(found.session_id);
    if (row.status === "running") {
      lease.release();
      throw stillOpen(row, null);
    }
    const roots = await readTree(record, row.session_id);
    const open = async () => {
      const session = await adoptSession(this.#host, row, lease);
      await restoreSession(session, roots, { isFanOut: false });
      await record.forgetStops(row.session_id);
      await record.write({
        kind: "session.update",
        sessionId: row.session_id,
        change: { status: "running" },
      });
      return session;
    };
    const fork = { sessionId: row.session_id, seq: Number.MAX_SAFE_INTEGER };
    return {
      open: () =>
        open().catch((thrown) => {
          lease.release();
          throw thrown;
        }),
      more: roots.length > 0 ? { fork } : {},
    };
  }

  /** Runs several tasks in one session; an exception becomes a failed result. */
  async fanOut(given: readonly ReadTask[], maxConcurrent: number): Promise<RunResult[]> {
    checkNumber("maxConcurrent", maxConcurrent, AT_LEAST_ONE);
    const host = this.#host;
    for (const [index, { limits }] of given.entries()) resolveLimits(host, `tasks[${index}].limits`, limits);
    const tasks = given.map(({ agent, task, ...options }) =>
      Object.keys(options).length > 0 ? ([agent, task, options] as const) : ([agent, task] as const),
    );
    const fanOut: FanOut = { tasks: host.redactor.redactJson(tasks), maxConcurrent };
    return this.#open.within(
      () => openSession(this.#host, `${tasks.length} tasks at once`, { fanOut }),
      (session) => this.#workThrough(session, newTasks(fanOut), maxConcurrent),
    );
  }

  /** Goes on with everything that is open in a recorded session, in its own rows. Nothing changes if it cannot. */
  async resume(sessionId: string): Promise<ResumedHandle> {
    const host = this.#host;
    const row = await host.record.findSession(sessionId);
    if (this.#open.has(row.session_id)) throw inUse(row);
    if (row.status !== "running") throw endedAlready(row);
    const lease = await this.#leaseOf(row.session_id);
    try {
      // Another process may have finished it before this one had the lease.
      const now = await host.record.findSession(row.session_id);
      if (now.status !== "running") throw endedAlready(now);
      const roots = await readTree(host.record, row.session_id);
      const tasks = await recordedTasks(host, row, roots);
      const first = tasks.findIndex((task) => task.kind !== "ended");
      if (first < 0) return await this.#endLate(row, tasks).finally(lease.release);
      return await this.#goOn({ row, roots, lease, tasks, first });
    } catch (thrown) {
      lease.release();
      throw thrown;
    }
  }

  /** Takes a session; of a holder that only its silence can tell to be dead, the silence is waited for. */
  async #leaseOf(sessionId: string): Promise<Lease> {
    const host = this.#host;
    const untilMs = host.clock.monotonicMs() + 2 * LEASE_MS;
    while (true) {
      try {
        return await takeLease(host.record, sessionId);
      } catch (thrown) {
        const mayEnd =
          thrown instanceof SessionTaken && thrown.isElsewhere && host.clock.monotonicMs() < untilMs;
        if (!mayEnd) throw thrown;
        await delay(host.clock, LOOK_MS, new AbortController().signal);
      }
    }
  }

  async #goOn({ row, roots, lease, tasks, first }: Continued): Promise<ResumedHandle> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const results = this.#open.within(
      () => adoptSession(this.#host, row, lease),
      async (session) => {
        const fanOut = fanOutOf(row);
        await restoreSession(session, roots, { isFanOut: fanOut !== undefined });
        begin();
        return this.#workThrough(session, tasks, fanOut?.maxConcurrent ?? tasks.length);
      },
    );
    await Promise.race([begun, results]);
    return resumedHandle(row.session_id, tasks[first], results, first);
  }

  /** Works on all tasks, so many at once; results in the order of the tasks. */
  async #workThrough(
    session: Session,
    tasks: readonly RootTask[],
    maxConcurrent: number,
  ): Promise<Outcome<RunResult[]>> {
    const gate = new Gate(Math.max(1, maxConcurrent));
    const value = await Promise.all(
      tasks.map((task) => {
        if (task.kind === "ended") return task.result;
        return gate.run(() => this.#work(session, task)).catch((thrown) => neverBegan(session, task, thrown));
      }),
    );
    return { status: statusOf(value), value };
  }

  async #work(session: Session, task: Exclude<RootTask, { kind: "ended" }>): Promise<RunResult> {
    if (task.kind === "open") return continueRoot(session, task).result;
    const { agent, task: words, tools, limits } = task;
    const request = { agent, task: words, ...(tools && { tools }), ...(limits && { limits }) };
    return (await beginRoot(session, request, task)).result;
  }

  /** A session whose process ended between its last run's row and its own: only that is left to write. */
  async #endLate(row: SessionRow, tasks: readonly RootTask[]): Promise<ResumedHandle> {
    const { record } = this.#host;
    const results = tasks.flatMap((task) => (task.kind === "ended" ? [task.result] : []));
    const isEmpty = tasks.length === 0 && !fanOutOf(row);
    const status = isEmpty ? "failed" : statusOf(results);
    await record.write({ kind: "session.update", sessionId: row.session_id, change: { status: status } });
    await record.committed();
    if (tasks.length === 0) throw endedAlready({ ...row, status });
    return resumedHandle(row.session_id, tasks.at(-1), Promise.resolve(results), tasks.length - 1);
  }
}

/** Waits for something, but no longer than so long. */
function within(clock: Clock, limitMs: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const stop = clock.timer(limitMs, resolve);
    void work.then(() => {
      stop();
      resolve();
    });
  });
}

/** A recorded session that can go on. */
type Continued = {
  row: SessionRow;
  roots: readonly MessageNode[];
  lease: Lease;
  tasks: readonly RootTask[];
  /** The first task that has not ended. */
  first: number;
};

/** Gives the handle as soon as the run has begun; its result is the whole session's. */
function handleOf(
  begin: (started: (handle: Omit<RunHandle, "result">) => void) => Promise<RunResult>,
): Promise<RunHandle> {
  const { promise, resolve, reject } = Promise.withResolvers<RunHandle>();
  const whole = begin((handle) => resolve({ ...handle, result: whole }));
  whole.catch(reject);
  return promise;
}

function resumedHandle(
  sessionId: string,
  task: RootTask | undefined,
  results: Promise<RunResult[]>,
  index: number,
): ResumedHandle {
  const result = results.then((all) => {
    const one = all[index];
    if (!one) throw new RetinueError("failed", `session ${sessionId} has no task ${index}`);
    return one;
  });
  // The caller that waits for one of the two learns of a failure; the other must not end the process.
  result.catch(() => {});
  results.catch(() => {});
  return { sessionId, runId: task?.runId ?? "", result, results };
}

/** The result of a task that could not begin, for which a new one gets a row. */
function neverBegan(
  session: Session,
  task: Exclude<RootTask, { kind: "ended" }>,
  thrown: unknown,
): RunResult {
  const agent = task.kind === "new" ? task.agent : (task.node.agent_role ?? "");
  const about = { runId: task.runId, sessionId: session.id, agent };
  const message = session.host.redactor.redact(messageOf(thrown));
  const result = session.stop
    ? unstartedResult(about, session.stop.message)
    : failedResult(about, { type: "failed", message, recoverable: false });
  if (task.kind === "new")
    recordUnstarted({ session, parent: null, origin: { taskId: task.taskId }, task: task.task, result });
  return result;
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

function stillOpen(row: SessionRow, holder: string | null): RetinueError {
  if (holder) return new SessionTaken(row.session_id, holder);
  return new RetinueError(
    "input",
    `session ${row.session_id} has not ended: its process was stopped in the middle of a task`,
    `finish it first with: retinue resume ${row.session_id}`,
  );
}

function noConversation(row: SessionRow): RetinueError {
  return new RetinueError(
    "input",
    `session ${row.session_id} ran several tasks at once; it has no one conversation to go on with`,
    "begin a new session",
  );
}
