import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { delay } from "../../budget/clock.ts";
import type { Need, Reservation } from "../../budget/ledger.ts";
import { type OutputComplaint, readOutputComplaint } from "../../models/output-complaint.ts";
import { computeCost, DEFAULT_OUTPUT_TOKENS } from "../../models/prices.ts";
import { endsWhole } from "../../models/wire/finish-reason.ts";
import type { ErrorType, RunError } from "../../schema/result.ts";
import { showNumber } from "../../show/measures.ts";
import { isOffered } from "../../tools/tool.ts";
import { functionToolOf } from "../../tools/validate-input.ts";
import { translateCall } from "../calls/translate-call.ts";
import type { ModelCall, ModelOutcome } from "../outcome.ts";
import type { Run } from "../run.ts";
import { waitFor, waitForDisk } from "../wait-for.ts";
import { closeTurn, openTurn, type Spent } from "./record-turn.ts";
import { hideSecrets, type Reply } from "./reply.ts";
import { type Streamed, streamReply } from "./stream-reply.ts";

const MAX_ATTEMPTS = 4;
const FIRST_RETRY_MS = 500;
/** A run with a fallback does not wait longer than this for a model. */
const LONGEST_WAIT_MS = 30_000;
/** What another model can help with: a person must correct a wrong key, and a bad reply says nothing about the provider. */
const UNAVAILABLE: ReadonlySet<ErrorType> = new Set([
  "overloaded",
  "rate_limit",
  "network",
  "timeout",
  "config",
]);
const LEAST_OUTPUT_TOKENS = 256;
const LEAST_WRAP_UP_TOKENS = 64;

/**
 * Calls the run's model, again a bounded number of times where that can help, and then, if it stays unavailable, its
 * fallbacks; who takes over stays for the rest of the run.
 */
export async function callModel(run: Run, call: ModelCall): Promise<ModelOutcome> {
  for (let attempt = 1; ; attempt++) {
    if (run.interruption) return { kind: "interrupted" };
    const outcome = await run.host.callModel(run, call);
    if (run.interruption) return { kind: "interrupted" };
    if (outcome.kind !== "failed") return outcome;
    const { error } = outcome;
    const complaint = error.recoverable ? null : readOutputComplaint(error.message);
    if (complaint) {
      if (!lowerOutput(run, complaint)) return { ...outcome, error: withHint(error) };
    } else if (helpsToRepeat(run, error, attempt)) {
      // The provider's limit makes the next call wait by itself.
      if (error.type === "rate_limit") continue;
      const backoffMs = FIRST_RETRY_MS * 2 ** (attempt - 1) * (0.5 + run.host.random());
      const waiting = delay(run.host.clock, error.retryAfterMs ?? backoffMs, run.signal);
      await waitFor(run, "provider", waiting);
    } else if (takeFallback(run, error)) attempt = 0;
    else return outcome;
  }
}

function helpsToRepeat(run: Run, error: RunError, attempt: number): boolean {
  if (!error.recoverable || attempt >= MAX_ATTEMPTS) return false;
  return run.fallbacks.length === 0 || (error.retryAfterMs ?? 0) <= LONGEST_WAIT_MS;
}

/** Lets the next model take over from one that is not available; false if it is, or there is none. */
function takeFallback(run: Run, error: RunError): boolean {
  const next = UNAVAILABLE.has(error.type) ? run.fallbacks.shift() : undefined;
  if (!next) return false;
  const message = `${next.id} takes over, because ${run.model.id} is not available: ${error.message}`;
  run.model = next;
  run.warnings.push(message);
  run.session.emit({ type: "notice.raised", level: "warning", message, runId: run.runId });
  return true;
}

/** Asks for no longer replies than the server says it takes, for the rest of the run; false if that cannot help. */
function lowerOutput(run: Run, { most }: OutputComplaint): boolean {
  if (most === null || run.model.output?.isTold) return false;
  run.model = { ...run.model, output: { most, isKnown: true, isTold: true } };
  const { runId } = run;
  const message = `${run.model.id} gives at most ${showNumber(most)} tokens in a reply, as its server says, and is asked for that; set maxOutputTokens under "prices" in the settings to spare the question`;
  run.warnings.push(message);
  run.session.emit({ type: "notice.raised", level: "warning", message, runId });
  return true;
}

function withHint(error: RunError): RunError {
  const hint = "set maxOutputTokens lower: in the agent, in the settings, or with --max-output-tokens";
  return { ...error, message: `${error.message} (${hint})` };
}

/** Makes one attempt at a model call: budget, provider and slot first, then its row, the reply, and what it cost. */
export async function attemptCall(run: Run, call: ModelCall): Promise<ModelOutcome> {
  const { price, id } = run.model;
  if (run.account.costLimited && !price) return { kind: "failed", error: unknownPrice(id) };
  const need = needOf(run, call);
  const reserving = run.host.guards.reserve(run.account, need, run.signal);
  const reserved = await (run.account.limited ? waitFor(run, "budget", reserving) : reserving);
  if (reserved.kind === "refused") {
    return reserved.resource === "cancelled"
      ? { kind: "interrupted" }
      : { kind: "unaffordable", resource: reserved.resource };
  }
  if (!(await takePlaces(run))) {
    reserved.settle(0, 0);
    return { kind: "interrupted" };
  }
  const turn = openTurn(run, {
    purpose: call.purpose,
    contextTokens: need.inputTokens,
    reserved: reserved.outputTokens,
    reservedUsd: worstCost(run, need, reserved.outputTokens),
  });
  const unwritten = run.host.watched() ? null : await waitForDisk(run);
  const streamed =
    unwritten === null
      ? await streamReply(run, optionsOf(run, call, reserved.outputTokens))
      : neverSent(`the record could not be written: ${unwritten}`);
  run.slot.leave();
  if (streamed.kind === "reply") {
    for (const call of streamed.reply.calls) translateCall(run.tools, call);
    hideSecrets(streamed.reply, run.host.redactor);
    streamed.reply.calls = run.host.guards.distinctCalls(run, streamed.reply.calls);
    markUnfinished(streamed.reply, reserved.outputTokens);
  }
  const error = streamed.kind === "failed" ? streamed.error : undefined;
  run.host.limiter(run.model.provider).release({
    rateLimited: error?.type === "rate_limit",
    failed: error !== undefined,
    ...(error?.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  });
  const inputBytes = call.purpose === "summary" ? call.inputBytes : countSentBytes(run);
  const spent = settle(run, streamed, { need, reserved, inputBytes });
  closeTurn(run, turn, streamed, spent);
  if (streamed.kind === "failed") {
    return { kind: "failed", error: streamed.error, ...(streamed.bailout && { bailout: streamed.bailout }) };
  }
  const { inputTokens, outputTokens } = spent.usage;
  return { kind: "reply", reply: streamed.reply, tokens: spent.doubt ? null : inputTokens + outputTokens };
}

/** A call that was not made. */
function neverSent(message: string): Streamed {
  return {
    kind: "failed",
    error: { type: "failed", message, recoverable: false },
    began: false,
    chars: 0,
    said: "",
  };
}

/** Marks a reply that was cut or stopped, and its calls, even if they look complete: nobody knows what was to follow. */
function markUnfinished(reply: Reply, maxOutputTokens: number): void {
  const { finish, calls } = reply;
  if (endsWhole(finish)) return;
  if (finish === "length") reply.maxOutputTokens = maxOutputTokens;
  for (const call of calls) call.unfinished = { finish, maxOutputTokens };
}

/** Waits for the provider's limit, then for a slot: who holds a slot never waits for a provider. */
async function takePlaces(run: Run): Promise<boolean> {
  const limiter = run.host.limiter(run.model.provider);
  if (!limiter.tryAcquire() && !(await waitFor(run, "provider", limiter.acquire(run.signal)))) return false;
  if (run.slot.tryEnter() || (await waitFor(run, "slot", run.slot.enter(run.signal)))) return true;
  // No call was made, so that this says nothing about the limit.
  limiter.release({ rateLimited: false, failed: true });
  return false;
}

function needOf(run: Run, call: ModelCall): Need {
  const { price } = run.model;
  const maxOutputTokens = mostOutput(run, call);
  const highest = Math.max(price?.input ?? 0, price?.cacheWrite ?? 0);
  const inputTokens = call.purpose === "summary" ? estimateTokens(call.inputBytes) : estimateInputTokens(run);
  const laterTurn = call.purpose === "turn" && run.turn > 1;
  return {
    inputTokens,
    ...(laterTurn && { spareTokens: inputTokens + LEAST_WRAP_UP_TOKENS }),
    outputTokens: maxOutputTokens,
    usualOutputTokens: Math.min(maxOutputTokens, DEFAULT_OUTPUT_TOKENS),
    leastOutputTokens: Math.min(
      maxOutputTokens,
      call.purpose === "turn" ? LEAST_OUTPUT_TOKENS : LEAST_WRAP_UP_TOKENS,
    ),
    inputPrice: highest / 1_000_000,
    outputPrice: Math.max(price?.output ?? 0, price?.reasoning ?? 0) / 1_000_000,
  };
}

/** Tokens that a reply may have: what was set, at most what the model is known to give; a summary is short. */
function mostOutput(run: Run, call: ModelCall): number {
  const { most, isKnown } = run.model.output ?? { most: DEFAULT_OUTPUT_TOKENS, isKnown: false };
  const set = run.limits.maxOutputTokens;
  const allowed = set === undefined ? most : Math.min(set, isKnown ? most : set);
  return call.purpose === "summary" ? Math.min(allowed, DEFAULT_OUTPUT_TOKENS) : allowed;
}

function optionsOf(run: Run, call: ModelCall, maxOutputTokens: number): LanguageModelV4CallOptions {
  const { agent, tools } = run;
  const step = call.purpose === "turn" ? run.step : null;
  const prompt = call.purpose === "summary" ? call.messages : run.history;
  const options: LanguageModelV4CallOptions = { prompt, maxOutputTokens };
  if (call.purpose !== "turn") options.providerOptions = { retinue: { purpose: call.purpose } };
  if (step) options.providerOptions = { retinue: { phase: step.name } };
  if (agent.temperature !== undefined) options.temperature = agent.temperature;
  if (call.purpose !== "summary" && tools.size > 0 && step?.tools !== null) {
    options.tools = [];
    for (const [name, tool] of tools) {
      if (isOffered(name, tool) && (step?.tools?.includes(name) ?? true))
        options.tools.push(functionToolOf(tool));
    }
    const mayCall = call.purpose === "turn" && step?.mayCall !== false;
    options.toolChoice = { type: mayCall ? "auto" : "none" };
  }
  return options;
}

function settle(
  run: Run,
  streamed: Streamed,
  booked: { need: Need; reserved: Reservation; inputBytes: number },
): Spent {
  const { need, reserved } = booked;
  if (run.model.unmetered || (streamed.kind === "failed" && !streamed.began)) {
    reserved.settle(0, 0);
    return {
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      doubt: null,
      costUsd: 0,
    };
  }
  const reported = streamed.kind === "reply" ? streamed.reply.usage : undefined;
  const { usage, doubt } = run.host.guards.measure(reported, {
    inputTokens: need.inputTokens,
    outputTokens: run.account.limited ? reserved.outputTokens : estimateTokens(streamed.chars),
    inputBytes: booked.inputBytes,
    maxOutputTokens: reserved.outputTokens,
    replyChars: streamed.chars,
  });
  if (doubt && streamed.kind === "reply") warnOfUsage(run, doubt);
  const costUsd = computeCost(usage, run.model.price);
  const tokens = usage.inputTokens + usage.outputTokens;
  reserved.settle(tokens, costUsd ?? 0);
  run.tokens += tokens;
  run.costUsd = run.costUsd === null || costUsd === null ? null : run.costUsd + costUsd;
  return { usage, doubt, costUsd };
}

/** Once for a run and model, so that a server that never counts does not fill the result with it. */
function warnOfUsage(run: Run, doubt: string): void {
  const who = `the usage that ${run.model.id} reports is not believed`;
  if (run.warnings.some((warning) => warning.startsWith(who))) return;
  run.warnings.push(`${who}: ${doubt}; tokens and cost are estimated on the high side`);
}

/** What a call costs at worst, by the same measure as its tokens; null if the price is not known. */
function worstCost(run: Run, need: Need, outputTokens: number): number | null {
  if (run.model.unmetered) return 0;
  if (!run.model.price) return null;
  const output = run.account.limited ? outputTokens * need.outputPrice : 0;
  return need.inputTokens * need.inputPrice + output;
}

function unknownPrice(model: string): RunError {
  return {
    type: "config",
    message: `the price of ${model} is not known, so a cost limit cannot be kept; add it under "prices" in the settings, or limit tokens instead`,
    recoverable: false,
  };
}

/** Fewer bytes than a token of ordinary text has, so that the estimate errs on the high side. */
const BYTES_PER_TOKEN = 3;
const TOKENS_PER_MESSAGE = 8;

const bytesOfTools = new WeakMap<Run["tools"], number>();

/** Input tokens the next call will have at most: what the last call measured, plus an estimate of what came since. */
function estimateInputTokens(run: Run): number {
  const unmeasured = Math.max(0, run.contextBytes - run.measured.bytes);
  const estimated =
    run.measured.tokens + estimateTokens(unmeasured) + run.history.length * TOKENS_PER_MESSAGE;
  return run.measured.tokens > 0 ? estimated : estimated + estimateTokens(toolBytes(run));
}

/** Tokens a text of so many bytes has at most, unless it is a very dense one. */
function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Bytes that the next call sends: the conversation and the tools. */
function countSentBytes(run: Run): number {
  return run.contextBytes + toolBytes(run);
}

/** Bytes of all tools of a run, which has the same ones from its first call to its last. */
function toolBytes({ tools }: Run): number {
  let bytes = bytesOfTools.get(tools);
  if (bytes === undefined) {
    bytes = 0;
    for (const tool of tools.values()) bytes += JSON.stringify(functionToolOf(tool)).length;
    bytesOfTools.set(tools, bytes);
  }
  return bytes;
}
