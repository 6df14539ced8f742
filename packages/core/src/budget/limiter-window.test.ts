import { expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import { Limiter, type LimiterOutcome } from "./limiter.ts";

const GOOD: LimiterOutcome = { rateLimited: false };
const FAILED: LimiterOutcome = { rateLimited: false, failed: true };
const LIMITED: LimiterOutcome = { rateLimited: true };

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

test("the pause doubles with each rate limit in a row, and a success begins it anew", () => {
  const clock = handClock();
  const limiter = new Limiter(1, clock, () => 1);
  const pauseAfter = (outcome: LimiterOutcome) => {
    callOnce(limiter, outcome);
    let pauseMs = 0;
    for (; !limiter.tryAcquire(); pauseMs += 100) clock.advance(100);
    limiter.release(FAILED);
    return pauseMs;
  };
  expect([1, 2, 3].map(() => pauseAfter(LIMITED))).toEqual([1_000, 2_000, 4_000]);
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
