import { afterEach, expect, test, vi } from "vitest";
import { startWatchdog } from "./stream-reply.ts";

afterEach(() => {
  vi.useRealTimers();
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
