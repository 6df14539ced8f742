import { type AgentRegistry, requireAgent } from "../agents/registry.ts";
import {
  readSpawnOptions,
  readSpawnTask,
  refuseOthers,
  type SpawnOptions,
  type SpawnTask,
} from "../delegate/spawn-options.ts";
import { createHost, type RuntimeInternals, type RuntimeOptions } from "../host/create-host.ts";
import type { Listener } from "../host/event-bus.ts";
import { type ExecuteOptions, type PlanOptions, Plans } from "../plan/plans.ts";
import type { Record } from "../record/record.ts";
import type { ReplayReport } from "../replay/replay-session.ts";
import { parseRules } from "../rights/rule.ts";
import type { ApprovalAnswer } from "../run/ports.ts";
import type { Run } from "../run/run.ts";
import { AMOUNT, checkNumber } from "../schema/number-range.ts";
import type { ExecutionPlan, PlanResult } from "../schema/plan.ts";
import type { RunResult } from "../schema/result.ts";
import type { ProgramSession, SessionOptions } from "../session/program-session.ts";
import type { RunRequest } from "../session/root-run.ts";
import { type ResumedHandle, type RunHandle, Sessions } from "../session/sessions.ts";

/** Runs agents, lets them delegate, and keeps the record. */
export type Runtime = {
  readonly agents: AgentRegistry;
  readonly record: Record;
  /** Starts a task in a session of its own, or continues one that has ended as a conversation. */
  start(request: RunRequest): Promise<RunHandle>;
  /** Runs a task to its result. */
  run(request: RunRequest): Promise<RunResult>;
  /** Runs one agent on one task. */
  spawn(agent: string, task: string, options?: SpawnOptions): Promise<RunResult>;
  /** Runs several tasks at once; results in the order of the tasks, an exception becomes a failed result. */
  fanOut(tasks: readonly SpawnTask[], options?: { maxConcurrent?: number }): Promise<RunResult[]>;
  /** Opens a session that the program leads: what it starts there is one tree, with one budget and one trace. */
  openSession(options?: SessionOptions): Promise<ProgramSession>;
  /** Asks the planner for a plan, checks it and stores it as a draft. Throws if there is none in the end. */
  planForGoal(goal: string, options?: PlanOptions): Promise<ExecutionPlan>;
  /**
   * Executes a plan by object or id; calling it is the approval. Steps that succeeded before are not done again. Throws `PlanLeft`
   * if its session is left to be resumed.
   */
  executePlan(plan: ExecutionPlan | string, options?: ExecuteOptions): Promise<PlanResult>;
  /** Stored plans: list, page, find, add, edit, approve. */
  readonly plans: Pick<Plans, "list" | "page" | "find" | "add" | "edit" | "approve">;
  /** The id of the model that a root run of an agent would have now; throws if it could have none. */
  modelOf(agent: string, model?: string): Promise<string>;
  /** Goes on with a session that a crash or a kill ended; its open runs continue in place. */
  resume(sessionId: string): Promise<ResumedHandle>;
  /** Runs a recorded session again from its record, without models or tools, and tells where it first differs. */
  replay(sessionId: string): Promise<ReplayReport>;
  /** Tells of everything that happens; returns how to stop listening. */
  events(listener: Listener): () => void;
  /** The ids of the root runs that are alive in a session; null if the session is not open in this runtime. */
  liveRoots(sessionId: string): readonly string[] | null;
  /** Ends a run or a session with everything below it; false if nothing of that id is alive. */
  cancel(id: string): boolean;
  /** Holds a run and its subtree at their next turn. */
  pause(runId: string): boolean;
  unpause(runId: string): boolean;
  /** Gives a run a message that it reads at its next turn. */
  steer(runId: string, text: string): boolean;
  /** Answers a call that waits for a person, in whatever process; false if it was answered already. */
  answer(approvalId: string, answer: ApprovalAnswer): Promise<boolean>;
  /** A text as it may be kept and shown: without the secrets that this runtime knows. */
  redact(text: string): string;
  /** Takes a right away from everything that runs; only narrows. */
  revoke(rule: string): void;
  /** Ends everything and writes what is left. */
  close(): Promise<void>;
  /**
   * Begins nothing more, gives model and tool calls under way so long to end and be recorded, and leaves what is open then as it
   * is in the record, to be resumed. Rejects if the disk refuses. The record can still be read until `close`.
   */
  drain(graceMs: number): Promise<void>;
  /** Closes without ending anything: what is open stays so in the record, and continues when it is resumed. */
  leave(): Promise<void>;
};

const FAN_OUT = 3;

/** Creates a runtime. */
export function createRuntime(options: RuntimeOptions): Runtime {
  return assembleRuntime(options, {});
}

/** Creates a runtime with some of its inner parts replaced; only the testing entry exports this. */
export function assembleRuntime(options: RuntimeOptions, internals: RuntimeInternals): Runtime {
  const { host, bus, asks, revoked, close } = createHost(options, internals);
  const sessions = new Sessions(host);
  const plans = new Plans(host, sessions);
  const run = async (request: RunRequest) => (await sessions.start(request)).result;
  const control = (runId: string, act: (live: Run) => void): boolean => {
    const live = sessions.find(runId);
    if (live) act(live);
    return live !== undefined;
  };
  return {
    agents: host.registry,
    record: host.record,
    start: (request) => sessions.start(request),
    run,
    spawn: async (agent, task, spawnOptions) => run({ agent, task, ...readSpawnOptions(spawnOptions) }),
    async fanOut(tasks, fanOutOptions = {}) {
      refuseOthers(fanOutOptions, ["maxConcurrent"], "fanOut");
      const { maxConcurrent = FAN_OUT } = fanOutOptions;
      return sessions.fanOut(tasks.map(readSpawnTask), maxConcurrent);
    },
    async openSession(sessionOptions = {}) {
      const { openProgramSession } = await import("../session/program-session.ts");
      return openProgramSession(host, sessions, sessionOptions);
    },
    planForGoal: (goal, planOptions) => plans.planForGoal(goal, planOptions),
    executePlan: (plan, executeOptions) => plans.executePlan(plan, executeOptions),
    plans,
    async modelOf(name, model) {
      const agent = requireAgent(host.registry, name);
      return (await host.resolveModel(model ?? agent.model, null, agent)).id;
    },
    resume: (sessionId) => sessions.resume(sessionId),
    async replay(sessionId) {
      const { replaySession } = await import("../replay/replay-session.ts");
      await host.record.committed();
      return replaySession(options, host.record, sessionId);
    },
    events: (listener) => bus.subscribe(listener),
    cancel: (id) =>
      sessions.cancel(id, "cancelled") ||
      control(id, (run) =>
        run.interruptTree({ status: "cancelled", bailout: "cancelled", message: "cancelled" }),
      ),
    liveRoots: (sessionId) => sessions.liveRoots(sessionId),
    pause: (runId) => control(runId, (live) => forSubtree(live, (one) => hold(one, true))),
    unpause: (runId) => control(runId, (live) => forSubtree(live, (one) => hold(one, false))),
    steer: (runId, text) => control(runId, (live) => live.steering.push(host.redactor.redact(text))),
    answer: (approvalId, answer) => asks.answer(approvalId, answer),
    redact: (text) => host.redactor.redact(text),
    revoke: (rule) => revoked.push(...parseRules([rule], "revoke", host.homeDir)),
    async close() {
      await sessions.close();
      await close();
    },
    async drain(graceMs) {
      checkNumber("graceMs", graceMs, AMOUNT);
      await sessions.leave(graceMs);
    },
    async leave() {
      await sessions.leave(0);
      await close();
    },
  };
}

function hold(run: Run, isPaused: boolean): void {
  if (isPaused) run.pause();
  else run.paused?.resume();
  run.session.emit({ type: "run.paused", runId: run.runId, isPaused });
}

function forSubtree(run: Run, act: (run: Run) => void): void {
  act(run);
  for (const kid of run.kids) forSubtree(kid, act);
}
