import { replaySession } from "@retinue/core/replay/replay-session";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  failWith,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { loadTrace } from "@retinue/core/trace/load-trace";
import { expect, test } from "vitest";

const traceOf = async ({ runtime: { record } }: TestRuntime, id: string) =>
  await loadTrace(record, await record.findSession(id));

const chain = (onFailure: "continue" | "stop") =>
  callDelegateMany(
    [
      { id: "a", agent: "worker", task: "first" },
      { id: "b", agent: "worker", task: "second", dependsOn: ["a"] },
      { id: "c", agent: "worker", task: "third", dependsOn: ["b"] },
    ],
    { onFailure, mode: "sequential" },
  );

test.each(["continue", "stop"] as const)(
  "a task whose dependency failed has a row that says why, a trace shows it, and a replay agrees (%s)",
  async (onFailure) => {
    await using t = testRuntime({
      lead: [chain(onFailure), say("done")],
      worker: [failWith("auth", "no key")],
    });
    const result = await t.runtime.run({ agent: "lead", task: "go" });
    const [root] = (await traceOf(t, result.session_id)).runs;
    expect(
      root?.children.map(({ task, status, bailoutReason, error }) => [task, status, bailoutReason, error]),
    ).toEqual([
      ["first", "failed", "error", "no key"],
      ["second", "cancelled", "not_started", "not started: it needs 'a', which did not succeed"],
      ["third", "cancelled", "not_started", "not started: it needs 'b', which did not succeed"],
    ]);
    expect(t.trace()).toEqual([
      "lead > worker: failed",
      "lead > worker: cancelled",
      "lead > worker: cancelled",
      "lead: completed",
    ]);
    const told = JSON.stringify(t.models.lead?.requests[1]?.prompt.at(-1));
    expect(told).toContain("1 failed (a), 2 not started (b, c)\\n<");
    expect((await t.runtime.record.readStats()).total).toMatchObject({
      runs: 4,
      cancelled: 2,
      failures: { failed: 1 },
    });
    const { agents } = t.runtime;
    const replayed = await replaySession({ agents, env: {} }, t.runtime.record, result.session_id);
    expect(replayed).toMatchObject({ identical: true, divergence: null });
  },
);

test.each([
  ["an agent that there is not", { agent: "nobody" }, /unknown_agent: no agent 'nobody'/],
  ["no agent", {}, /params.*: agent is missing; available: worker/],
  [
    "results that are not there",
    { agent: "worker", fromResults: ["gone"] },
    /params.*: no finished result 'gone'/,
  ],
  [
    "an agent that the caller may not use",
    { agent: "secret" },
    /not_allowed: lead may not delegate to 'secret'; available: worker/,
  ],
])("a task that names %s keeps only those from beginning that depend on it", async (_, bad, why) => {
  await using t = testRuntime(
    {
      lead: [
        callTool("delegate_many", {
          tasks: [
            { id: "good", agent: "worker", task: "work" },
            { id: "bad", task: "be bad", ...bad },
            { id: "after", agent: "worker", task: "go on", dependsOn: ["bad"] },
            { id: "next", agent: "worker", task: "go on", dependsOn: ["good"] },
          ],
        }),
        say("done"),
      ],
      worker: [say("worked"), say("went on")],
      secret: [],
    },
    { agents: { lead: { subagents: { allow: ["worker"], deny: ["general-purpose"] } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.models.worker?.requests).toHaveLength(2);
  const told = JSON.parse(JSON.stringify(t.models.lead?.requests[1]?.prompt.at(-1))).content[0].output;
  expect(told.type).toBe("text");
  expect(told.value).toMatch(/^2 succeeded, 1 failed \(bad\), 1 not started \(after\)\n/);
  expect(told.value).toMatch(why);
  const [root] = (await traceOf(t, result.session_id)).runs;
  expect(root?.children.map(({ task, status }) => [task, status]).sort()).toEqual([
    ["be bad", "failed"],
    ["go on", "cancelled"],
    ["go on", "completed"],
    ["work", "completed"],
  ]);
  const { agents } = t.runtime;
  const replayed = await replaySession({ agents, env: {} }, t.runtime.record, result.session_id);
  expect(replayed).toMatchObject({ identical: true, divergence: null });
});

test("a batch whose ids contradict each other, or of which no task can begin, is refused whole", async () => {
  const bad = { id: "bad", agent: "nobody", task: "x" };
  await using t = testRuntime({
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "x" },
        { id: "a", agent: "worker", task: "x" },
      ]),
      callDelegateMany([{ id: "a", agent: "worker", task: "x", dependsOn: ["b"] }, bad]),
      callDelegateMany([bad, { ...bad, id: "other", agent: "worker", fromResults: ["gone"] }]),
      say("done"),
    ],
    worker: [],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  const answers = [1, 2, 3].map((turn) => JSON.stringify(t.models.lead?.requests[turn]?.prompt.at(-1)));
  expect(answers).toEqual([
    expect.stringContaining("two tasks have the id 'a'"),
    expect.stringContaining("task 'a' depends on 'b', which is not in the batch"),
    expect.stringMatching(/no agent 'nobody'.*; no finished result 'gone'/),
  ]);
  expect(t.trace()).toEqual(["lead: completed"]);
});

test("a task of fanOut that could not begin has a row", async () => {
  await using t = testRuntime({ worker: [say("one")] });
  const results = await t.runtime.fanOut([
    ["worker", "work"],
    ["nobody", "work as well"],
  ]);
  expect(results.map(({ status }) => status)).toEqual(["completed", "failed"]);
  const { runs } = await traceOf(t, results[0]?.session_id ?? "");
  expect(runs.map(({ agent, task, status }) => [agent, task, status]).sort()).toEqual([
    ["nobody", "work as well", "failed"],
    ["worker", "work", "completed"],
  ]);
  expect(runs.find(({ agent }) => agent === "nobody")?.error).toContain("no agent 'nobody'");
});

test("a name that leads to no agent is answered with the agents that the caller may use, and no others", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("helpr", "help"), callDelegate("secre", "help"), say("done")],
      helper: [],
      secret: [],
    },
    { agents: { lead: { subagents: { allow: ["helper"], deny: ["general-purpose"] } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const [first, second] = [1, 2].map((turn) => JSON.stringify(t.models.lead?.requests[turn]?.prompt.at(-1)));
  expect(first).toContain("unknown_agent");
  expect(first).toContain("did you mean 'helper'? available: helper");
  expect(second).toContain("available: helper");
  expect(`${first}${second}`).not.toContain("secret");
});

test("a dependent task sees the task ids and run ids of the results that it gets", async () => {
  await using t = testRuntime({
    lead: [
      callDelegateMany([
        { id: "find", agent: "scout", task: "find" },
        { id: "use", agent: "worker", task: "use", dependsOn: ["find"] },
      ]),
      callTool("delegate", { agent: "worker", task: "again", fromResults: ["find"] }),
      say("done"),
    ],
    scout: [say("found")],
    worker: [say("used"), say("used")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const [scout] = (await traceOf(t, result.session_id)).runs[0]?.children ?? [];
  for (const { prompt } of t.models.worker?.requests ?? []) {
    const message = JSON.stringify(prompt[1]);
    expect(message).toContain('task_id=\\"find\\"');
    expect(message).toContain(`run_id=\\"${scout?.runId}\\"`);
  }
});
