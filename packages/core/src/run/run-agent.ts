import type { RunResult } from "../schema/result.ts";
import { buildResult, type Ending } from "./build-result.ts";
import { answerCalls } from "./calls/answer-calls.ts";
import { type CallResult, dispatch } from "./calls/dispatch.ts";
import { resumeCall } from "./calls/resume-call.ts";
import { translateCall } from "./calls/translate-call.ts";
import { callWithRoom } from "./compact.ts";
import { takeBaseline } from "./deliverables.ts";
import { pushReply, pushResults } from "./history.ts";
import { loopPrompt } from "./load-prompt.ts";
import type { ModelOutcome } from "./model/call-model.ts";
import type { ToolCall } from "./model/read-stream.ts";
import type { LoopPorts } from "./ports.ts";
import { type Run, UNMEASURED } from "./run.ts";
import type { Resumption } from "./run-spec.ts";
import { beforeTurn } from "./turns/before-turn.ts";
import { withVerdicts } from "./turns/check-contract.ts";
import { keepWork } from "./turns/gather-work.ts";
import { interrupted, NEXT_TURN, type Next } from "./turns/next.ts";
import { tellOwed } from "./turns/owed-delegations.ts";
import { countRepeats, REPEATS_TO_WARN, type Repeating } from "./turns/repetition.ts";
import { endReported, reportLast, wrapUp } from "./turns/wrap-up.ts";

/** One run from task to result. Never throws: whatever goes wrong ends as a status. */
export async function runAgent(run: Run, ports: LoopPorts): Promise<RunResult> {
  if (run.spec.deliverables.length > 0 && !run.resumption && !ports.recorded)
    run.baseline = await takeBaseline(run).catch(() => new Map());
  let next: Next = run.resumption ? await goOn(run, run.resumption, ports) : NEXT_TURN;
  while (next.kind !== "end") {
    next =
      next.kind === "turn"
        ? await takeTurn(run, ports)
        : { kind: "end", ending: await wrapUp(run, next.reason, ports) };
  }
  const checked = await withVerdicts(run, next.ending, ports);
  const ending = run.spec.flow.finish(run, checked, ports);
  tellOwed(run, ending, ports);
  return buildResult(run, ending, ports);
}

/** Takes up a run where its process ended: what was answered stays, what was begun follows its replay class. */
async function goOn(run: Run, at: Resumption, ports: LoopPorts): Promise<Next> {
  run.resumption = null;
  const { flow } = run.spec;
  if (at.kind === "answer") return flow.afterAnswer(run, at.reply, ports);
  if (at.kind === "wrap_up") {
    run.wrapUpReason = at.reason;
    const { reason, reply } = at;
    const ending = reply ? endReported(run, { reason }, reply, ports) : await reportLast(run, reason, ports);
    return { kind: "end", ending };
  }
  if (at.kind === "turn") return NEXT_TURN;
  for (const call of at.calls) translateCall(run.spec.tools, call);
  const again = async (call: ToolCall) => at.answered.get(call.callId) ?? resumeCall(run, call, ports);
  const step = flow.findStepOfReply(run);
  const one = step ? (call: ToolCall) => step.answerCall(call, again, run, ports) : again;
  const before = run.toolCalls;
  return afterCalls(run, await answerCalls(run, at.calls, ports, one), { repeating: at.repeating, before });
}

async function takeTurn(run: Run, ports: LoopPorts): Promise<Next> {
  const stop = await beforeTurn(run, ports);
  if (stop) return stop;
  const { flow } = run.spec;
  const step = flow.enterStep(run, ports);
  run.step = step;
  run.turn++;
  const outcome = await callWithRoom(run, "turn", ports);
  if (outcome.kind !== "reply") return afterNoReply(run, outcome);
  const { reply } = outcome;
  const { calls } = reply;
  pushReply(run, reply);
  run.measured = outcome.tokens === null ? UNMEASURED : { tokens: outcome.tokens, bytes: run.contextBytes };
  if (calls.length === 0) return flow.afterAnswer(run, reply, ports);

  run.emptyReplies = 0;
  const repeating = countRepeats(run, calls, ports.guards);
  const make = (call: ToolCall) => dispatch(run, call, ports);
  const one = step ? (call: ToolCall) => step.answerCall(call, make, run, ports) : make;
  const before = run.toolCalls;
  return afterCalls(run, await answerCalls(run, calls, ports, one), { repeating, before });
}

/** `before`: how many calls had been made before those of this turn. */
function afterCalls(
  run: Run,
  results: readonly CallResult[],
  { repeating, before }: { repeating: Repeating; before: number },
): Next {
  pushResults(run, results);
  // It does something else first; what it had begun to answer stands in its history.
  run.cutAnswer = [];
  return run.spec.flow.afterCalls(run, afterRepeating(run, repeating), before);
}

function afterRepeating(run: Run, repeating: Repeating): Next {
  if (repeating === "stop") return { kind: "wrap_up", reason: "loop_detected" };
  if (repeating === "warn") {
    const count = Math.max(run.repetition.count, REPEATS_TO_WARN);
    run.pushUser(loopPrompt("repeating", { count: String(count) }));
  }
  return NEXT_TURN;
}

function afterNoReply(run: Run, outcome: Exclude<ModelOutcome, { kind: "reply" }>): Next {
  if (outcome.kind === "interrupted") return { kind: "end", ending: interrupted(run) };
  if (outcome.kind === "failed") {
    const status = outcome.error.type === "timeout" ? "timeout" : "failed";
    const ending: Ending = {
      status,
      text: keepWork(run),
      error: outcome.error,
      bailout: outcome.bailout ?? "error",
    };
    return { kind: "end", ending };
  }
  run.turn--;
  if (run.turn > 0)
    return { kind: "wrap_up", reason: outcome.resource === "cost" ? "max_cost" : "max_tokens" };
  const message = `the ${outcome.resource === "cost" ? "cost" : "token"} budget has no room for a first call`;
  return {
    kind: "end",
    ending: { status: "failed", text: "", error: { type: "budget", message, recoverable: false } },
  };
}
