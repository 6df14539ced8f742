import { untilAborted } from "../scheduler/until-aborted.ts";
import { messageOf } from "../schema/error.ts";
import type { BailoutReason, DeliverableVerdict, RunError, RunResult } from "../schema/result.ts";
import { buildResult, type Ending } from "./build-result.ts";
import { type CallResult, dispatch } from "./calls/dispatch.ts";
import { recordRefusal } from "./calls/record-call.ts";
import { resumeCall } from "./calls/resume-call.ts";
import { compact } from "./compact.ts";
import { complianceError, takeBaseline } from "./deliverables.ts";
import { lastText, pushReply, pushResults } from "./history.ts";
import { limitReached } from "./limits.ts";
import { loadPrompt } from "./load-prompt.ts";
import { callModel, type ModelOutcome } from "./model/call-model.ts";
import type { Reply, ToolCall } from "./model/read-stream.ts";
import type { LoopPorts } from "./ports.ts";
import { REPEATS_TO_WARN, type Repetition } from "./repetition.ts";
import type { Resumption, Run } from "./run.ts";
import { waitFor } from "./wait-for.ts";

/** What a finished turn leads to. */
type Next = { kind: "turn" } | { kind: "wrap_up"; reason: BailoutReason } | { kind: "end"; ending: Ending };

const NEXT_TURN: Next = { kind: "turn" };
/** After this long a wait for the disk is shown. */
const SLOW_DISK_MS = 1_000;
const prompt = (name: string, values?: Record<string, string>) =>
  loadPrompt(new URL(`./prompts/${name}.md`, import.meta.url), values);

/** One run from task to result. Never throws: whatever goes wrong ends as a status. */
export async function runAgent(run: Run, ports: LoopPorts): Promise<RunResult> {
  const seen: Repetition = { last: "", count: 0 };
  if (run.spec.deliverables.length > 0 && !run.resumption)
    run.baseline = await takeBaseline(run).catch(() => new Map());
  let next: Next = run.resumption ? await goOn(run, run.resumption, ports) : NEXT_TURN;
  while (next.kind !== "end") {
    next =
      next.kind === "turn"
        ? await takeTurn(run, seen, ports)
        : { kind: "end", ending: await wrapUp(run, next.reason, ports) };
  }
  return buildResult(run, await withVerdicts(run, next.ending, ports), ports);
}

/** Takes up a run where its process ended: what was answered stays, what was begun follows its replay class. */
async function goOn(run: Run, at: Resumption, ports: LoopPorts): Promise<Next> {
  run.resumption = null;
  if (at.kind === "answer") return afterAnswer(run, at.reply, ports);
  if (at.kind === "wrap_up") {
    const text = at.text ?? (await lastReport(run, ports));
    return { kind: "end", ending: text === null ? interrupted(run) : endingOf(run, at.reason, text, ports) };
  }
  if (at.kind === "calls") {
    const one = async (call: ToolCall) => at.answered.get(call.callId) ?? resumeCall(run, call, ports);
    pushResults(run, await answerCalls(run, at.calls, ports, one));
  }
  return NEXT_TURN;
}

async function takeTurn(run: Run, seen: Repetition, ports: LoopPorts): Promise<Next> {
  const stop = await beforeTurn(run, ports);
  if (stop) return stop;
  run.turn++;
  const outcome = await callModelOnce(run, ports);
  if (outcome.kind !== "reply") return afterNoReply(run, outcome);
  const { reply } = outcome;
  const { calls } = reply;
  pushReply(run, reply);
  run.measured = { tokens: outcome.tokens, bytes: run.contextBytes };
  if (calls.length === 0) return afterAnswer(run, reply, ports);

  run.emptyReplies = 0;
  const polling = calls.every((call) => run.spec.tools.get(call.tool)?.polls);
  const repeating = polling ? "no" : ports.guards.isRepeating(seen, calls);
  const results = await answerCalls(run, calls, ports);
  pushResults(run, results);
  if (repeating === "stop") return { kind: "wrap_up", reason: "loop_detected" };
  if (repeating === "warn")
    run.pushUser(prompt("repeating", { count: String(Math.max(seen.count, REPEATS_TO_WARN)) }));
  return NEXT_TURN;
}

/**
 * What came before is on disk, then pause, steering, limits and room in the context, in that order. Waiting for the disk
 * here is how runs stand still while it refuses writes, and why no turn that was paid for is lost in a crash.
 */
async function beforeTurn(run: Run, ports: LoopPorts): Promise<Next | null> {
  const unwritten = await onDisk(run, ports);
  if (unwritten) return fail(lastText(run), "failed", `the record could not be written: ${unwritten}`);
  while (run.paused && !run.interruption) await waitFor(run, "pause", ports, run.paused.promise);
  if (run.interruption) return { kind: "end", ending: interrupted(run) };
  for (const text of run.steering.splice(0)) {
    run.pushUser(text);
    ports.emit(run.spec.sessionId, { type: "run.steered", runId: run.spec.runId, text });
  }
  const reason = limitReached(run, ports.clock.monotonicMs());
  if (reason) return { kind: "wrap_up", reason };
  const { contextChars } = run.spec.limits;
  if (run.turn === 0 && run.contextChars > contextChars && !run.resumption)
    return fail(
      "",
      "context_overflow",
      `prompt and task alone have ${run.contextChars} characters; the limit is ${contextChars}`,
    );
  if (run.contextChars > contextChars) await compact(run, ports, contextChars);
  return run.interruption ? { kind: "end", ending: interrupted(run) } : null;
}

/** Waits until everything so far is on disk, or the run is stopped; says what is wrong if it never will be. */
async function onDisk(run: Run, ports: LoopPorts): Promise<string | null> {
  let shown: PromiseWithResolvers<void> | null = null;
  const stopTimer = ports.clock.timer(SLOW_DISK_MS, () => {
    shown = Promise.withResolvers<void>();
    void waitFor(run, "store", ports, shown.promise);
  });
  const written = ports.journal.committed().then(() => null, messageOf);
  const result = await untilAborted(written, run.signal).catch(() => null);
  stopTimer();
  (shown as PromiseWithResolvers<void> | null)?.resolve();
  return result;
}

/** A call of the model; if the context overflows it is condensed once and the call made again. */
async function callModelOnce(run: Run, ports: LoopPorts): Promise<ModelOutcome> {
  const outcome = await callModel(run, { purpose: "turn" }, ports);
  if (outcome.kind !== "failed" || outcome.error.type !== "context_overflow" || run.compactedForOverflow)
    return outcome;
  run.compactedForOverflow = true;
  await compact(run, ports, Math.floor(run.contextChars / 2));
  return callModel(run, { purpose: "turn" }, ports);
}

function afterNoReply(run: Run, outcome: Exclude<ModelOutcome, { kind: "reply" }>): Next {
  if (outcome.kind === "interrupted") return { kind: "end", ending: interrupted(run) };
  if (outcome.kind === "failed") {
    const status = outcome.error.type === "timeout" ? "timeout" : "failed";
    const ending: Ending = {
      status,
      text: lastText(run),
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

/** The model made no calls: it claims to be done. The host looks before it believes. */
async function afterAnswer(run: Run, reply: Reply, ports: LoopPorts): Promise<Next> {
  if (reply.finish === "content-filter")
    return fail(reply.text, "content_filter", "the provider's content filter stopped the reply");
  if (reply.finish === "error") return fail(reply.text, "bad_response", "the model ended with an error");
  const remaining = await ports.remainingResults(run);
  if (remaining !== null) {
    run.pushUser(remaining);
    return NEXT_TURN;
  }
  if (run.steering.length > 0) return NEXT_TURN;
  if (ports.guards.isEmpty(reply.text)) {
    if (run.emptyReplies++ > 0) return fail("", "bad_response", "the model answered with nothing, twice");
    run.pushUser(prompt("empty-reply"));
    return NEXT_TURN;
  }
  const verdicts = await check(run, ports);
  if (verdicts.some((verdict) => !verdict.ok)) {
    if (run.repairsLeft-- <= 0)
      return { kind: "end", ending: { status: "completed", text: reply.text, verdicts } };
    run.pushUser(prompt("repair", { missing: missingList(verdicts) }));
    return NEXT_TURN;
  }
  const cut = reply.finish === "length";
  if (cut) run.warnings.push("the reply was cut off by the model's output limit");
  return { kind: "end", ending: { status: "completed", text: reply.text, partial: cut, verdicts } };
}

/** One last turn without tools, to report what there is. */
async function wrapUp(run: Run, reason: BailoutReason, ports: LoopPorts): Promise<Ending> {
  run.wrapUpReason = reason;
  run.pushUser(prompt("wrap-up", { reason: reason.replaceAll("_", " ") }));
  const remaining = await ports.remainingResults(run, "stop");
  if (remaining !== null) run.pushUser(remaining);
  const text = await lastReport(run, ports);
  return text === null ? interrupted(run) : endingOf(run, reason, text, ports);
}

/** What the model says in its last turn, nothing if it cannot be asked, null if the run was stopped. */
async function lastReport(run: Run, ports: LoopPorts): Promise<string | null> {
  const outcome = await callModel(run, { purpose: "wrap_up" }, ports);
  if (outcome.kind === "interrupted") return null;
  return outcome.kind === "reply" ? outcome.reply.text : "";
}

function endingOf(run: Run, reason: BailoutReason, text: string, ports: LoopPorts): Ending {
  const kept = ports.guards.isEmpty(text) ? lastText(run) : text;
  if (kept) return { status: "completed", text: kept, partial: true, bailout: reason };
  const message = `stopped by a limit (${reason}) with nothing to report`;
  const error: RunError = { type: "budget", message, recoverable: false };
  return { status: "failed", text: "", partial: true, bailout: reason, error };
}

/** Every ending is held against the contract, also that of a run that hung or was stopped by a limit. */
async function withVerdicts(run: Run, ending: Ending, ports: LoopPorts): Promise<Ending> {
  if (run.spec.deliverables.length === 0 || ending.status === "cancelled") return ending;
  const verdicts = ending.verdicts ?? (await check(run, ports));
  if (verdicts.every((verdict) => verdict.ok)) return { ...ending, verdicts };
  const message = complianceError(run.spec.agent.name, verdicts);
  ports.emit(run.spec.sessionId, {
    type: "compliance.failed",
    runId: run.spec.runId,
    agent: run.spec.agent.name,
    message,
  });
  const error: RunError = ending.error ?? { type: "deliverable", message, recoverable: true };
  return { ...ending, verdicts, error, status: ending.status === "completed" ? "failed" : ending.status };
}

async function check(run: Run, ports: LoopPorts): Promise<DeliverableVerdict[]> {
  const verdicts = await ports.guards.checkDeliverables(
    run,
    async (command, index) => {
      const call = {
        callId: `check_${run.turn}_${index}`,
        tool: "shell",
        input: JSON.stringify({ command }),
        byHost: true,
      };
      const result = await dispatch(run, call, ports);
      return result.outcome === "ok" ? null : result.text;
    },
    ports.claims,
  );
  return ports.redactor.redactJson(verdicts);
}

async function answerCalls(
  run: Run,
  calls: readonly ToolCall[],
  ports: LoopPorts,
  one = (call: ToolCall): Promise<CallResult> => dispatch(run, call, ports),
): Promise<CallResult[]> {
  const limit = ports.guards.maxCallsPerTurn;
  return Promise.all(
    calls.map((call, index) => {
      if (index < limit) return one(call);
      const text = `only the first ${limit} calls of a turn are run; make this call again later if it is still needed`;
      recordRefusal(run, call, { outcome: "error", text }, ports);
      return { callId: call.callId, tool: call.tool, text, outcome: "error" as const };
    }),
  );
}

function interrupted(run: Run): Ending {
  const { status, bailout, message } = run.interruption ?? {
    status: "cancelled",
    bailout: "cancelled",
    message: "stopped",
  };
  return {
    status,
    text: lastText(run),
    partial: true,
    bailout,
    error: { type: status, message, recoverable: false },
  };
}

function fail(text: string, type: RunError["type"], message: string): Next {
  return {
    kind: "end",
    ending: {
      status: "failed",
      text,
      bailout: "error",
      error: { type, message, recoverable: type === "bad_response" },
    },
  };
}

function missingList(verdicts: readonly DeliverableVerdict[]): string {
  return verdicts
    .filter((verdict) => !verdict.ok)
    .map((verdict) => `- \`${verdict.deliverable}\`: ${verdict.reason}`)
    .join("\n");
}
