import { expect, test } from "vitest";
import type { DelegationBatch } from "../schema/delegation.ts";
import { after, callDelegateMany, failWith, say, type TestRuntime, testRuntime } from "../testing/index.ts";

const task = (id: string, more: object = {}) => ({ id, agent: "worker", task: `do ${id}`, ...more });

/** A lead that has a worker do a batch; the worker fails at tasks that are to fail. */
function openBatch(tasks: DelegationBatch["tasks"], more: Omit<DelegationBatch, "tasks"> = {}): TestRuntime {
  return testRuntime({
    lead: [callDelegateMany(tasks, more), say("ok")],
    worker: ({ task: asked }) => (asked.includes("fail") ? failWith("auth", "no key") : say(`DID ${asked}`)),
  });
}
const startedTasks = (t: TestRuntime) =>
  t.events.flatMap((event) => (event.type === "run.started" && event.parentRunId ? [event.task] : []));
const runModels = (t: TestRuntime) =>
  (t.models.worker?.requests ?? []).map(({ prompt }) => /do \w+/.exec(JSON.stringify(prompt[1]))?.[0]);

async function answerOf(t: TestRuntime) {
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const rows = await t.runtime.record.readRows({ sessionId: session_id });
  const call = rows.find((row) => row.request_type === "tool_call");
  const metadata: unknown = JSON.parse(call?.metadata_json ?? "{}");
  return { text: call?.response_content ?? "", metadata };
}

test("a batch that has ended leaves nothing to be collected, in its answer or in the record", async () => {
  await using t = openBatch([task("t1"), task("t2")]);
  const { text, metadata } = await answerOf(t);
  expect(text).toContain("DID do t1");
  expect(text).not.toContain("still running");
  expect(metadata).not.toHaveProperty("children");
});

test("after a failure the rest goes on, but for what depends on it; or nothing more begins, if that is asked for", async () => {
  const tasks = [task("t1"), task("fail"), task("t3", { dependsOn: ["fail"] }), task("t4")];
  await using going = openBatch(tasks, { mode: "sequential" });
  const { text } = await answerOf(going);
  expect(runModels(going)).toEqual(["do t1", "do fail", "do t4"]);
  expect(text).toMatch(/^2 succeeded, 1 failed \(fail\), 1 not started \(t3\)/);
  await using stopping = openBatch(tasks, { mode: "sequential", onFailure: "stop" });
  expect((await answerOf(stopping)).text).toMatch(
    /^1 succeeded, 1 failed \(fail\), 2 not started \(t3, t4\)/,
  );
  expect(runModels(stopping)).toEqual(["do t1", "do fail"]);
  expect(startedTasks(stopping).toSorted()).toEqual(["do fail", "do t1", "do t3", "do t4"]);
});

test("a task gets the results that it depends on, and a task that cannot be done keeps no other from beginning", async () => {
  const tasks = [
    task("t1"),
    task("t2", { dependsOn: ["t1"] }),
    { id: "t3", agent: "nobody", task: "x" },
    task("t4", { fromResults: ["run_unknown"] }),
  ];
  await using t = openBatch(tasks);
  const { text } = await answerOf(t);
  const second = JSON.stringify(t.models.worker?.requests[1]?.prompt[1]);
  expect(second).toContain("DID do t1");
  expect(text).toContain("2 failed (t3, t4)");
  expect(text).toContain("nobody");
  expect(text).toContain("no finished result 'run_unknown'");
});

test("a batch that streams is answered with its first result, and says what still runs", async () => {
  const later = Promise.withResolvers<void>();
  await using t = testRuntime({
    lead: [
      callDelegateMany([task("t1"), task("t2")], { mode: "parallel_streaming" }),
      () => {
        later.resolve();
        return say("ok");
      },
      say("ok"),
    ],
    worker: ({ task: asked }) => (asked.includes("t2") ? after(later.promise, say("LATER")) : say("FIRST")),
  });
  const { text, metadata } = await answerOf(t);
  expect(text).toContain("FIRST");
  expect(text).toContain("still running: t2 (worker): do t2");
  expect(metadata).toMatchObject({
    children: { delivered: [expect.anything()], running: [{ taskId: "t2" }] },
  });
});
