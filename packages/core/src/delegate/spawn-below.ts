import type { Below, Run } from "../run/run.ts";
import { waitFor } from "../run/wait-for.ts";
import { checkLimits } from "../schema/check-numbers.ts";
import type { DelegationRequest } from "../schema/delegation.ts";
import { messageOf } from "../schema/error.ts";
import { AT_LEAST_ONE, COUNT, checkNumber } from "../schema/number-range.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import type { ChildHandle, ChildOptions, ChildTask, Spawner } from "../tools/tool.ts";

/** Tasks of a `fanOut` at once, if nobody says otherwise. */
const FAN_OUT = 3;

/** What starts the children of a run. */
type Starter = {
  readonly parent: Run;
  idFor(about: { callId: string }): string;
  fail(about: { id: string; agent: string }, error: RunError): RunResult;
  startFor(
    request: DelegationRequest,
    about: { id: string; callId: string; rowId: number; signal: AbortSignal },
  ): Promise<RunResult>;
};

/** Starts children for the code of a tool. Each passes the gate that a model's call of `delegate` passes. */
export function startBelow(children: Starter, below: Below): Spawner {
  const { parent: run } = children;
  let count = 0;
  const spawn = (agent: string, task: string, options: ChildOptions = {}): ChildHandle => {
    const callId = `${below.call.callId}.${count++}`;
    const id = children.idFor({ callId });
    const stop = new AbortController();
    const { budget, signal, cwd, limits, ...rest } = options;
    const within = budget === undefined ? limits : { ...limits, toolCalls: budget };
    const begin = async (): Promise<RunResult> => {
      checkNumber("budget", budget, COUNT);
      checkLimits("limits", limits);
      // Only what can be written down can be asked for: a record, and another process, must be able to read it. Limits were
      // looked at: a program's may be others than a model's.
      const input = JSON.stringify({ agent, task, ...rest }, refuseStrange);
      const refusal = await below.refuse({
        callId,
        tool: "delegate",
        input: run.host.redactor.redact(input),
      });
      if (refusal !== null) return children.fail({ id, agent }, readError(refusal));
      const request: DelegationRequest = {
        agent,
        task,
        ...rest,
        ...(within && { limits: within }),
        ...(cwd !== undefined && { cwd }),
      };
      const started = children.startFor(request, { id, callId, rowId: below.rowId, signal: stop.signal });
      const result = await waitFor(run, "children", started);
      // At once, not when the call ends: the next child may be told what this one said.
      if (result.tainted) below.onTainted();
      if (result.private_data) run.privateData = true;
      return result;
    };
    const onAbort = () => stop.abort(reasonOf(signal));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const result = begin()
      .catch((thrown) =>
        children.fail({ id, agent }, { type: "params", message: messageOf(thrown), recoverable: false }),
      )
      .finally(() => signal?.removeEventListener("abort", onAbort));
    return { id, agent, result, cancel: (reason = "cancelled by the program") => stop.abort(reason) };
  };
  return { spawn, fanOut: (tasks, options = {}) => fanOutBy(spawn, tasks, options) };
}

/** Starts several tasks, so many at once; results in the order of the tasks. */
export async function fanOutBy(
  spawn: Spawner["spawn"],
  tasks: readonly ChildTask[],
  { maxConcurrent = FAN_OUT, signal }: { maxConcurrent?: number; signal?: AbortSignal },
): Promise<RunResult[]> {
  checkNumber("maxConcurrent", maxConcurrent, AT_LEAST_ONE);
  const results: RunResult[] = [];
  const left = [...tasks.entries()];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { agent, task, ...options } = readTask(next[1]);
      const signals = [options.signal, signal].filter((each) => each !== undefined);
      const ends = signals.length > 0 && { signal: AbortSignal.any(signals) };
      results[next[0]] = await spawn(agent, task, { ...options, ...ends }).result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, tasks.length) }, work));
  return results;
}

function readTask(given: ChildTask): { agent: string; task: string } & ChildOptions {
  if (!isTuple(given)) return given;
  const [agent, task, options] = given;
  return { agent, task, ...options };
}

function isTuple(given: ChildTask): given is readonly [string, string, ChildOptions?] {
  return Array.isArray(given);
}

/** JSON would make null of these, and of nothing a value that nobody gave. */
function refuseStrange(key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new TypeError(`${key} is ${value}, which is no number`);
  return value;
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason;
  return reason instanceof Error && reason.name !== "AbortError"
    ? reason.message
    : "cancelled by the program";
}

/** A refusal as data: delegation tools say it as JSON, the dispatcher in words. */
function readError(text: string): RunError {
  try {
    const { error } = JSON.parse(text) as { error?: RunError };
    if (error) return { ...error, recoverable: error.recoverable ?? false };
  } catch {
    // Words, then.
  }
  const type = text.startsWith("invalid input")
    ? "params"
    : text.includes("limit")
      ? "budget"
      : "not_allowed";
  return { type, message: text, recoverable: false };
}
