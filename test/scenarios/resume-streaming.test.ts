import {
  after,
  callDelegateMany,
  callTool,
  callTools,
  hang,
  type ScriptRequest,
  say,
} from "@retinue/core/testing";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const streaming = (maxConcurrent = 5) => ({
  lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const, maxConcurrent } },
});
const delegations = (...tasks: string[]) =>
  callTools(tasks.map((task) => ({ tool: "delegate", input: { agent: "worker", task } })));
/** Ends what is quick and hangs in everything else. */
const quickOnly = (request: ScriptRequest) =>
  request.task.startsWith("quick") ? say("quick result") : hang();
const collect = callTool("collect_results", { wait: "all" });

test("after a condensed history a result that was delivered is not delivered again, and what runs is still known", async () => {
  using lives = new Lives();
  const big = countedTool("big", "x".repeat(9_000));
  const stuck = silence();
  const agents = { lead: { ...streaming().lead, limits: { contextChars: 7_000 } } };
  const options = { agents, tools: [big.tool] };
  const steps = [delegations("quick", "slow"), callTool("big", {})];
  const first = lives.open(
    {
      lead: (request) => {
        if (request.options.providerOptions?.retinue) return say("work was done");
        return steps.shift() ?? stuck.step();
      },
      worker: quickOnly,
    },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open(
    {
      lead: [
        (request) => {
          expect(request.prompt).not.toContain("quick result");
          return collect;
        },
        (request) => say(request.last),
      ],
      worker: [say("slow result")],
    },
    options,
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("slow result");
  expect(ended.details).not.toContain("quick result");
  expect(second.models.lead?.requests).toHaveLength(2);
  await second.close();
});

test("what a text says about run ids does not decide what was delivered", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open(
    {
      lead: [
        delegations("quick", "slow"),
        (request) =>
          callTool("echo", {
            text: `run_id="${/"run_id":"(\w+)"/.exec(request.last)?.[1] ?? request.prompt}"`,
          }),
        stuck.step,
      ],
      worker: quickOnly,
    },
    {
      agents: streaming(),
      tools: [{ ...countedTool("echo").tool, execute: async (input: { text: string }) => input.text }],
    },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open(
    { lead: [collect, (request) => say(request.last)], worker: [say("slow result")] },
    { agents: streaming() },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("slow result");
  await second.close();
});

test("a delegation that was promised but had not begun begins, and the conversation has no gap", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open(
    { lead: [delegations("quick", "slow", "late"), stuck.step], worker: quickOnly },
    { agents: streaming(1) },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  expect(
    (await first.runtime.record.readRows({ sessionId: sessionId })).filter(
      (row) => row.request_type === "delegation",
    ),
  ).toHaveLength(2);
  const second = lives.open(
    {
      lead: [
        (request) => {
          const answers = request.options.prompt.at(-1);
          expect(answers?.role === "tool" && answers.content).toHaveLength(3);
          return collect;
        },
        (request) => say(request.last),
      ],
      worker: (request) => say(`${request.task} result`),
    },
    { agents: streaming(1) },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("slow result");
  expect(ended.details).toContain("late result");
  expect(second.models.worker?.requests).toHaveLength(2);
  await second.close();
});

test("a batch that its parent no longer waited for goes on with its dependent tasks", async () => {
  using lives = new Lives();
  const stuck = silence();
  const tasks = [
    { id: "a", agent: "worker", task: "quick" },
    { id: "b", agent: "worker", task: "slow" },
    { id: "c", agent: "worker", task: "last", dependsOn: ["b"] },
  ];
  const first = lives.open(
    { lead: [callDelegateMany(tasks), stuck.step], worker: quickOnly },
    { agents: streaming() },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open(
    {
      lead: [callTool("collect_results", { wait: "all", ids: ["b", "c"] }), (request) => say(request.last)],
      worker: (request) =>
        say(
          request.task.startsWith("last")
            ? `last after ${/slow result/.exec(request.prompt)?.[0]}`
            : "slow result",
        ),
    },
    { agents: streaming() },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("last after slow result");
  expect(ended.details).not.toContain("quick result");
  expect(second.models.worker?.requests).toHaveLength(2);
  await second.close();
});

test("a result that was given before a crash in the same turn is not given twice", async () => {
  using lives = new Lives();
  const first = lives.open(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "worker", task: "quick" } },
          { tool: "slow", input: {} },
        ]),
      ],
      worker: quickOnly,
    },
    { agents: streaming(), tools: [countedTool("slow", null).tool] },
  );
  const sessionId = await lives.abandon(first, () =>
    first.events.some((event) => event.type === "run.ended"),
  );
  const second = lives.open(
    { lead: [say("first answer"), (request) => say(`told again: ${request.last}`)], worker: [] },
    { agents: streaming(), tools: [countedTool("slow").tool] },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toBe("first answer");
  await second.close();
});

test("a delegation that failed before it had a row is answered in the record", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { worker: { model: "no/such-model" } };
  const first = lives.open({ lead: [delegations("x"), stuck.step], worker: [] }, { agents });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open(
    { lead: [(request) => say(`${request.options.prompt.at(-1)?.role}: ${request.last}`)], worker: [] },
    { agents },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("tool: ");
  expect(ended.details).toContain("no/such-model");
  await second.close();
});

test("what answers of the last turn had given or promised is known, although no turn came after them", async () => {
  using lives = new Lives();
  const midMayEnd = Promise.withResolvers<void>();
  const stuck = countedTool("slow", null);
  const batch = {
    tasks: [
      { id: "q", agent: "worker", task: "quick" },
      { id: "s", agent: "worker", task: "stuck in batch" },
    ],
  };
  const first = lives.open(
    {
      lead: [
        delegations("quick", "mid", "late"),
        () => {
          midMayEnd.resolve();
          return callTools([
            { tool: "collect_results", input: {} },
            { tool: "delegate_many", input: batch },
            { tool: "slow", input: {} },
          ]);
        },
      ],
      worker: (request) =>
        request.task === "mid" ? after(midMayEnd.promise, say("mid result")) : quickOnly(request),
    },
    { agents: streaming(), tools: [stuck.tool] },
  );
  const ended = (tool: string) =>
    first.events.some((event) => event.type === "call.ended" && event.tool === tool);
  const sessionId = await lives.abandon(
    first,
    () => ended("collect_results") && ended("delegate_many") && stuck.runs > 0,
  );
  const second = lives.open(
    {
      lead: [
        (request) => {
          expect(request.last).toContain("mid result");
          return collect;
        },
        (request) => say(request.last),
      ],
      worker: (request) => say(`${request.task} result`),
    },
    { agents: streaming(), tools: [countedTool("slow").tool] },
  );
  const { details } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("late result");
  expect(details).toContain("stuck in batch result");
  expect(details).not.toContain("mid result");
  expect(details).not.toContain("quick result");
  expect(second.models.worker?.requests).toHaveLength(2);
  await second.close();
});
