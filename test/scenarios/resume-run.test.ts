import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  say,
  type TestRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const endOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []))[0];
const times = (text: string, part: string) => text.split(part).length - 1;

test("what a person said to a run is in its conversation once, also after a second crash", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const options = { tools: [note.tool] };
  const [stuck, stuckAgain] = [silence(), silence()];
  const first = lives.open(
    {
      lead: [
        () => {
          for (const event of first.events)
            if (event.type === "run.started") first.runtime.steer(event.runId, "use the blue one");
          return callTool("note", {});
        },
        stuck.step,
      ],
    },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [callTool("note", { again: 1 }), stuckAgain.step] }, options);
  await second.runtime.resume(sessionId);
  await lives.leave(second, () => stuckAgain.reached);
  await second.runtime.leave();
  let prompt = "";
  await using third = lives.open(
    {
      lead: [
        (request) => {
          prompt = request.prompt;
          return say("done");
        },
      ],
    },
    options,
  );
  await (await third.runtime.resume(sessionId)).result;
  expect(times(prompt, "use the blue one")).toBe(1);
});

test("calls that are made after a crash hang from the turn that asked for them", async () => {
  using lives = new Lives();
  const stuck = countedTool("slow", null);
  const calls = callTools(["slow", "slow"].map((tool, index) => ({ tool, input: { index } })));
  const first = lives.open({ lead: [calls] }, { tools: [stuck.tool] });
  const sessionId = await lives.abandon(first, () => stuck.runs > 0);
  lives.sql("DELETE FROM messages WHERE request_type = 'tool_call'");
  await using second = lives.open({ lead: [say("done")] }, { tools: [countedTool("slow").tool] });
  await (await second.runtime.resume(sessionId)).result;
  const rows = await second.runtime.record.readRows({ sessionId });
  const turn = rows.find((row) => row.request_type === "continuation");
  const made = rows.filter((row) => row.request_type === "tool_call");
  expect(made.map((row) => row.parent_message_id)).toEqual([turn?.id, turn?.id]);
});

test("a child that was handed files still holds private data after a crash before its first turn", async () => {
  using lives = new Lives();
  const stuck = silence();
  writeFileSync(join(lives.root, "notes.txt"), "notes");
  const tools = [
    defineTool<object>({
      name: "read",
      description: "x",
      groups: ["filesystem"],
      input: { type: "object" },
      execute: async () => "",
    }),
  ];
  const call = callDelegate("worker", "go", { contextFiles: ["notes.txt"] });
  const first = lives.open({ lead: [call], worker: [stuck.step] }, { tools });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("ok")], worker: [say("done")] }, { tools });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(endOf(second, "worker")?.private_data).toBe(true);
  expect(ended.private_data).toBe(true);
});

test("a run holds the private data of a child that ended before a crash, before any later turn told of it", async () => {
  using lives = new Lives();
  const stuck = countedTool("slow", null);
  const open = defineTool<object>({
    name: "slow",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    isPublic: true,
    execute: async () => "done",
  });
  const secret = countedTool("secret");
  const calls = callTools([
    { tool: "delegate", input: { agent: "worker", task: "look" } },
    { tool: "slow", input: {} },
  ]);
  const first = lives.open(
    { lead: [calls], worker: [callTool("secret", {}), say("seen")] },
    { tools: [stuck.tool, secret.tool] },
  );
  const sessionId = await lives.abandon(
    first,
    () => stuck.runs === 1 && endOf(first, "worker") !== undefined,
  );
  await using second = lives.open({ lead: [say("done")], worker: [] }, { tools: [open, secret.tool] });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({ private_data: true });
});

test("a file that was there before the run is not its deliverable after a crash in its second turn", async () => {
  using lives = new Lives();
  const stuck = silence();
  const note = countedTool("note");
  writeFileSync(join(lives.root, "report.md"), "of before");
  const options = {
    tools: [note.tool],
    agents: { lead: { deliverables: [{ file: "project:report.md" }] } },
  };
  const first = lives.open({ lead: [callTool("note", {}), stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: () => say("done") }, options);
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({
    status: "failed",
    deliverables: [{ ok: false }],
  });
});

test("a reply without an answer is forgiven again after calls that a crash interrupted", async () => {
  using lives = new Lives();
  const stuck = countedTool("slow", null);
  const first = lives.open({ lead: [say(""), callTool("slow", {})] }, { tools: [stuck.tool] });
  const sessionId = await lives.abandon(first, () => stuck.runs === 1);
  await using second = lives.open({ lead: [say(""), say("done")] }, { tools: [countedTool("slow").tool] });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({
    status: "completed",
    summary: "done",
  });
});

test("a call whose id a model uses again after a crash is a call of its own", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const stuck = silence();
  const call = (input: object) => callTools([{ tool: "note", input, id: "call_same" }]);
  const first = lives.open({ lead: [call({ n: 1 }), stuck.step] }, { tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [call({ n: 2 }), say("done")] }, { tools: [note.tool] });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
  const rows = (await second.runtime.record.readRows({ sessionId })).filter(
    (row) => row.request_type === "tool_call",
  );
  expect(new Set(rows.map((row) => row.call_id)).size).toBe(2);
});

test("a call that was answered by a second attempt is told so after a crash in a later turn", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { worker: { retry: { attempts: 1, on: ["content_filter" as const], backoffMs: 1 } } };
  const first = lives.open(
    {
      lead: [callDelegate("worker", "go"), stuck.step],
      worker: [failWith("content_filter", "NOT THAT"), say("SECOND TRY")],
    },
    { agents },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [({ prompt }) => say(prompt)], worker: [] }, { agents });
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("SECOND TRY");
  expect(details).not.toContain("NOT THAT");
});

test("tools, files and tests of calls before a crash are in the result", async () => {
  using lives = new Lives();
  const stuck = silence();
  const make = defineTool<object>({
    name: "make",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async (_, { projectDir, changed, tested }) => {
      writeFileSync(join(projectDir, "made.txt"), "x");
      changed(join(projectDir, "made.txt"), "created");
      tested("unit", { run: 3, passed: 2 });
      return "made";
    },
  });
  const first = lives.open({ lead: [callTool("make", {}), stuck.step] }, { tools: [make] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("done")] }, { tools: [make] });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({
    tools_used: ["make"],
    files_created: ["made.txt"],
    tests: [{ suite: "unit", run: 3, passed: 2 }],
  });
});

test("a run that goes on is offered the tools that it began with, not those that were added since", async () => {
  using lives = new Lives();
  const stuck = silence();
  const note = countedTool("note");
  const first = lives.open({ lead: [stuck.step] }, { tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [({ options }) => say(options.tools?.map(({ name }) => name).join() ?? "none")] },
    { tools: [note.tool, countedTool("added").tool] },
  );
  expect((await (await second.runtime.resume(sessionId)).result).summary).toBe("note");
});

test("a session whose agent was switched off since does not go on, and nothing of it changes", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await first.runtime.leave();
  const second = lives.open({ lead: [say("no")] }, { settings: { disabledAgents: ["lead"] } });
  await expect(second.runtime.resume(sessionId)).rejects.toThrow(/cannot go on/);
  expect(second.models.lead?.requests).toEqual([]);
  await second.close();
  await using third = lives.open({ lead: [say("done")] });
  expect(await (await third.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
});

const streaming = {
  lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const, maxConcurrent: 1 } },
};

test("a delegation in the words of another system begins after a crash as it would have begun", async () => {
  using lives = new Lives();
  const stuck = silence();
  const calls = callTools(
    ["quick", "slow", "late"].map((prompt) => ({ tool: "Task", input: { subagent_type: "worker", prompt } })),
  );
  const first = lives.open(
    { lead: [calls, stuck.step], worker: ({ task }) => (task === "quick" ? say("quick result") : hang()) },
    { agents: streaming },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    {
      lead: [callTool("collect_results", { wait: "all" }), ({ last }) => say(last)],
      worker: ({ task }) => say(`${task} result`),
    },
    { agents: streaming },
  );
  const { details } = await (await second.runtime.resume(sessionId)).result;
  for (const text of ["slow result", "late result"]) expect(details).toContain(text);
});

test("tasks of a batch that begin after a crash hang from the batch's own row", async () => {
  using lives = new Lives();
  const stuck = silence();
  const tasks = ["quick", "slow", "late"].map((task) => ({ id: task, agent: "worker", task }));
  const first = lives.open(
    {
      lead: [callDelegateMany(tasks), stuck.step],
      worker: ({ task }) => (task === "quick" ? say("quick result") : hang()),
    },
    { agents: streaming },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [callTool("collect_results", { wait: "all" }), say("done")], worker: () => say("done") },
    { agents: streaming },
  );
  await (await second.runtime.resume(sessionId)).result;
  const rows = await second.runtime.record.readRows({ sessionId });
  const batch = rows.find((row) => row.request_type === "tool_call" && row.parent_message_id !== null);
  const parents = rows.flatMap((row) => (row.request_type === "delegation" ? [row.parent_message_id] : []));
  expect(parents).toEqual([batch?.id, batch?.id, batch?.id]);
});

test("what a person let a run spend still limits it after a crash", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [callDelegate("worker", "one"), stuck.step], worker: [say("done")] });
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go", limits: { spawns: 1 } });
  await lives.leave(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({
    lead: [callDelegate("worker", "two"), ({ last }) => say(last)],
    worker: [],
  });
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("the limit of 1 runs");
});

test("a run that goes on is shown with its task as it was asked, without what was added for the model", async () => {
  using lives = new Lives();
  const stuck = silence();
  const answer = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const first = lives.open({ lead: [stuck.step] });
  const deliverables = [{ answer }];
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "the task", deliverables });
  await lives.leave(first, () => stuck.reached);
  await first.runtime.leave();
  await using second = lives.open({ lead: [say('{"n":1}')] });
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({ data: { n: 1 } });
  const started = second.events.flatMap((event) => (event.type === "run.started" ? [event.task] : []));
  expect(started).toEqual(["the task"]);
});

test("a task of a batch that had failed does not start again after a crash, and what needs it stays out", async () => {
  using lives = new Lives();
  const stuck = silence();
  const tasks = [
    { id: "bad", agent: "worker", task: "bad" },
    { id: "slow", agent: "worker", task: "slow" },
    { id: "after", agent: "worker", task: "after", dependsOn: ["bad"] },
  ];
  const first = lives.open({
    lead: [callDelegateMany(tasks)],
    worker: ({ task }) => (task === "bad" ? failWith("auth", "no key") : stuck.step()),
  });
  const sessionId = await lives.abandon(first, () => stuck.reached && endOf(first, "worker") !== undefined);
  const asked: string[] = [];
  await using second = lives.open({
    lead: ({ last }) => say(last),
    worker: ({ task }) => {
      asked.push(task);
      return say("fine");
    },
  });
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(asked).toEqual(["slow"]);
  expect(details).toContain("1 succeeded, 1 failed (bad), 1 not started (after)");
});

test("a delegation of a bare description, or with files by their names, begins after a crash as it would have begun", async () => {
  using lives = new Lives();
  const stuck = silence();
  const calls = callTools([
    { tool: "delegate", input: { agent: "worker", task: "quick" } },
    { tool: "delegate", input: { agent: "worker", description: "slow" } },
    { tool: "delegate", input: { agent: "worker", task: "late", deliverables: ["report.md"] } },
  ]);
  const agents = { ...streaming, worker: { retry: { attempts: 0 } } };
  const first = lives.open(
    { lead: [calls, stuck.step], worker: ({ task }) => (task === "quick" ? say("quick result") : hang()) },
    { agents },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    {
      lead: [callTool("collect_results", { wait: "all" }), ({ last }) => say(last)],
      worker: ({ task }) => say(`${task} result`),
    },
    { agents },
  );
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("slow result");
  expect(details).toContain("COMPLIANCE ERROR: worker");
  expect(details).toContain("report.md");
});
