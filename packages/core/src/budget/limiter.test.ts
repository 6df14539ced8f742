import { expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import { Limiter, type LimiterOutcome } from "./limiter.ts";

const GOOD: LimiterOutcome = { rateLimited: false };
const FAILED: LimiterOutcome = { rateLimited: false, failed: true };
const LIMITED: LimiterOutcome = { rateLimited: true };
const never = new AbortController().signal;

/** Lets everything that is ready run; no time passes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** How many calls may begin now; their places are kept. */
function takeAll(limiter: Limiter): number {
  let taken = 0;
  while (taken < 100 && limiter.tryAcquire()) taken++;
  return taken;
}

/** Makes one call that ends so, once nothing holds it back. */
function callOnce(limiter: Limiter, outcome: LimiterOutcome): void {
  expect(limiter.tryAcquire()).toBe(true);
  limiter.release(outcome);
}

test("a rate limit stops calls for everybody until its time is over, then one call probes", async () => {
  const clock = handClock();
  const limiter = new Limiter(2, clock);
  expect(takeAll(limiter)).toBe(2);
  let begun = 0;
  for (let i = 0; i < 6; i++) void limiter.acquire(never).then(() => begun++);
  limiter.release({ rateLimited: true, retryAfterMs: 5_000 });
  limiter.release(FAILED);
  clock.advance(4_999);
  await settle();
  expect(begun).toBe(0);
  clock.advance(2);
  await settle();
  expect(begun).toBe(1);
});

test("a storm of rate limits costs few calls more than the work itself", async () => {
  const clock = handClock();
  const limiter = new Limiter(16, clock, () => 0.5);
  let attempts = 0;
  let done = 0;
  const one = async () => {
    while (true) {
      await limiter.acquire(never);
      attempts++;
      await Promise.resolve();
      const limited = clock.monotonicMs() < 10_000;
      limiter.release({ rateLimited: limited });
      if (!limited) break;
    }
    done++;
  };
  const all = Array.from({ length: 200 }, one);
  for (let step = 0; step < 2_000 && done < 200; step++) {
    await settle();
    clock.advance(100);
  }
  await Promise.all(all);
  expect(attempts).toBeLessThanOrEqual(200 * 1.2);
});

test("a stopped waiter gives its place to the next", async () => {
  const limiter = new Limiter(1, handClock());
  await limiter.acquire(never);
  const controller = new AbortController();
  const stopped = limiter.acquire(controller.signal);
  const next = limiter.acquire(never);
  controller.abort();
  expect(await stopped).toBe(false);
  limiter.release({ rateLimited: false });
  expect(await next).toBe(true);
});

test("a timer that fires early strands nobody", async () => {
  const clock = handClock();
  const early: typeof clock = { ...clock, timer: (delayMs, fire) => clock.timer(delayMs / 2, fire) };
  const limiter = new Limiter(1, early);
  await limiter.acquire(never);
  const next = limiter.acquire(never);
  limiter.release({ rateLimited: true, retryAfterMs: 1_000 });
  for (let step = 0; step < 20; step++) clock.advance(100);
  expect(await next).toBe(true);
});

test("however many calls succeed, no more than the maximum are made at once", () => {
  const limiter = new Limiter(3, handClock());
  for (let call = 0; call < 10; call++) callOnce(limiter, GOOD);
  expect(takeAll(limiter)).toBe(3);
});

test("after a rate limit each success lets one more call be made at once, and a failure of another kind none", () => {
  const clock = handClock();
  const limiter = new Limiter(4, clock, () => 1);
  callOnce(limiter, LIMITED);
  clock.advance(1_002);
  for (let call = 0; call < 5; call++) callOnce(limiter, FAILED);
  expect(takeAll(limiter)).toBe(1);
  limiter.release(GOOD);
  expect(takeAll(limiter)).toBe(2);
});

test("the pause doubles with each rate limit in a row up to a minute, and a success begins it anew", () => {
  const clock = handClock();
  const limiter = new Limiter(1, clock, () => 1);
  const pauseAfter = (outcome: LimiterOutcome) => {
    callOnce(limiter, outcome);
    let pauseMs = 0;
    for (; !limiter.tryAcquire(); pauseMs += 100) clock.advance(100);
    limiter.release(FAILED);
    return pauseMs;
  };
  expect(Array.from({ length: 8 }, () => pauseAfter(LIMITED))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
  ]);
  expect(pauseAfter(GOOD)).toBe(0);
  expect(pauseAfter(LIMITED)).toBe(1_000);
  expect(pauseAfter({ rateLimited: true, retryAfterMs: 7_000 })).toBe(7_000);
  expect(pauseAfter({ rateLimited: true, retryAfterMs: 86_400_000 })).toBe(300_000);
});

test("a place that was kept for waiters who all gave up is free again", async () => {
  const limiter = new Limiter(1, handClock());
  expect(limiter.tryAcquire()).toBe(true);
  const controller = new AbortController();
  const waiting = [1, 2].map(() => limiter.acquire(controller.signal));
  controller.abort();
  expect(await Promise.all(waiting)).toEqual([false, false]);
  limiter.release(GOOD);
  expect(takeAll(limiter)).toBe(1);
  expect(await limiter.acquire(controller.signal)).toBe(false);
});

test("of calls that are told to wait for different times the longest counts, whichever ends first", () => {
  for (const waits of [
    [1_000, 5_000],
    [5_000, 1_000],
  ]) {
    const clock = handClock();
    const limiter = new Limiter(2, clock);
    expect(takeAll(limiter)).toBe(2);
    for (const retryAfterMs of waits) limiter.release({ rateLimited: true, retryAfterMs });
    clock.advance(4_999);
    expect(limiter.tryAcquire()).toBe(false);
    clock.advance(1);
    expect(limiter.tryAcquire()).toBe(true);
  }
});

test("who comes when a pause is just over goes behind those who wait", async () => {
  const clock = handClock();
  const late = { ...clock, timer: () => () => {} };
  const limiter = new Limiter(1, late);
  const order: string[] = [];
  callOnce(limiter, { rateLimited: true, retryAfterMs: 1_000 });
  const join = (name: string) =>
    limiter.acquire(never).then(() => {
      order.push(name);
      limiter.release(GOOD);
    });
  const first = join("first");
  clock.advance(1_001);
  await Promise.all([first, join("second")]);
  expect(order).toEqual(["first", "second"]);
});
