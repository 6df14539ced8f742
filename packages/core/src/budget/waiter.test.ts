import { expect, test } from "vitest";
import { type Waiter, waitInLine } from "./waiter.ts";

/** Joins a line of one, which shows who waits. */
function join(signal: AbortSignal): { waiter: Waiter; granted: Promise<boolean> } {
  let waiter: Waiter | undefined;
  const granted = waitInLine(signal, (joined) => {
    waiter = joined;
  });
  if (!waiter) throw new Error("nobody joined");
  return { waiter, granted };
}

test("a waiter whose signal fires leaves the line without a place", async () => {
  const controller = new AbortController();
  const { waiter, granted } = join(controller.signal);
  expect(waiter.gone).toBe(false);
  controller.abort();
  expect([waiter.gone, await granted]).toEqual([true, false]);
});

test("a waiter who was given a place has it, although the signal fires afterwards", async () => {
  const controller = new AbortController();
  const { waiter, granted } = join(controller.signal);
  waiter.grant(true);
  controller.abort();
  expect([waiter.gone, await granted]).toEqual([false, true]);
});
