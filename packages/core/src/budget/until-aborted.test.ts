import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "./until-aborted.ts";

test("work that ends in time gives its value or its error, and leaves nothing on the signal", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(7), signal)).toBe(7);
  await expect(untilAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  await Promise.resolve();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("work that does not end is no longer waited for once the signal fires, or if it had fired before", async () => {
  const controller = new AbortController();
  const work = new Promise<never>(() => {});
  const waiting = untilAborted(work, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toThrow("the run was stopped");
  await expect(untilAborted(work, controller.signal)).rejects.toThrow("the run was stopped");
});
