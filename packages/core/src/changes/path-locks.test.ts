import { expect, test } from "vitest";
import { PathLocks } from "./path-locks.ts";

const never = new AbortController().signal;

test("a path has one holder at a time, first come first served, and other paths are free", async () => {
  const locks = new PathLocks();
  const order: string[] = [];
  const release = await locks.take("a", false, never);
  const waiting = ["second", "third"].map(async (name) => {
    const giveBack = await locks.take("a", false, never);
    order.push(`${name} takes it`);
    await Promise.resolve();
    order.push(`${name} gives it back`);
    giveBack?.();
  });
  expect(await locks.take("b", false, never)).not.toBeNull();
  expect(order).toEqual([]);
  release?.();
  await Promise.all(waiting);
  expect(order).toEqual(["second takes it", "second gives it back", "third takes it", "third gives it back"]);
});

test("a holder of another path does not wait, because two such holders could wait for each other", async () => {
  const locks = new PathLocks();
  const release = await locks.take("a", false, never);
  expect(await locks.take("a", true, never)).toBeNull();
  release?.();
  expect(await locks.take("a", true, never)).not.toBeNull();
});

test("a stopped run stops waiting, and the path can still be given back and taken", async () => {
  const locks = new PathLocks();
  const release = await locks.take("a", false, never);
  const stopped = new AbortController();
  const waiting = locks.take("a", false, stopped.signal);
  stopped.abort(new Error("the run was stopped"));
  await expect(waiting).rejects.toThrow("the run was stopped");
  release?.();
  expect(await locks.take("a", false, never)).not.toBeNull();
});
