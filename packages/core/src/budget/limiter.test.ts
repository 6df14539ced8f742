import { expect, test } from "vitest";
import type { Clock } from "./clock.ts";
import { Limiter } from "./limiter.ts";

/** A clock that only moves when told to. */
function handClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  let timers: { at: number; fire: () => void }[] = [];
  return {
    monotonicMs: () => now,
    wallMs: () => now,
    timer(delayMs, fire) {
      const timer = { at: now + delayMs, fire };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance(ms) {
      now += ms;
      const due = timers.filter((timer) => timer.at <= now);
      timers = timers.filter((timer) => timer.at > now);
      for (const timer of due) timer.fire();
    },
  };
}

const never = new AbortController().signal;

/** Lets everything that is ready run; no time passes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

test("a rate limit stops calls for everybody until its time is over, then one call probes", async () => {
  const clock = handClock();
  const limiter = new Limiter(4, clock, () => 0);
  await Promise.all([limiter.acquire(never), limiter.acquire(never)]);
  let begun = 0;
  for (let i = 0; i < 6; i++) void limiter.acquire(never).then(() => begun++);
  await settle();
  expect(begun).toBe(2);
  limiter.release({ rateLimited: true, retryAfterMs: 5_000 });
  limiter.release({ rateLimited: true, retryAfterMs: 5_000 });
  clock.advance(4_000);
  await settle();
  expect(begun).toBe(2);
  limiter.release({ rateLimited: false });
  limiter.release({ rateLimited: false });
  clock.advance(1_002);
  await settle();
  expect(begun).toBeLessThanOrEqual(5);
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

/** Starts calls that wait for a place, and counts those that have one. */
function startCalls(limiter: Limiter, count: number): { begun: number } {
  const calls = { begun: 0 };
  for (let i = 0; i < count; i++) void limiter.acquire(never).then(() => calls.begun++);
  return calls;
}

test("after a rate limit a failure of another kind does not widen the window; a success does, by one", async () => {
  const clock = handClock();
  const limiter = new Limiter(4, clock);
  await limiter.acquire(never);
  limiter.release({ rateLimited: true, failed: true, retryAfterMs: 1_000 });
  const calls = startCalls(limiter, 6);
  clock.advance(1_001);
  await settle();
  expect(calls.begun).toBe(1);
  limiter.release({ rateLimited: false, failed: true });
  await settle();
  expect(calls.begun).toBe(2);
  limiter.release({ rateLimited: false });
  await settle();
  expect(calls.begun).toBe(4);
});

test("without a time from the provider the waits double, and begin anew after a success, not after another failure", async () => {
  const clock = handClock();
  const limiter = new Limiter(1, clock, () => 1);
  const waitAfterRateLimit = async () => {
    limiter.release({ rateLimited: true, failed: true });
    const calls = startCalls(limiter, 1);
    const begunAt = clock.monotonicMs();
    for (let step = 0; calls.begun === 0 && step < 1_000; step++) {
      clock.advance(100);
      await settle();
    }
    return clock.monotonicMs() - begunAt - 100;
  };
  await limiter.acquire(never);
  expect([await waitAfterRateLimit(), await waitAfterRateLimit(), await waitAfterRateLimit()]).toEqual([
    1_000, 2_000, 4_000,
  ]);
  limiter.release({ rateLimited: false, failed: true });
  await limiter.acquire(never);
  expect(await waitAfterRateLimit()).toBe(8_000);
  limiter.release({ rateLimited: false });
  await limiter.acquire(never);
  expect(await waitAfterRateLimit()).toBe(1_000);
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
  const early: typeof clock = { ...clock, timer: (delayMs, fire) => clock.timer(delayMs * 0.9, fire) };
  const limiter = new Limiter(1, early);
  await limiter.acquire(never);
  const next = limiter.acquire(never);
  limiter.release({ rateLimited: true, retryAfterMs: 1_000 });
  for (let step = 0; step < 20; step++) clock.advance(100);
  expect(await next).toBe(true);
});
