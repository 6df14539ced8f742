import { expect, test } from "vitest";
import type { RunResult } from "../schema/result.ts";
import { say, testRuntime } from "../testing/index.ts";
import type { ChildHandle } from "../tools/tool.ts";
import { fanOutBy } from "./spawn-below.ts";

test("a child whose signal fired before it began never begins, and says why", async () => {
  await using t = testRuntime({ worker: [] });
  await using session = await t.runtime.openSession();
  const signal = AbortSignal.abort(new Error("the page was closed"));
  const { status, error } = await session.spawn("worker", "x", { signal }).result;
  expect([status, error?.message]).toEqual(["cancelled", "the page was closed"]);
  expect(t.models.worker?.requests).toEqual([]);
});

test("what cannot be written down cannot be asked for", async () => {
  await using t = testRuntime({ worker: [] });
  await using session = await t.runtime.openSession();
  const { error } = await session.spawn("worker", "x", { lastMessages: Number.NaN }).result;
  expect(error).toMatchObject({ type: "params", message: "lastMessages is NaN, which is no number" });
});

test("tasks run so many at once, three unless another number is given, with results in their order", async () => {
  let running = 0;
  let most = 0;
  const spawn = (agent: string, task: string): ChildHandle => {
    const work = async (): Promise<RunResult> => {
      most = Math.max(most, ++running);
      for (let round = 0; round < Number(task); round++) await Promise.resolve();
      running--;
      return { ...sample, summary: task };
    };
    return { id: task, agent, result: work(), cancel: () => {} };
  };
  await using t = testRuntime({ worker: [say("done")] });
  const sample = await t.runtime.run({ agent: "worker", task: "x" });
  const tasks = ["9", "1", "5", "2", "7"].map((task) => ["worker", task] as const);
  const results = await fanOutBy(spawn, tasks, {});
  expect(results.map(({ summary }) => summary)).toEqual(["9", "1", "5", "2", "7"]);
  expect(most).toBe(3);
  most = 0;
  await fanOutBy(spawn, tasks, { maxConcurrent: 1 });
  expect(most).toBe(1);
  await expect(fanOutBy(spawn, tasks, { maxConcurrent: 0 })).rejects.toThrow("maxConcurrent");
});
