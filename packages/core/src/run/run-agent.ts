import type { RunResult } from "../schema/result.ts";
import { buildResult } from "./build-result.ts";
import { answerCalls } from "./calls/answer-calls.ts";
import { resumeCall } from "./calls/resume-call.ts";
import { translateCall } from "./calls/translate-call.ts";
import { callWithRoom, compact } from "./compact.ts";
import { withVerdicts } from "./deliverables.ts";
import { endReported, fail, interrupted, keepWork, NEXT_TURN, reportLast, wrapUp } from "./ending.ts";
import { lastText, pushReply, pushResults } from "./history.ts";
import { limitReached } from "./limits.ts";
import { loopPrompt } from "./load-prompt.ts";
import { tellOwed } from "./loop-flow.ts";
import type { CallResult, ToolCall } from "./model/reply.ts";
import type { Ending, ModelOutcome, Next, Resumption } from "./outcome.ts";
import { countRepeats, REPEATS_TO_WARN, type Repeating } from "./repetition.ts";
import { type Run, UNMEASURED } from "./run.ts";
import { waitFor, waitForDisk } from "./wait-for.ts";

/** One run from task to result. Never throws: whatever goes wrong ends as a status. */
export async function runAgent(run: Run): Promise<RunResult> {
  if (run.deliverables.length > 0 && !run.resumption)
    run.baseline = await run.host.workplace.takeBaseline(run).catch(() => new Map());
  let next: Next = run.resumption ? await goOn(run, run.resumption) : NEXT_TURN;
  while (next.kind !== "end") {
    next =
      next.kind === "turn" ? await takeTurn(run) : { kind: "end", ending: await wrapUp(run, next.reason) };
  }
  const checked = await withVerdicts(run, next.ending);
  const ending = run.flow.finish(run, checked);
  tellOwed(run, ending);
  return buildResult(run, ending);
}

/** Takes up a run where its process ended: what was answered stays, what was begun follows its replay class. */
async function goOn(run: Run, at: Resumption): Promise<Next> {
  run.resumption = null;
  const { flow } = run;
  if (at.kind === "answer") return flow.afterAnswer(run, at.reply);
  if (at.kind === "wrap_up") {
    run.wrapUpReason = at.reason;
    const { reason, reply } = at;
    const ending = reply ? endReported(run, { reason }, reply) : await reportLast(run, reason);
    return { kind: "end", ending };
  }
  if (at.kind === "turn") return NEXT_TURN;
  for (const call of at.calls) translateCall(run.tools, call);
  const again = async (call: ToolCall) => at.answered.get(call.callId) ?? resumeCall(run, call);
  const step = flow.findStepOfReply(run);
  const one = step ? (call: ToolCall) => step.answerCall(call, again, run) : again;
  const before = run.toolCalls;
  return afterCalls(run, await answerCalls(run, at.calls, one), { repeating: at.repeating, before });
}

async function takeTurn(run: Run): Promise<Next> {
  const stop = await beforeTurn(run);
  if (stop) return stop;
  const { flow } = run;
  const step = flow.enterStep(run);
  run.step = step;
  run.turn++;
  const outcome = await callWithRoom(run, "turn");
  if (outcome.kind !== "reply") return afterNoReply(run, outcome);
  const { reply } = outcome;
  const { calls } = reply;
  pushReply(run, reply);
  run.measured = outcome.tokens === null ? UNMEASURED : { tokens: outcome.tokens, bytes: run.contextBytes };
  if (calls.length === 0) return flow.afterAnswer(run, reply);

  run.emptyReplies = 0;
  const repeating = countRepeats(run, calls, run.host.guards);
  const make = (call: ToolCall) => run.host.makeCall(run, call);
  const one = step ? (call: ToolCall) => step.answerCall(call, make, run) : make;
  const before = run.toolCalls;
  return afterCalls(run, await answerCalls(run, calls, one), { repeating, before });
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
  return run.flow.afterCalls(run, afterRepeating(run, repeating), before);
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

/** Pause, steering, limits and room in the context, in that order. */
async function beforeTurn(run: Run): Promise<Next | null> {
  const unwritten = run.host.watched() ? await waitForDisk(run) : null;
  if (unwritten) return fail(lastText(run), "failed", `the record could not be written: ${unwritten}`);
  while (run.paused && !run.interruption) await waitFor(run, "pause", run.paused.promise);
  const late = run.host.pace.beforeTurn(run);
  if (run.interruption) return { kind: "end", ending: interrupted(run) };
  for (const text of run.steering.splice(0)) {
    run.pushUser(text);
    run.steered.push(text);
    run.session.addresses.addTyped(text);
    run.session.emit({ type: "run.steered", runId: run.runId, text });
  }
  const reason = late ?? limitReached(run, run.host.clock.monotonicMs());
  if (reason) return { kind: "wrap_up", reason };
  const { contextChars } = run.limits;
  if (run.turn === 0 && run.contextChars > contextChars && !run.resumption)
    return fail(
      "",
      "context_overflow",
      `prompt and task alone have ${run.contextChars} characters; the limit is ${contextChars}`,
    );
  if (run.contextChars > contextChars && !run.flow.condenses)
    return fail("", "context_overflow", `the results are longer than ${contextChars} characters`);
  if (run.contextChars > contextChars) await compact(run, contextChars);
  return run.interruption ? { kind: "end", ending: interrupted(run) } : null;
}
