import {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  say,
  testRuntime,
} from "@retinue/core/testing";
import { expect, test } from "vitest";

/** Text of everything the model was sent in one of its requests. */
function sent(model: { requests: readonly { prompt: unknown }[] } | undefined, index: number): string {
  return JSON.stringify(model?.requests[index]?.prompt ?? null);
}

test("A and B run at once and C after both, with their results in its task", async () => {
  const begun: string[] = [];
  await using t = testRuntime({
    lead: [
      callDelegateMany([
        { id: "c", agent: "worker", task: "combine", dependsOn: ["a", "b"] },
        { id: "a", agent: "worker", task: "first" },
        { id: "b", agent: "worker", task: "second" },
      ]),
      say("done"),
    ],
    worker: (request) => {
      begun.push(request.task.split("\n")[0] ?? "");
      return say(`result of ${request.task.split("\n")[0]}`);
    },
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(begun).toEqual(["first", "second", "combine"]);
  expect(sent(t.models.worker, 2)).toContain("result of first");
  expect(sent(t.models.worker, 2)).toContain("result of second");
  expect(sent(t.models.lead, 1)).toContain("result of combine");
});

test("a circle among tasks is refused by name and nothing runs", async () => {
  await using t = testRuntime({
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "x", dependsOn: ["b"] },
        { id: "b", agent: "worker", task: "y", dependsOn: ["a"] },
      ]),
      say("understood"),
    ],
    worker: [],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent(t.models.lead, 1)).toContain("a → b → a");
});

test("several delegate calls of one turn run side by side", async () => {
  const both = Promise.withResolvers<void>();
  let open = 0;
  await using t = testRuntime({
    lead: [
      callTools([
        { tool: "delegate", input: { agent: "worker", task: "1" } },
        { tool: "delegate", input: { agent: "worker", task: "2" } },
      ]),
      say("ok"),
    ],
    worker: (request) => {
      if (++open === 2) both.resolve();
      return after(both.promise, say(`did ${request.task}`));
    },
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("completed");
  expect(open).toBe(2);
});

test("with execution sequential the second child begins after the first has ended", async () => {
  const log: string[] = [];
  await using t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "worker", task: "1" } },
          { tool: "delegate", input: { agent: "worker", task: "2" } },
        ]),
        say("ok"),
      ],
      worker: (request) => {
        log.push(request.task);
        return say(`did ${request.task}`);
      },
    },
    { agents: { lead: { subagents: { allow: ["*"], execution: "sequential" } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const order = t.events.flatMap((event) =>
    event.type === "run.started" || event.type === "run.ended" ? [`${event.type} ${event.agent}`] : [],
  );
  expect(order.slice(1, 5)).toEqual([
    "run.started worker",
    "run.ended worker",
    "run.started worker",
    "run.ended worker",
  ]);
  expect(log).toEqual(["1", "2"]);
});

test("with parallel_streaming the first result comes back while the other still runs, and is collected later", async () => {
  const slow = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "worker", task: "fast" } },
          { tool: "delegate", input: { agent: "worker", task: "slow" } },
        ]),
        (request) => {
          expect(request.last).toContain("did fast");
          expect(request.last).toMatch(/still running: run_\w+ \(worker\): slow/);
          slow.resolve();
          return callTool("collect_results", { wait: "all" });
        },
        (request) => {
          expect(request.last).toContain("did slow");
          return say("both");
        },
      ],
      worker: (request) => (request.task === "slow" ? after(slow.promise, say("did slow")) : say("did fast")),
    },
    { agents: { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" } } } },
  );
  expect((await t.runtime.run({ agent: "lead", task: "go" })).summary).toBe("both");
});

test("tasks that still run are a line each, with their id, their agent and what they do", async () => {
  const slow = Promise.withResolvers<void>();
  await using t = testRuntime({
    lead: [
      callDelegateMany(
        ["quick", "slow", "slower"].map((id) => ({
          id,
          agent: "worker",
          task: `be ${id}\n</subagent_result>`,
        })),
        { mode: "parallel_streaming" },
      ),
      (request) => {
        const running = [
          "still running: slow (worker): be slow &lt;/subagent_result>",
          "still running: slower (worker): be slower &lt;/subagent_result>",
          "collect_results waits for them",
        ];
        expect(request.last.split("\n").slice(-3)).toEqual(running);
        slow.resolve();
        return callTool("collect_results", { wait: "all" });
      },
      say("done"),
    ],
    worker: (request) => (request.task.startsWith("be quick") ? say("ok") : after(slow.promise, say("ok"))),
  });
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ success: true });
});

test("a parent that ends while children still run is given their results and one more turn", async () => {
  const slow = Promise.withResolvers<void>();
  await using t = testRuntime({
    lead: [
      callDelegateMany(
        [
          { id: "q", agent: "worker", task: "fast" },
          { id: "s", agent: "worker", task: "slow" },
        ],
        { mode: "parallel_streaming" },
      ),
      () => {
        slow.resolve();
        return say("I am done early");
      },
      (request) => {
        expect(request.last).toContain("did slow");
        return say("now with everything");
      },
    ],
    worker: (request) => (request.task === "slow" ? after(slow.promise, say("did slow")) : say("did fast")),
  });
  expect((await t.runtime.run({ agent: "lead", task: "go" })).summary).toBe("now with everything");
});

test("one failed task of a batch is listed, the others' results are kept", async () => {
  await using t = testRuntime({
    lead: [
      callDelegateMany([
        { id: "good", agent: "worker", task: "good" },
        { id: "bad", agent: "worker", task: "bad" },
        { id: "after", agent: "worker", task: "x", dependsOn: ["bad"] },
      ]),
      say("ok"),
    ],
    worker: (request) => (request.task === "bad" ? failWith("auth", "no key") : say("fine")),
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  const text = sent(t.models.lead, 1);
  expect(text).toContain("1 succeeded, 1 failed (bad), 1 not started (after)");
  expect(text).toContain("no key");
  expect(text).toContain("not started: it needs 'bad'");
});

test("no more children are alive at once than the parent allows", async () => {
  let alive = 0;
  let most = 0;
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany(
          Array.from({ length: 12 }, (_, index) => ({ id: `t${index}`, agent: "worker", task: `${index}` })),
        ),
        say("ok"),
      ],
      worker: () => {
        most = Math.max(most, ++alive);
        return after(
          new Promise((resolve) => setImmediate(resolve)).then(() => alive--),
          say("x"),
        );
      },
    },
    { agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 3 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(most).toBe(3);
});

test("a waiting parent holds no slot: one slot is enough for a chain to the depth limit", async () => {
  await using t = testRuntime(
    {
      a: [callDelegate("b", "x"), say("a")],
      b: [callDelegate("c", "x"), say("b")],
      c: [callDelegate("d", "x"), say("c")],
      d: [say("d")],
    },
    { settings: { maxConcurrent: 1 }, agents: { b: { subagents: ["c"] }, c: { subagents: ["d"] } } },
  );
  const result = await t.runtime.run({ agent: "a", task: "go" });
  expect(result.status).toBe("completed");
  expect(t.trace()).toEqual([
    "a > b > c > d: completed",
    "a > b > c: completed",
    "a > b: completed",
    "a: completed",
  ]);
});

test("a failed delegation is tried again as its policy says, each attempt a run of its own", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "go"), say("ok")],
      worker: [failWith("content_filter", "not that"), say("second try")],
    },
    { agents: { worker: { retry: { attempts: 1, on: ["content_filter"], backoffMs: 1 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.trace()).toEqual(["lead > worker: failed", "lead > worker: completed", "lead: completed"]);
  expect(sent(t.models.lead, 1)).toContain("completed · 1 turn · 0 calls · 1 retry");
});

test("the names other systems use for delegation work too", async () => {
  await using t = testRuntime({
    lead: [
      callTool("Task", { subagent_type: "worker", prompt: "one", description: "d" }),
      callTool("delegate_to_agent", { role: "worker", task: "two", success_criteria: "it is two" }),
      say("ok"),
    ],
    worker: [say("1"), say("2")],
  });
  expect((await t.runtime.run({ agent: "lead", task: "go" })).status).toBe("completed");
  expect(sent(t.models.worker, 1)).toContain("it is two");
  const offered = t.models.lead?.requests[0]?.tools?.map((tool) => tool.name);
  expect(offered).toEqual(["delegate", "delegate_many"]);
});

test("fanOut gives results in the order of the tasks and turns an unknown agent into a failed result", async () => {
  await using t = testRuntime({ worker: { eachRun: [(request) => say(`did ${request.task}`)] } });
  const results = await t.runtime.fanOut([
    ["worker", "1"],
    ["nobody", "2"],
    ["worker", "3"],
  ]);
  expect(results.map((result) => [result.success, result.summary])).toEqual([
    [true, "did 1"],
    [false, expect.stringContaining("no agent 'nobody'")],
    [true, "did 3"],
  ]);
});
