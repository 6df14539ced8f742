import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { LONGEST_TIMER_MS } from "../../budget/clock.ts";
import { endsWhole } from "../../models/wire/finish-reason.ts";
import { messageOf } from "../../schema/error.ts";
import { type BailoutReason, ERROR_TYPES, type ErrorType, type RunError } from "../../schema/result.ts";
import type { Run } from "../run.ts";
import type { CallableModel } from "./callable-model.ts";
import { type Reply, ReplyReader } from "./reply.ts";

/** A whole reply, or a failure and whether the model had begun to answer. */
export type Streamed = { chars: number } & (
  | { kind: "reply"; reply: Reply }
  /** `said`: the words that had come before it broke off. */
  | { kind: "failed"; error: RunError; bailout?: BailoutReason; began: boolean; said: string }
);

/** Streams one reply. Never throws; a stream that breaks off gives a failure, never part of a reply. */
export async function streamReply(run: Run, options: LanguageModelV4CallOptions): Promise<Streamed> {
  const controller = new AbortController();
  const stop = () => controller.abort(run.signal.reason);
  run.signal.addEventListener("abort", stop, { once: true });
  if (run.signal.aborted) stop();
  const { firstTokenMs, idleMs } = run.limits;
  const { maxReplyChars } = run.host.guards;
  const watchdog = startWatchdog(firstTokenMs, idleMs, () => controller.abort(new Error("no sign of life")));
  const reader = new ReplyReader();
  const show = run.host.watched() ? createShow(run) : null;
  let began = false;
  try {
    const onPart: OnPart = (part) => {
      began ||= part.type !== "stream-start";
      watchdog.sawPart();
      const shown = reader.take(part);
      if (shown) show?.(shown.kind, shown.text);
      if (reader.chars > maxReplyChars) controller.abort(new Error("the reply has no end"));
    };
    controller.signal.throwIfAborted();
    const asked = { ...options, abortSignal: controller.signal };
    await (run.model.stream?.(asked, onPart) ?? readStream(run.model, asked, onPart));
    show?.(endsWhole(reader.reply.finish) ? "end" : "cut", "");
    if (watchdog.fired || controller.signal.aborted) throw new Error("stopped");
    if (reader.error !== undefined) throw reader.error;
    if (run.host.guards.isWhole(reader)) return { kind: "reply", reply: reader.reply, chars: reader.chars };
    const message = `${run.model.id} broke off its reply`;
    return failed(reader, began, { type: "network", message, recoverable: true });
  } catch (thrown) {
    if (reader.chars > maxReplyChars) {
      const message = `${run.model.id} did not end its reply after ${maxReplyChars} characters`;
      return failed(reader, began, { type: "bad_response", message, recoverable: false });
    }
    if (!watchdog.fired) return failed(reader, began, runErrorOf(thrown));
    const first = watchdog.fired === "first_token";
    const message = first
      ? `${run.model.id} gave no answer for ${firstTokenMs / 1000} s`
      : `${run.model.id} stopped in the middle of its answer for ${idleMs / 1000} s`;
    const bailout: BailoutReason = first ? "first_token_timeout" : "idle_timeout";
    return { ...failed(reader, began, { type: "timeout", message, recoverable: false }), bailout };
  } finally {
    watchdog.stop();
    run.signal.removeEventListener("abort", stop);
  }
}

type OnPart = (part: LanguageModelV4StreamPart) => void;

/** Hands over every part until the stream ends or the signal fires, even if the model ignores the signal. */
async function readStream(
  { model }: CallableModel,
  options: LanguageModelV4CallOptions & { abortSignal: AbortSignal },
  onPart: OnPart,
): Promise<void> {
  const signal = options.abortSignal;
  let cancel: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => {
      cancel?.();
      reject(signal.reason);
    });
  });
  aborted.catch(() => {});
  const { stream } = await Promise.race([model.doStream(options), aborted]);
  const parts = stream.getReader();
  cancel = () => void parts.cancel(signal.reason).catch(() => {});
  while (true) {
    const next = await parts.read();
    if (next.done || signal.aborted) return;
    onPart(next.value);
    if (next.value.type === "error") {
      cancel();
      return;
    }
  }
}

type Shown = "text" | "reasoning" | "end" | "cut";

function createShow(run: Run): (kind: Shown, text: string) => void {
  const redacting = run.host.redactor.stream();
  const { runId } = run;
  const turn = run.turn;
  return (kind, chunk) => {
    if (kind === "reasoning") return;
    const text = kind === "text" ? redacting.push(chunk) : redacting[kind]();
    if (text) run.session.emit({ type: "text.streamed", runId, turn, text });
  };
}

function failed(reader: ReplyReader, began: boolean, error: RunError): Streamed & { kind: "failed" } {
  return { kind: "failed", error, began, chars: reader.chars, said: reader.reply.text };
}

/** A thrown model error as data; what carries no known type counts as a bad response. */
export function runErrorOf(thrown: unknown): RunError {
  const details = typeof thrown === "object" && thrown !== null ? (thrown as Record<string, unknown>) : {};
  const known = ERROR_TYPES.find((type) => type === details.type);
  const type: ErrorType = known ?? "bad_response";
  const recoverable = typeof details.recoverable === "boolean" ? details.recoverable : false;
  return {
    type,
    message: messageOf(thrown),
    recoverable,
    ...(typeof details.retryAfterMs === "number" && { retryAfterMs: details.retryAfterMs }),
  };
}

/** Fires when a model call shows no sign of life. */
export type Watchdog = { readonly fired: "first_token" | "idle" | null; sawPart(): void; stop(): void };

/**
 * Watches one call: the time to its first part, then the gap between parts. A zero switches that watch off. There is one
 * timer, which looks at most as seldom as the shorter time allows; a part only notes when it came.
 */
export function startWatchdog(firstTokenMs: number, idleMs: number, bite: () => void): Watchdog {
  const begunMs = performance.now();
  let lastMs = begunMs;
  let fired: "first_token" | "idle" | null = null;
  let waitingForFirst = true;
  let timer: NodeJS.Timeout | undefined;
  const findEndMs = () => {
    const limitMs = waitingForFirst ? firstTokenMs : idleMs;
    return limitMs > 0 ? lastMs + limitMs : Number.POSITIVE_INFINITY;
  };
  const look = () => {
    const nowMs = performance.now();
    const leftMs = findEndMs() - nowMs;
    // Timers can fire a little early.
    if (leftMs < 1) {
      fired = waitingForFirst ? "first_token" : "idle";
      bite();
      return;
    }
    const soonest = waitingForFirst && idleMs > 0 ? Math.min(leftMs, idleMs) : leftMs;
    if (soonest < Number.POSITIVE_INFINITY) timer = setTimeout(look, Math.min(soonest, LONGEST_TIMER_MS));
  };
  look();
  return {
    get fired() {
      return fired;
    },
    sawPart() {
      lastMs = performance.now();
      waitingForFirst = false;
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
