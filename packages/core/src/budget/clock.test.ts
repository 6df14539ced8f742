import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { handClock } from "../../../../test/attacks/clocks.ts";
import { type Clock, delay, LONGEST_TIMER_MS, systemClock } from "./clock.ts";

/** A clock that stands still, and how many of its timers are armed. */
function countedClock(): Clock & { advance(ms: number): void; armed: number } {
  const clock = handClock();
  const counted = {
    ...clock,
    armed: 0,
    timer(delayMs: number, fire: () => void) {
      counted.armed++;
      const stop = clock.timer(delayMs, () => {
        counted.armed--;
        fire();
      });
      return () => {
        counted.armed--;
        stop();
      };
    },
  };
  return counted;
}

test("a delay ends when its time has come, and leaves nothing on the signal", async () => {
  const clock = handClock();
  const { signal } = new AbortController();
  let isOver = false;
  const waiting = delay(clock, 100, signal).then(() => {
    isOver = true;
  });
  clock.advance(99);
  await Promise.resolve();
  expect(isOver).toBe(false);
  clock.advance(1);
  await waiting;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a delay ends early without an error when the signal fires, and calls its timer off", async () => {
  const clock = countedClock();
  const controller = new AbortController();
  const waiting = delay(clock, 60_000, controller.signal);
  expect(clock.armed).toBe(1);
  controller.abort();
  await expect(waiting).resolves.toBeUndefined();
  expect(clock.armed).toBe(0);
});

test("nothing is waited for if the signal has fired or there is no time to wait", async () => {
  const clock = countedClock();
  await delay(clock, 60_000, AbortSignal.abort());
  await delay(clock, 0, new AbortController().signal);
  await delay(clock, -1, new AbortController().signal);
  expect(clock.armed).toBe(0);
});

test("a timer longer than the machine's longest does not fire at once, and can be called off", async () => {
  const fired: string[] = [];
  const stopLong = systemClock.timer(LONGEST_TIMER_MS + 1_000, () => fired.push("long"));
  const stopShort = systemClock.timer(1, () => fired.push("short"));
  stopShort();
  await new Promise<void>((resolve) => systemClock.timer(20, resolve));
  stopLong();
  expect(fired).toEqual([]);
});
