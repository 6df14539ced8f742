import { expect, test } from "vitest";
import { failedResult } from "../schema/failed-result.ts";
import type { RunResult } from "../schema/result.ts";
import { newTasks, statusOf } from "./root-tasks.ts";

const about = { runId: "run", sessionId: "ses", agent: "a" };
const failed = failedResult(about, { type: "failed", message: "no", recoverable: false });
const cancelled: RunResult = { ...failed, status: "cancelled" };
const done: RunResult = { ...failed, status: "completed", success: true };

test.each([
  ["its one task was cancelled", [cancelled], "cancelled"],
  ["its one task was done", [done], "completed"],
  ["all its tasks were done", [done, done], "completed"],
  ["one of its tasks failed", [done, failed, done], "failed"],
  ["one of its tasks was cut short", [done, { ...done, success: false }], "failed"],
])("a session ends accordingly if %s", (_, results, status) => {
  expect(statusOf(results)).toBe(status);
});

test("tasks that begin have their place and what they were given, each in a run of its own", () => {
  const tasks = newTasks({
    tasks: [
      ["a", "first"],
      ["b", "second", { tools: ["read"], limits: { turns: 2 } }],
    ],
    maxConcurrent: 2,
  });
  expect(tasks).toMatchObject([
    { kind: "new", agent: "a", task: "first", taskId: "0" },
    { kind: "new", agent: "b", task: "second", taskId: "1", tools: ["read"], limits: { turns: 2 } },
  ]);
  expect(new Set(tasks.map(({ runId }) => runId)).size).toBe(2);
});
