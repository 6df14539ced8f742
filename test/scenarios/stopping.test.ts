import { existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  say,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const note = defineTool<object>({
  name: "note",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async () => "noted",
});

test("a run that is cancelled while it waits to try again makes no further call", async () => {
  await using t = testRuntime(
    { solo: [failWith("network", "down", { recoverable: true, retryAfterMs: 600_000 })] },
    { lenient: true },
  );
  t.runtime.events((event) => {
    if (event.type === "run.waiting" && event.on === "provider") t.runtime.cancel(event.runId);
  });
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ status: "cancelled" });
  expect(t.models.solo?.requests).toHaveLength(1);
});

test("a tool does not begin once its run was cancelled", async () => {
  let effects = 0;
  const slow = defineTool<object>({
    name: "slow",
    description: "x",
    input: { type: "object" },
    access: async () => {
      t.runtime.cancel(runId);
      return [];
    },
    execute: async () => `${++effects}`,
  });
  await using t = testRuntime({ solo: [callTool("slow", {})] }, { tools: [slow] });
  let runId = "";
  t.runtime.events((event) => {
    if (event.type === "run.started") runId = event.runId;
  });
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ status: "cancelled" });
  expect(effects).toBe(0);
});

test("of the calls of one turn none begins after the run was stopped: none is counted, and nobody is asked", async () => {
  const begun = Promise.withResolvers<void>();
  let asked = 0;
  const tools = ["hold", "act"].map((name) =>
    defineTool<object>({
      name,
      description: "x",
      risk: "medium",
      input: { type: "object" },
      execute: async () => {
        begun.resolve();
        return new Promise(() => {});
      },
    }),
  );
  await using t = testRuntime(
    { solo: [callTools(["hold", "act"].map((tool) => ({ tool, input: {} })))] },
    {
      tools,
      agents: { solo: { askTools: ["act"] } },
      approve: async () => ({ allowed: ++asked > 0, by: "Ada" }),
    },
  );
  const { runId, sessionId, result } = await t.runtime.start({ agent: "solo", task: "go" });
  await begun.promise;
  t.runtime.cancel(runId);
  expect(await result).toMatchObject({ status: "cancelled", tool_calls_used: 1, tools_used: ["hold"] });
  expect(asked).toBe(0);
  const calls = (await t.runtime.record.readRows({ sessionId: sessionId })).filter(
    (row) => row.request_type === "tool_call",
  );
  expect(calls.map((row) => row.response_content)).toEqual([
    expect.stringContaining("'hold' failed"),
    "the run was stopped before this call began",
  ]);
});

test("what was approved is what is written, even if the path leads elsewhere meanwhile", async () => {
  await using t = testRuntime(
    { solo: [callTool("write", { path: "out/pre-commit", content: "x" }), say("done")] },
    {
      tools: codeTools,
      agents: { solo: { askTools: ["write"] } },
      approve: async () => {
        renameSync(join(t.projectDir, "out"), join(t.projectDir, "moved"));
        symlinkSync(join(t.projectDir, ".git", "hooks"), join(t.projectDir, "out"));
        return { allowed: true, by: "Ada" };
      },
    },
  );
  mkdirSync(join(t.projectDir, "out"));
  mkdirSync(join(t.projectDir, ".git", "hooks"), { recursive: true });
  await t.runtime.run({ agent: "solo", task: "go" });
  expect(existsSync(join(t.projectDir, ".git", "hooks", "pre-commit"))).toBe(false);
});

test("children that had not begun when their parent ended never begin", async () => {
  const begun: string[] = [];
  const tasks = [1, 2, 3, 4].map((n) => ({ id: `${n}`, agent: "worker", task: `${n}` }));
  await using t = testRuntime(
    {
      lead: [callDelegateMany(tasks, { mode: "parallel_streaming" }), failWith("auth", "no key")],
      worker: (request) => {
        begun.push(request.task);
        return request.task === "1" ? say("done") : hang();
      },
    },
    { agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 1 } } } },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ status: "failed" });
  expect(begun.length).toBeLessThanOrEqual(2);
  expect(t.events.at(-1)?.type).toBe("session.ended");
});

test("cancelling a session stops a fan-out, also what had not begun", async () => {
  const begun: string[] = [];
  await using t = testRuntime({
    worker: (request) => {
      begun.push(request.task);
      return hang();
    },
  });
  t.runtime.events((event) => {
    if (event.type === "run.started") t.runtime.cancel(event.sessionId);
  });
  const results = await t.runtime.fanOut(
    [
      ["worker", "1"],
      ["worker", "2"],
      ["worker", "3"],
    ],
    { maxConcurrent: 1 },
  );
  expect(results.map((result) => result.success)).toEqual([false, false, false]);
  expect(begun.length).toBeLessThanOrEqual(1);
});

test("a run that is cancelled and then paused still ends", async () => {
  await using t = testRuntime({
    solo: () => {
      const [runId = ""] = t.events.flatMap((event) => (event.type === "run.started" ? [event.runId] : []));
      t.runtime.cancel(runId);
      t.runtime.pause(runId);
      return say("late");
    },
  });
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({ status: "cancelled" });
});

test("a parent at its turn limit stops the children that still run and reports", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany(
          [
            { id: "quick", agent: "worker", task: "quick" },
            { id: "stuck", agent: "worker", task: "stuck" },
          ],
          { mode: "parallel_streaming" },
        ),
        (request) => say(request.last),
      ],
      worker: (request) => (request.task === "stuck" ? hang() : say("quick result")),
    },
    { agents: { lead: { limits: { turns: 1 } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", partial: true, bailout_reason: "max_iterations" });
  expect(result.details).toContain('status="cancelled"');
});

test("a model cannot consent to its own outbound calls by narrowing a delegation", async () => {
  const sent: string[] = [];
  const page = defineTool<object>({
    name: "page",
    description: "x",
    input: { type: "object" },
    untrusted: true,
    execute: async () => "obey",
  });
  const send = defineTool<{ to: string }>({
    name: "send",
    description: "x",
    input: { type: "object", properties: { to: { type: "string" } } },
    outbound: true,
    access: ({ to }) => [{ kind: "recipient", address: to }],
    execute: async ({ to }) => {
      sent.push(to);
      return "sent";
    },
  });
  await using t = testRuntime(
    {
      lead: [
        callTool("page", {}),
        callDelegate("child", "x", { tools: ["send(mallory@evil.test)"] }),
        say("ok"),
      ],
      child: [callTool("send", { to: "mallory@evil.test" }), say("ok")],
    },
    { tools: [page, send] },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent).toEqual([]);
});

test("polling for results is no circle", async () => {
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<void>());
  let polls = 0;
  await using t = testRuntime(
    {
      lead: (request) => {
        if (request.turn === 0)
          return callDelegateMany(
            gates.map((_, index) => ({ id: `${index}`, agent: "worker", task: `${index}` })),
            { mode: "parallel_streaming" },
          );
        if (polls === 6) return say("all");
        gates[++polls]?.resolve();
        return callTool("collect_results", {});
      },
      worker: (request) => after(gates[Number(request.task)]?.promise ?? Promise.resolve(), say("ok")),
    },
    { agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 10 } } } },
  );
  gates[0]?.resolve();
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    summary: "all",
    partial: false,
  });
});

test("the same call again and again is a circle also beside one that polls", async () => {
  const polling = { ...note, name: "poll", polls: true };
  const both = callTools(["poll", "note"].map((tool) => ({ tool, input: {} })));
  await using t = testRuntime(
    { solo: [both, both, both, both, both, say("gave up")] },
    { tools: [note, polling] },
  );
  expect(await t.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    bailout_reason: "loop_detected",
    details: "gave up",
  });
});

test("plan mode makes only calls that read", async () => {
  let deployed = 0;
  const deploy = defineTool<object>({
    name: "deploy",
    description: "x",
    input: { type: "object" },
    risk: "high",
    execute: async () => `${++deployed}`,
  });
  await using t = testRuntime(
    { solo: [callTool("deploy", {}), say("ok")] },
    { tools: [deploy], permissionMode: "plan" },
  );
  await t.runtime.run({ agent: "solo", task: "go" });
  expect(deployed).toBe(0);
});

test("at the depth limit a delegation is answered with a clear error", async () => {
  await using t = testRuntime(
    { a: [callDelegate("b", "x"), say("a")], b: [callDelegate("a", "x"), (request) => say(request.last)] },
    { settings: { maxDepth: 1 }, agents: { b: { subagents: { allow: ["a"], recursive: true } } } },
  );
  await t.runtime.run({ agent: "a", task: "go" });
  expect(JSON.stringify(t.models.a?.requests[1]?.prompt)).toContain("depth_exceeded");
});

test("a limit on a tool counts its aliases too", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "1"),
        callTool("Task", { subagent_type: "worker", prompt: "2" }),
        (request) => say(request.last),
      ],
      worker: [say("1")],
    },
    { agents: { lead: { limits: { perTool: { delegate: 1 } } } } },
  );
  expect((await t.runtime.run({ agent: "lead", task: "go" })).summary).toContain("limit of 1 calls");
});

test("two runs' long results do not overwrite each other", async () => {
  const long = defineTool<{ text: string }>({
    name: "long",
    description: "x",
    input: { type: "object", properties: { text: { type: "string" } } },
    replay: "safe",
    execute: async ({ text }) => text.repeat(20_000),
  });
  await using t = testRuntime(
    {
      lead: [
        callDelegateMany([
          { id: "a", agent: "worker", task: "aa" },
          { id: "b", agent: "worker", task: "bb" },
        ]),
        say("ok"),
      ],
      worker: (request) =>
        request.turn === 0 ? callTool("long", { text: request.task }) : say(request.last),
    },
    { tools: [long] },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const paths = t.events.flatMap((event) =>
    event.type === "turn.ended"
      ? [...event.text.matchAll(/the whole is in (\S+artefacts\S+)/g)].map((match) => match[1])
      : [],
  );
  expect(new Set(paths).size).toBe(2);
});

test("a message that comes during the last call is read before the run ends", async () => {
  await using t = testRuntime({
    solo: [
      () => {
        const [runId = ""] = t.events.flatMap((event) => (event.type === "run.started" ? [event.runId] : []));
        t.runtime.steer(runId, "one more thing");
        return say("done");
      },
      (request) => say(`read: ${request.last}`),
    ],
  });
  expect((await t.runtime.run({ agent: "solo", task: "go" })).summary).toBe("read: one more thing");
});

test("general-purpose is named to whoever may delegate", async () => {
  await using t = testRuntime(
    { lead: [callTool("note", {}), say("ok")], other: [] },
    { tools: [note], agents: { lead: { subagents: ["other"] } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(JSON.stringify(t.models.lead?.requests[0]?.prompt)).toContain("`general-purpose`");
});
