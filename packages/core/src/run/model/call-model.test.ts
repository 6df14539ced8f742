import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../../test/fixtures/hand-made-run.ts";
import { Ledger } from "../../budget/ledger.ts";
import { Limiter, type LimiterOutcome } from "../../budget/limiter.ts";
import { RunSlot, Slots } from "../../budget/slots.ts";
import type { ErrorType, RunError } from "../../schema/result.ts";
import { partsOf, scriptedModel } from "../../testing/scripted-model.ts";
import { failWith, type Step, say } from "../../testing/step.ts";
import { defineTool } from "../../tools/tool.ts";
import type { ModelOutcome } from "../outcome.ts";
import { attemptCall, callModel } from "./call-model.ts";
import type { CallableModel } from "./callable-model.ts";

const PRICE = { input: 1, output: 2 };
const modelOf = (steps: readonly Step[], more: Partial<CallableModel> = {}) => {
  const model = scriptedModel("model", steps);
  return { ...{ id: "test/model", provider: "test", price: PRICE }, ...more, model };
};
const failed = (type: ErrorType, more: Partial<RunError> = {}): ModelOutcome => ({
  kind: "failed",
  error: { type, message: type, recoverable: false, ...more },
});
const COMPLAINT = "max_tokens is too large: 16384. This model supports at most 4096 completion tokens";
const DONE: ModelOutcome = { kind: "interrupted" };

/** Calls a model whose attempts end so; the time that was waited and the models that were asked. */
async function attempt(outcomes: readonly ModelOutcome[], fallbacks: readonly string[] = []) {
  const left = [...outcomes];
  const asked: string[] = [];
  const ownModel: CallableModel = {
    ...modelOf([]),
    fallbacks: fallbacks.map((id) => ({ ...modelOf([]), id })),
  };
  const made = makeRun({
    ownModel,
    host: {
      callModel: async ({ model }) => {
        asked.push(model.id);
        return left.shift() ?? DONE;
      },
    },
  });
  let outcome: ModelOutcome | null = null;
  const calling = callModel(made.run, { purpose: "turn" }).then((ended) => {
    outcome = ended;
  });
  for (let step = 0; outcome === null && step < 2_000; step++) {
    await Promise.resolve();
    if (step % 10 === 0) made.clock.advance(100);
  }
  await calling;
  return { ...made, asked: asked.length, models: asked, outcome, waitedMs: made.clock.monotonicMs() };
}

test("what may pass is tried again, four times in all, with growing pauses or as the provider says", async () => {
  const busy = failed("overloaded", { recoverable: true });
  const { asked, waitedMs } = await attempt([busy, busy, busy, busy, busy]);
  expect(asked).toBe(4);
  expect(waitedMs).toBeGreaterThanOrEqual(3_500);
  expect(waitedMs).toBeLessThan(5_000);
  const told = await attempt([failed("overloaded", { recoverable: true, retryAfterMs: 9_000 }), DONE]);
  expect(told.waitedMs).toBeGreaterThanOrEqual(9_000);
  expect((await attempt([failed("overloaded"), DONE])).asked).toBe(1);
});

test("after a rate limit a run does not wait by itself: the limit that all calls share does", async () => {
  const { asked, waitedMs } = await attempt([
    failed("rate_limit", { recoverable: true, retryAfterMs: 60_000 }),
    DONE,
  ]);
  expect([asked, waitedMs < 1_000]).toEqual([2, true]);
});

test("where a model stays unavailable the next takes over for the rest of the run, and that is told", async () => {
  const { run, models, events } = await attempt([failed("overloaded"), failed("network"), DONE], ["b", "c"]);
  expect(models).toEqual(["test/model", "b", "c"]);
  expect([run.model.id, run.warnings.length]).toEqual(["c", 2]);
  expect(events.filter(({ type }) => type === "notice.raised")).toHaveLength(2);
  expect((await attempt([failed("auth"), DONE], ["b"])).models).toEqual(["test/model"]);
  const patient = failed("overloaded", { recoverable: true, retryAfterMs: 60_000 });
  expect((await attempt([patient, DONE], ["b"])).models).toEqual(["test/model", "b"]);
});

/** A provider's limit that notes what it is told of the calls that end. */
class WatchedLimiter extends Limiter {
  readonly #released: unknown[];

  constructor(released: unknown[]) {
    super(1, makeRun().clock);
    this.#released = released;
  }

  override release(outcome: LimiterOutcome): void {
    this.#released.push(outcome);
    super.release(outcome);
  }
}

/** Makes one attempt at a call by a model that plays these steps. */
async function callOnce(
  step: Step,
  {
    model = {},
    purpose = "turn",
    ...parts
  }: RunParts & { model?: Partial<CallableModel>; purpose?: "turn" | "wrap_up" } = {},
) {
  const ownModel = modelOf([step], model);
  const made = makeRun({ ...parts, ownModel });
  made.run.turn = 1;
  const outcome = await attemptCall(made.run, { purpose });
  return { ...made, outcome, request: ownModel.model.requests[0] };
}

test("a reply is charged as it was measured, and gives back its slot and its provider place", async () => {
  const account = new Ledger("run", null, { tokens: 100_000 });
  const limiter = new Limiter(1, makeRun().clock);
  const { run, outcome, rows } = await callOnce(say("Done.", { input: 100, output: 10 }), {
    account,
    host: { limiter: () => limiter },
  });
  expect(outcome).toMatchObject({ kind: "reply", tokens: 110 });
  expect([account.tokensSpent, account.tokensReserved, run.tokens]).toEqual([110, 0, 110]);
  expect(run.costUsd).toBeCloseTo(0.00012);
  expect([run.slot.isUsed, limiter.active]).toEqual([false, 0]);
  expect(rows).toMatchObject([{ metadata: { turn: 1 }, closing: { status: "completed", totalTokens: 110 } }]);
});

test("a reply that broke off after text is charged, one that never began is not", async () => {
  const account = () => new Ledger("run", null, { tokens: 100_000 });
  const [text] = partsOf({ kind: "reply", text: "Hel", calls: [] }).slice(1, 2);
  const broken = await callOnce({ kind: "parts", parts: text ? [text] : [] }, { account: account() });
  expect(broken.run.tokens).toBeGreaterThan(0);
  expect([broken.run.account.tokensSpent, broken.run.account.tokensReserved]).toEqual([broken.run.tokens, 0]);
  const never = await callOnce(failWith("overloaded"), { account: account() });
  expect([never.run.tokens, never.run.account.tokensSpent, never.run.account.tokensReserved]).toEqual([
    0, 0, 0,
  ]);
});

test("a run that is stopped while it waits for its slot gives back its reservation and its provider place", async () => {
  const account = new Ledger("run", null, { tokens: 100_000 });
  const released: unknown[] = [];
  const limiter = new WatchedLimiter(released);
  const slots = new Slots(1);
  await slots.acquire(0, false, new AbortController().signal);
  const slot = new RunSlot(slots, 0);
  const { run, rows } = makeRun({ account, slot, ownModel: modelOf([]), host: { limiter: () => limiter } });
  const calling = attemptCall(run, { purpose: "turn" });
  await new Promise((resolve) => setImmediate(resolve));
  expect([account.tokensReserved > 0, limiter.active]).toEqual([true, 1]);
  run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
  expect(await calling).toEqual({ kind: "interrupted" });
  expect([account.tokensReserved, limiter.active, rows]).toEqual([0, 0, []]);
  expect(released).toEqual([{ rateLimited: false, failed: true }]);
});

test("a cost limit needs a known price; without one the cost of a run is not known any more", async () => {
  const account = new Ledger("run", null, { costUsd: 1 });
  const unknown = await callOnce(say("x"), { account, model: { price: null } });
  expect(unknown.outcome).toMatchObject({ kind: "failed", error: { type: "config" } });
  const { run } = await callOnce(say("x"), { model: { price: null } });
  expect(run.costUsd).toBeNull();
  run.model = modelOf([say("y")]);
  await attemptCall(run, { purpose: "turn" });
  expect(run.costUsd).toBeNull();
});

test("a call has as many tokens as were set, but no more than the model is known to give", async () => {
  const asked = async (set: number | undefined, most: number, isKnown: boolean) => {
    const limits = set === undefined ? {} : { maxOutputTokens: set };
    return (await callOnce(say("x"), { limits, model: { output: { most, isKnown } } })).request
      ?.maxOutputTokens;
  };
  expect([
    await asked(5_000, 1_000, true),
    await asked(5_000, 1_000, false),
    await asked(undefined, 1_000, true),
  ]).toEqual([1_000, 5_000, 1_000]);
});

test("a last report may call no tools, a turn may", async () => {
  const tools = [
    defineTool<object>({ name: "read", description: "", input: { type: "object" }, execute: async () => "" }),
  ];
  const choiceOf = async (purpose: "turn" | "wrap_up") =>
    (await callOnce(say("x"), { tools, purpose })).request?.toolChoice;
  expect([await choiceOf("turn"), await choiceOf("wrap_up")]).toEqual([{ type: "auto" }, { type: "none" }]);
});

test("calls of a reply are hidden, translated and marked if the reply was cut", async () => {
  const tools = [
    defineTool<object>({ name: "read", description: "", input: { type: "object" }, execute: async () => "" }),
  ];
  const input = { path: KNOWN_SECRET };
  const step: Step = { kind: "reply", text: "", calls: [{ tool: "Read", input }], finish: "length" };
  const { outcome } = await callOnce(step, { tools });
  expect(outcome).toMatchObject({
    reply: {
      calls: [{ tool: "read", input: '{"path":"[redacted:secret]"}', unfinished: { finish: "length" } }],
    },
  });
});

test("usage that cannot be believed is warned of once and estimated on the high side", async () => {
  const { run, outcome } = await callOnce(say("Done.", { input: undefined, output: undefined }));
  expect(outcome).toMatchObject({ kind: "reply", tokens: null });
  run.model = modelOf([say("Again.", { input: undefined, output: undefined })]);
  await attemptCall(run, { purpose: "turn" });
  expect(run.warnings).toEqual([expect.stringContaining("not believed")]);
});

test("a failure of another kind than a rate limit is told to the shared limit as a failure", async () => {
  const released: unknown[] = [];
  const limiter = new WatchedLimiter(released);
  for (const step of [say("x"), failWith("overloaded"), failWith("rate_limit", "slow", { retryAfterMs: 5 })])
    await callOnce(step, { host: { limiter: () => limiter } });
  expect(released).toEqual([
    { rateLimited: false, failed: false },
    { rateLimited: false, failed: true },
    { rateLimited: true, failed: true, retryAfterMs: 5 },
  ]);
});

test("a later turn leaves room in a limited budget for the last report, the first does not", async () => {
  const mostOf = async (turn: number) => {
    const model = modelOf([say("x")]);
    const { run, rows } = makeRun({ ownModel: model, account: new Ledger("run", null, { tokens: 2_000 }) });
    run.turn = turn;
    await attemptCall(run, { purpose: "turn" });
    return (model.model.requests[0]?.maxOutputTokens ?? 0) + (rows[0]?.contextTokenCount ?? 0);
  };
  expect(await mostOf(1)).toBe(2_000);
  expect(await mostOf(2)).toBeLessThan(2_000 - 64);
});

test("the worst cost of a call counts the dearest kind of input and of output", async () => {
  const price = { input: 1, cacheWrite: 5, output: 2, reasoning: 9 };
  const account = new Ledger("run", null, { costUsd: 1 });
  const { rows, request } = await callOnce(say("x"), { account, model: { price } });
  const worst = ((rows[0]?.contextTokenCount ?? 0) * 5 + (request?.maxOutputTokens ?? 0) * 9) / 1_000_000;
  expect(rows[0]?.metadata?.reservedUsd).toBeCloseTo(worst, 10);
});

test("under a budget a reply of unknown length is charged as all that it could have been", async () => {
  const unknown = say("Done.", { input: undefined, output: undefined });
  const account = new Ledger("run", null, { tokens: 2_000 });
  await callOnce(unknown, { account });
  expect(account.tokensSpent).toBe(2_000);
});

test("a server that says how long its replies can be is asked for that once; if it still complains a person must help", async () => {
  const complaint = failed("config", { message: COMPLAINT });
  const { run, outcome, asked } = await attempt([complaint, complaint, complaint]);
  expect([asked, run.model.output?.most]).toEqual([2, 4_096]);
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining("set maxOutputTokens lower") } });
});
