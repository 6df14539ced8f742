import { getEventListeners } from "node:events";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { afterEach, expect, test, vi } from "vitest";
import { makeRun, type RunParts } from "../../../../../test/fixtures/hand-made-run.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { guards } from "../guards.ts";
import type { CallableModel, StreamToCallback } from "./callable-model.ts";
import { runErrorOf, startWatchdog, streamReply } from "./stream-reply.ts";

afterEach(() => {
  vi.useRealTimers();
});

const model = scriptedModel("model", []);
const streaming = (stream: StreamToCallback): CallableModel => ({
  ...{ id: "test/model", provider: "test", model, price: null, stream },
});
const text = (delta: string): LanguageModelV4StreamPart => ({ type: "text-delta", id: "t", delta });
const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: undefined, reasoning: undefined },
  },
};

/** Streams one reply of a model that hands over these parts, and then does what is said. */
function stream(
  parts: readonly LanguageModelV4StreamPart[],
  more: RunParts & { after?: () => Promise<void> } = {},
) {
  const { after = async () => {}, ...rest } = more;
  const ownModel = streaming(async (_, onPart) => {
    for (const part of parts) onPart(part);
    await after();
  });
  const made = makeRun({ ownModel, ...rest });
  return { ...made, streamed: streamReply(made.run, { prompt: [] }) };
}

test("a stream that reached its end gives a whole reply, and leaves nothing on the run's signal", async () => {
  const { run, streamed } = stream([text("Hello"), FINISH]);
  expect(await streamed).toMatchObject({ kind: "reply", chars: 5, reply: { text: "Hello" } });
  expect(getEventListeners(run.signal, "abort")).toEqual([]);
});

test("a stream that broke off, told an error or threw is a failure with the words that had come", async () => {
  expect(await stream([text("Hel")]).streamed).toMatchObject({
    ...{ kind: "failed", began: true, said: "Hel", chars: 3 },
    error: { type: "network", recoverable: true },
  });
  const error = Object.assign(new Error("busy"), { type: "overloaded", recoverable: true });
  expect(await stream([text("Hel"), { type: "error", error }, FINISH]).streamed).toMatchObject({
    error: { type: "overloaded", message: "busy", recoverable: true },
  });
  const thrown = async () => Promise.reject(error);
  expect(await stream([], { after: thrown }).streamed).toMatchObject({
    began: false,
    error: { type: "overloaded" },
  });
});

test("a model that has only opened its stream has not begun to answer", async () => {
  const opened: LanguageModelV4StreamPart = { type: "stream-start", warnings: [] };
  expect(await stream([opened]).streamed).toMatchObject({ kind: "failed", began: false });
});

test("a reply without end is given up", async () => {
  const host = { guards: { ...guards, maxReplyChars: 10 } };
  expect(await stream([text("x".repeat(11)), FINISH], { host }).streamed).toMatchObject({
    ...{ kind: "failed", error: { type: "bad_response", recoverable: false } },
  });
});

test("a run that was stopped, before or while its model writes, gets no reply", async () => {
  const stop = { status: "cancelled", bailout: "cancelled", message: "stopped" } as const;
  const signals: boolean[] = [];
  const ownModel = streaming(async ({ abortSignal }, onPart) => {
    signals.push(abortSignal?.aborted ?? false);
    onPart(text("Hel"));
  });
  const { run } = makeRun({ ownModel });
  run.interrupt(stop);
  expect(await streamReply(run, { prompt: [] })).toMatchObject({ kind: "failed" });
  expect(signals).toEqual([]);
  const { run: other, streamed } = stream([text("Hel")], {
    after: async () => {
      other.interrupt(stop);
      await Promise.resolve();
    },
  });
  expect(await streamed).toMatchObject({ kind: "failed", began: true });
});

test("a model that falls silent is given up: before its first part, or between two", async () => {
  vi.useFakeTimers();
  const limits = { firstTokenMs: 1_000, idleMs: 500 };
  const silent = (parts: readonly LanguageModelV4StreamPart[]) =>
    streaming(async ({ abortSignal }, onPart) => {
      for (const part of parts) onPart(part);
      await new Promise((_, reject) =>
        abortSignal?.addEventListener("abort", () => reject(abortSignal.reason)),
      );
    });
  const idle = streamReply(makeRun({ ownModel: silent([text("H"), text("el")]), limits }).run, {
    prompt: [],
  });
  vi.advanceTimersByTime(500);
  expect(await idle).toMatchObject({ bailout: "idle_timeout", error: { type: "timeout" }, said: "Hel" });
  const first = streamReply(makeRun({ ownModel: silent([]), limits }).run, { prompt: [] });
  vi.advanceTimersByTime(999);
  await Promise.resolve();
  vi.advanceTimersByTime(1);
  expect(await first).toMatchObject({ bailout: "first_token_timeout", began: false });
});

test("an error of no known type is a bad response that nothing is known of", () => {
  expect(runErrorOf(Object.assign(new Error("x"), { type: "strange", retryAfterMs: 5 }))).toEqual({
    ...{ type: "bad_response", message: "x", recoverable: false, retryAfterMs: 5 },
  });
  expect(runErrorOf("plain")).toMatchObject({ type: "bad_response", message: "plain" });
});

test("a call without a first part is noticed after its time, and one that stops after the other", () => {
  vi.useFakeTimers();
  const first = startWatchdog(1_000, 50, () => {});
  vi.advanceTimersByTime(999);
  expect(first.fired).toBeNull();
  vi.advanceTimersByTime(1);
  expect(first.fired).toBe("first_token");
  const idle = startWatchdog(1_000, 50, () => {});
  idle.sawPart();
  vi.advanceTimersByTime(50);
  expect(idle.fired).toBe("idle");
});

test("a time beyond what a timer takes is a long one, not none", () => {
  vi.useFakeTimers();
  const watchdog = startWatchdog(2 ** 40, 2 ** 40, () => {});
  vi.advanceTimersByTime(86_400_000);
  expect(watchdog.fired).toBeNull();
  watchdog.sawPart();
  vi.advanceTimersByTime(86_400_000);
  expect(watchdog.fired).toBeNull();
  watchdog.stop();
});
