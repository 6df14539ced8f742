import { defineAgent } from "../agents/define-agent.ts";
import { requireAgent } from "../agents/registry.ts";
import { fanOutBy } from "../delegate/spawn-below.ts";
import { fitToLead } from "../run/conductor.ts";
import { createId } from "../run/create-id.ts";
import type { Host } from "../run/run.ts";
import type { Agent, Limits } from "../schema/agent.ts";
import { RetinueError } from "../schema/error.ts";
import { failedResult } from "../schema/failed-result.ts";
import { AT_LEAST_ONE, checkNumber } from "../schema/number-range.ts";
import type { RunResult } from "../schema/result.ts";
import type { ChildHandle, Program, Spawner, ToolOutput } from "../tools/tool.ts";
import type { Sessions } from "./sessions.ts";

/** How a session that a program leads is opened. */
export type SessionOptions = {
  /** What the session is called in lists and traces. */
  title?: string;
  /** Starts everything in the name of this agent: only whom it may call, with what it may pass on. */
  agent?: string;
  /** The model that agents inherit. */
  model?: string;
  /** Of the whole tree: tokens, cost, runs, time, depth. */
  limits?: Limits;
  /** Children at once; as many as the settings allow if absent. */
  maxConcurrent?: number;
  /** Ends the session with everything in it. */
  signal?: AbortSignal;
};

/** A session that a program leads: what it starts is one tree, with one budget and one trace. */
export type ProgramSession = Spawner & {
  readonly id: string;
  /** The run that everything is started below. */
  readonly runId: string;
  /** Ends the session once everything that was started has ended; the result is that of the whole tree. */
  close(): Promise<RunResult>;
  /** Ends everything that runs, and the session. */
  cancel(): void;
  /** Ends what still runs, and the session. */
  [Symbol.asyncDispose](): Promise<void>;
};

const MANY = 1_000_000;

/** Opens a session whose root run is led by the calling program instead of a model. */
export async function openProgramSession(
  host: Host,
  sessions: Sessions,
  options: SessionOptions,
): Promise<ProgramSession> {
  const { title = "A program's session", model, limits, signal } = options;
  if (signal?.aborted) throw new RetinueError("failed", "cancelled before it began");
  const leader = chooseLeader(host, options);
  const ready = Promise.withResolvers<Spawner>();
  const over = Promise.withResolvers<void>();
  const started = new Started();
  const program: Program = {
    async lead(children) {
      ready.resolve(children);
      await over.promise;
      await started.settled();
      started.end();
      return describe(started.results);
    },
  };
  const { sessionId, runId, result } = await sessions.start({
    agent: leader.name,
    leader,
    task: title,
    conducted: { kind: "program" },
    program,
    ...(model !== undefined && { model }),
    ...(limits !== undefined && { limits }),
  });
  const cancel = async () => void sessions.cancel(sessionId, "cancelled");
  signal?.addEventListener("abort", cancel, { once: true });
  const ended = result.finally(() => {
    started.end();
    signal?.removeEventListener("abort", cancel);
  });
  if (signal?.aborted) await cancel();
  const early = ended.then(({ error, summary }): never => {
    throw new RetinueError("failed", `the session could not begin: ${error?.message ?? summary}`);
  });
  const { spawn, fanOut } = started.keepFrom(await Promise.race([ready.promise, early]), sessionId);
  early.catch(() => {});
  const close = () => {
    over.resolve();
    return ended;
  };
  return {
    id: sessionId,
    runId,
    spawn,
    fanOut,
    close,
    cancel,
    async [Symbol.asyncDispose]() {
      started.cancel("the session was left");
      await close();
    },
  };
}

/** What a program has started, and what of it has not ended. */
class Started {
  readonly results: RunResult[] = [];
  readonly #handles = new Set<ChildHandle>();
  readonly #open = new Set<Promise<unknown>>();
  #isOver = false;

  /** The same spawner, which also keeps what it starts, and starts nothing once the session has ended. */
  keepFrom({ spawn }: Spawner, sessionId: string): Spawner {
    const kept: Spawner["spawn"] = (...given) => {
      const handle = this.#isOver ? refuseLate(given[0], sessionId) : spawn(...given);
      this.#handles.add(handle);
      this.#await(handle.result.then((result) => this.#end(handle, result)));
      return handle;
    };
    return { spawn: kept, fanOut: (tasks, options = {}) => this.#await(fanOutBy(kept, tasks, options)) };
  }

  /** Nothing can be started any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  cancel(reason: string): void {
    for (const handle of this.#handles) handle.cancel(reason);
  }

  #end(handle: ChildHandle, result: RunResult): void {
    this.#handles.delete(handle);
    this.results.push(result);
  }

  #await<Value>(work: Promise<Value>): Promise<Value> {
    this.#open.add(work);
    const forget = () => this.#open.delete(work);
    work.then(forget, forget);
    return work;
  }
}

function chooseLeader(host: Host, { agent, maxConcurrent }: SessionOptions): Agent {
  checkNumber("maxConcurrent", maxConcurrent, AT_LEAST_ONE);
  const atOnce = maxConcurrent ?? host.settings.maxConcurrent;
  const chosen =
    agent === undefined
      ? callingProgram(atOnce)
      : fitToLead(requireAgent(host.registry, agent), maxConcurrent);
  return { ...chosen, limits: { ...chosen.limits, toolCalls: MANY } };
}

/** The program as an agent: it may start every agent, with every right that the session has. */
function callingProgram(maxConcurrent: number): Agent {
  const program = defineAgent({
    name: "calling-program",
    description: "The program that opened the session.",
    prompt: "A program leads this session; it starts agents and collects what they report.",
    subagents: { allow: ["*"], maxConcurrent },
  });
  return fitToLead(program);
}

function refuseLate(agent: string, sessionId: string): ChildHandle {
  const id = createId("run");
  const message = `'${agent}' was not started: the session ${sessionId} has ended; open another one with openSession`;
  const error = { type: "cancelled", message, recoverable: false } as const;
  const result = Promise.resolve(failedResult({ runId: id, sessionId, agent }, error));
  return { id, agent, result, cancel: () => {} };
}

/** The program's report: a failure if not one of its agents succeeded, but for those that it cancelled itself. */
function describe(results: readonly RunResult[]): ToolOutput {
  const succeeded = results.filter(({ success }) => success).length;
  const text = `The program started ${results.length} agents: ${succeeded} succeeded, ${results.length - succeeded} did not.`;
  return { text, isError: succeeded === 0 && results.some(({ status }) => status !== "cancelled") };
}
