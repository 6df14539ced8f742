import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRow, makeRunRow, makeTurnRow } from "../../../../test/fixtures/hand-made-rows.ts";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import { Lives } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { createRegistry } from "../agents/registry.ts";
import { systemClock } from "../budget/clock.ts";
import { livePace } from "../run/pace.ts";
import type { Profile } from "../run/run.ts";
import type { RetryPolicy, SubagentPolicy } from "../schema/agent.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { RunResult } from "../schema/result.ts";
import {
  assembleRuntime,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  type ScriptRequest,
  say,
  scriptedModel,
  type TestRuntime,
  testRuntime,
} from "../testing/index.ts";
import { type AnyTool, defineTool } from "../tools/tool.ts";
import { Children } from "./children.ts";
import { EarlierAttempts } from "./earlier-attempts.ts";

/** A tool that answers with its own name. */
function createTool(name: string, more: Partial<AnyTool> = {}): AnyTool {
  const tool = defineTool<object>({
    name,
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => name,
  });
  return { ...tool, ...more };
}

const resultsOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []));
const startedTasks = (t: TestRuntime) =>
  t.events.flatMap((event) => (event.type === "run.started" && event.parentRunId ? [event.task] : []));
const sent = (t: TestRuntime, agent: string, index = 0) =>
  JSON.stringify(t.models[agent]?.requests[index]?.prompt ?? null);

const retry = (more: Partial<RetryPolicy> = {}) => ({
  worker: { retry: { attempts: 2, on: ["content_filter" as const], backoffMs: 1, ...more } },
});
const refuses = failWith("content_filter", "not that");

test("each attempt of a delegation is a run of its own, up to as many as its policy allows", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go"), say("ok")], worker: { eachRun: [refuses] } },
    { agents: retry() },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const results = resultsOf(t, "worker");
  expect(results.map(({ attempt, status }) => [attempt, status])).toEqual([
    [0, "failed"],
    [1, "failed"],
    [2, "failed"],
  ]);
  expect(new Set(results.map(({ run_id }) => run_id)).size).toBe(3);
});

test("an error that the policy does not name is not tried again", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go"), say("ok")], worker: [refuses] },
    { agents: retry({ on: ["network"] }) },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.trace()).toEqual(["lead > worker: failed", "lead: completed"]);
});

test.each([
  ["sent something out", { outbound: true }],
  ["made a call that only the outside knows the end of", { replay: "lookup", lookup: async () => null }],
] as const)("a child that %s is not tried again, because it would do that twice", async (_, more) => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go"), say("ok")], worker: [callTool("act", {}), refuses] },
    { agents: retry(), tools: [createTool("act", more)] },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.trace()).toEqual(["lead > worker: failed", "lead: completed"]);
});

test("the wait before another attempt doubles, unless the provider says how long", async () => {
  const waits: number[] = [];
  const clock = {
    ...systemClock,
    timer(delayMs: number, fire: () => void) {
      if (delayMs % 777 !== 0) return systemClock.timer(delayMs, fire);
      waits.push(delayMs);
      return systemClock.timer(0, fire);
    },
  };
  const busy = failWith("content_filter", "busy", { retryAfterMs: 7_770 });
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go"), say("ok")], worker: [refuses, refuses, busy, refuses] },
    { agents: retry({ attempts: 3, backoffMs: 777 }), internals: { clock } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(waits).toEqual([777, 1_554, 7_770]);
});

test("a child whose parent is stopped while it waits for another attempt has none", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go")], worker: [refuses] },
    { agents: retry({ backoffMs: 600_000 }), lenient: true },
  );
  t.runtime.events((event) => {
    if (event.type === "run.ended" && event.agent === "worker")
      setImmediate(() => t.runtime.cancel(event.result.session_id));
  });
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ status: "cancelled" });
  expect(startedTasks(t)).toEqual(["go"]);
});

test("children begin in the order they were asked for, however long each takes to prepare", async () => {
  const tasks = [
    { id: "a", agent: "worker", task: "first", contextFiles: ["a.txt"] },
    { id: "b", agent: "worker", task: "second" },
  ];
  await using t = testRuntime(
    { lead: [callDelegateMany(tasks), say("ok")], worker: { eachRun: [say("done")] } },
    { tools: [createTool("read", { groups: ["filesystem"] })] },
  );
  writeFileSync(join(t.projectDir, "a.txt"), "a".repeat(100_000));
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(startedTasks(t)).toEqual(["first", "second"]);
});

test("a child that cannot be prepared keeps none of those behind it from beginning", async () => {
  const tasks = [
    { id: "a", agent: "worker", task: "first", contextFiles: ["missing.txt"] },
    { id: "b", agent: "worker", task: "second" },
    { id: "c", agent: "worker", task: "third" },
  ];
  await using t = testRuntime(
    { lead: [callDelegateMany(tasks), say("ok")], worker: { eachRun: [say("done")] } },
    { tools: [createTool("read", { groups: ["filesystem"] })] },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(
    resultsOf(t, "worker")
      .map(({ status }) => status)
      .sort(),
  ).toEqual(["completed", "completed", "failed"]);
});

test("who builds on a tainted result, or on private data, holds both before its parent is told", async () => {
  const tasks = [
    { id: "a", agent: "scout", task: "look" },
    { id: "b", agent: "worker", task: "use it", dependsOn: ["a"] },
    { id: "c", agent: "worker", task: "something else" },
  ];
  await using t = testRuntime(
    {
      lead: [callDelegateMany(tasks, { mode: "sequential" }), say("ok")],
      scout: [callTool("page", {}), say("seen")],
      worker: { eachRun: [say("done")] },
    },
    { tools: [createTool("page", { untrusted: true })] },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const { sessionId } = t.events[0] ?? { sessionId: "" };
  const rows = await t.runtime.record.readRows({ sessionId, kind: "runs" });
  const resultOf = (task: string) =>
    resultsOf(t, "worker").find(({ run_id }) =>
      rows.some((row) => row.run_id === run_id && row.request_content?.startsWith(task)),
    );
  const [builtOn, other] = ["use it", "something else"].map(resultOf);
  expect(builtOn).toMatchObject({ tainted: true, private_data: true });
  expect(other).toMatchObject({ tainted: false, private_data: false });
});

test("a secret in a file that is handed over does not reach the child", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "go", { contextFiles: ["notes.txt"] }), say("ok")],
      worker: [say("done")],
    },
    { tools: [createTool("read", { groups: ["filesystem"] })], env: { SERVICE_API_KEY: secret } },
  );
  writeFileSync(join(t.projectDir, "notes.txt"), `the key is ${secret}`);
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent(t, "worker")).toContain("the key is");
  expect(sent(t, "worker")).not.toContain(secret);
});

test("tools and limits of one delegation hold for it alone", async () => {
  const tools = [createTool("one"), createTool("two")];
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "a"),
        callDelegate("worker", "b", { limits: { turns: 2 } }),
        callDelegate("worker", "c", { tools: ["one"] }),
        callDelegate("worker", "d"),
        say("ok"),
      ],
      worker: { eachRun: [say("done")] },
    },
    { tools },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const offered = t.models.worker?.requests.map((request) => request.tools?.map(({ name }) => name).join());
  expect(offered).toEqual(["one,two", "one,two", "one", "one,two"]);
  const turns = [0, 1, 2, 3].map((index) => /(\d+) turns/.exec(sent(t, "worker", index))?.[1]);
  expect(turns).toEqual(["20", "2", "20", "20"]);
});

test("a summary is made again once the conversation has gone on", async () => {
  const isSummary = ({ options }: ScriptRequest) => JSON.stringify(options.prompt).includes("You condense");
  let summaries = 0;
  const steps = [
    callDelegate("worker", "a", { context: "summary" }),
    callDelegate("worker", "b", { context: "summary" }),
    say("ok"),
  ];
  await using t = testRuntime({
    lead: (request) => (isSummary(request) ? say(`summary ${++summaries}`) : (steps.shift() ?? hang())),
    worker: { eachRun: [say("done")] },
  });
  await t.runtime.run({ agent: "lead", task: "a long story" });
  expect(sent(t, "worker", 0)).toContain("summary 1");
  expect(sent(t, "worker", 1)).toContain("summary 2");
});

test("what a child that nobody collected had read counts for its parent's own answer", async () => {
  const tools = [createTool("page", { untrusted: true })];
  const agents = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
  const seen = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "quick", task: "q" } },
          { tool: "delegate", input: { agent: "scout", task: "s" } },
        ]),
        say("I am done"),
        say("with all of it"),
      ],
      quick: [say("quick")],
      scout: [{ kind: "wait", until: seen.promise, step: callTool("page", {}) }, say("seen")],
    },
    { tools, agents },
  );
  t.runtime.events((event) => {
    if (event.type === "run.waiting" && t.models.lead?.requests.length === 2) seen.resolve();
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ summary: "with all of it", tainted: true, private_data: true });
});

test("batches that are worked through one by one share the limit on children at once", async () => {
  let running = 0;
  let most = 0;
  const tasks = (name: string) =>
    [1, 2].map((n) => ({ id: `${name}${n}`, agent: "worker", task: `${name}${n}` }));
  const batch = (name: string) => ({
    tool: "delegate_many",
    input: { tasks: tasks(name), mode: "sequential" },
  });
  await using t = testRuntime(
    {
      lead: [callTools([batch("a"), batch("b")]), say("ok")],
      worker: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return say("done");
      },
    },
    { agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 1 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(startedTasks(t)).toHaveLength(4);
  expect(most).toBe(1);
});

test("a program's handle cancels its own child and no other", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using t = testRuntime(
    {
      one: [hang()],
      other: [{ kind: "wait", until: held, step: say("made") }],
    },
    { lenient: true },
  );
  const session = await t.runtime.openSession({ maxConcurrent: 2 });
  const [one, other] = [session.spawn("one", "x"), session.spawn("other", "y")];
  while (t.models.one?.requests.length !== 1 || t.models.other?.requests.length !== 1)
    await new Promise((resolve) => setImmediate(resolve));
  one.cancel("no longer wanted");
  expect(await one.result).toMatchObject({ status: "cancelled" });
  release();
  expect(await other.result).toMatchObject({ status: "completed" });
  await session.close();
});

test("a child that begins while its parent is paused makes no call until that goes on", async () => {
  const tasks = ["first", "second"].map((task) => ({ id: task, agent: "worker", task }));
  const paused = Promise.withResolvers<void>();
  await using t = testRuntime(
    {
      lead: [callDelegateMany(tasks), say("ok")],
      worker: [{ kind: "wait", until: paused.promise, step: say("done") }, say("done")],
    },
    { agents: { lead: { subagents: { allow: ["*"], maxConcurrent: 1 } } } },
  );
  const { runId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.worker?.requests.length !== 1) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.pause(runId);
  paused.resolve();
  while (startedTasks(t).length < 2) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(t.models.worker?.requests).toHaveLength(1);
  const held = t.events.flatMap((event) => (event.type === "run.paused" ? event.runId : []));
  expect(new Set(held).size).toBe(3);
  t.runtime.unpause(runId);
  expect(await result).toMatchObject({ status: "completed" });
});

test("a child works in its parent's folder, also where it has a copy of the project of its own", async () => {
  const here = createTool("here", {
    execute: async (_, { cwd, projectDir }) => (cwd ?? "").slice(projectDir.length),
  });
  await using t = testRuntime(
    {
      middle: [callDelegate("worker", "x"), ({ last }) => say(/now in \S+/.exec(last)?.[0] ?? "nowhere")],
      worker: [callTool("here", {}), ({ last }) => say(`now in ${last}`)],
    },
    {
      tools: [here],
      agents: { middle: { subagents: { allow: ["worker"] } }, worker: { workspace: "isolated" } },
    },
  );
  mkdirSync(join(t.projectDir, "packages/app"), { recursive: true });
  await using session = await t.runtime.openSession();
  const { summary } = await session.spawn("middle", "go", { cwd: "packages/app" }).result;
  expect(summary).toBe("now in /packages/app");
});

test("a batch whose first result is tainted, or private, makes its parent so, whatever came last", async () => {
  const tasks = [
    { id: "a", agent: "scout", task: "look" },
    { id: "b", agent: "worker", task: "go" },
  ];
  await using t = testRuntime(
    {
      lead: [callDelegateMany(tasks, { mode: "sequential" }), say("ok")],
      scout: [callTool("page", {}), say("seen")],
      worker: [say("done")],
    },
    { tools: [createTool("page", { untrusted: true })] },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    tainted: true,
    private_data: true,
  });
});

test("two calls that collect at once give each result once", async () => {
  const agents = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
  const ended = Promise.withResolvers<void>();
  const collect = { tool: "collect_results", input: { wait: "all" } };
  await using t = testRuntime(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "quick", task: "q" } },
          { tool: "delegate", input: { agent: "worker", task: "w" } },
        ]),
        () => {
          setImmediate(ended.resolve);
          return callTools([collect, collect]);
        },
        ({ prompt }) => say(prompt),
      ],
      quick: [say("quick")],
      worker: [{ kind: "wait", until: ended.promise, step: say("THE ONE RESULT") }],
    },
    { agents },
  );
  const { details } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(details.split("THE ONE RESULT")).toHaveLength(2);
});

test("a model cannot give a child more turns or depth than it has for itself", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "a", { limits: { turns: 50 } }), say("ok")],
      worker: [say("done")],
    },
    { agents: { worker: { limits: { turns: 2 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent(t, "worker")).toContain("2 turns");
});

test("nobody is told of agents above it as agents to delegate to", async () => {
  await using t = testRuntime(
    {
      top: [callDelegate("middle", "x"), say("ok")],
      middle: [callDelegate("bottom", "x"), say("ok")],
      bottom: [say("done")],
    },
    { agents: { middle: { subagents: { allow: ["*"] } }, bottom: { subagents: { allow: ["*"] } } } },
  );
  await t.runtime.run({ agent: "top", task: "go" });
  const listed = (agent: string) =>
    [...sent(t, agent).matchAll(/- `([\w-]+)`: /g)].map(([, name]) => name).sort();
  expect(listed("top")).toEqual(["bottom", "general-purpose", "middle"]);
  expect(listed("middle")).toEqual(["bottom", "general-purpose"]);
  expect(listed("bottom")).toEqual(["general-purpose"]);
});

test("a secret in an agent's own file reaches neither its model nor the record", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  await using t = testRuntime(
    { lead: [say("done")] },
    { agents: { lead: { prompt: `The key is ${secret}.` } }, env: { SERVICE_API_KEY: secret } },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent(t, "lead")).not.toContain(secret);
  const { record } = t.runtime;
  const [run] = await record.readRows({ sessionId: session_id, kind: "runs" });
  const { snapshot } = JSON.parse(run?.metadata_json ?? "{}");
  expect(await record.readText(snapshot)).toContain("The key is");
  for (const id of [snapshot, run?.system_prompt_id ?? ""])
    expect(await record.readText(id)).not.toContain(secret);
});

const toldTime = (t: TestRuntime, agent: string) =>
  /([\d.]+ (?:s|min)) of working time/.exec(sent(t, agent))?.[1];

test("minutes that a person or a program gives hold for everything below, and those of a model for its child alone", async () => {
  const scripts = {
    lead: [callDelegate("middle", "x", { limits: { minutes: 1 } }), say("ok")],
    middle: { eachRun: [callDelegate("worker", "x"), say("ok")] },
    worker: { eachRun: [say("done")] },
  };
  const agents = { middle: { subagents: { allow: ["worker"] } } };
  await using byModel = testRuntime(scripts, { agents });
  await byModel.runtime.run({ agent: "lead", task: "go", limits: { minutes: 3 } });
  expect(["middle", "worker"].map((agent) => toldTime(byModel, agent))).toEqual(["60 s", "3 min"]);
  await using byProgram = testRuntime(scripts, { agents, lenient: true });
  await using session = await byProgram.runtime.openSession({ limits: { minutes: 2 } });
  await session.spawn("middle", "x", { limits: { minutes: 10 } }).result;
  expect(["middle", "worker"].map((agent) => toldTime(byProgram, agent))).toEqual(["2 min", "2 min"]);
});

test("what a run that is tainted from the start writes to its workspace counts as untrusted", async () => {
  await using t = testRuntime(
    { scout: [callTool("page", {}), say("seen")], lead: [say("done")] },
    { tools: [createTool("page", { untrusted: true })] },
  );
  const report = await t.runtime.run({ agent: "scout", task: "look" });
  const result = await t.runtime.run({ agent: "lead", task: "go", reports: [report] });
  expect(result).toMatchObject({ tainted: true, private_data: true });
  const { workspace } = await t.runtime.record.findSession(result.session_id);
  const roots = (await t.runtime.record.listUntrusted()).map(({ root }) => root);
  expect(roots.some((root) => root.endsWith(workspace) || workspace.endsWith(root))).toBe(true);
});

test("a delegation that cannot be made is answered with the reason", async () => {
  await using t = testRuntime(
    {
      lead: [
        callDelegate("worker", "x", { fromResults: ["run_nobody"] }),
        callDelegate("broken", "x"),
        callDelegate("middle", "x"),
        say("ok"),
      ],
      worker: [],
      broken: [],
      middle: [callDelegate("worker", "x"), say("alone")],
    },
    {
      agents: { broken: { model: "nowhere/model" }, middle: { subagents: { allow: ["*"] } } },
      settings: { maxDepth: 1 },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent(t, "lead", 1)).toContain("no finished result 'run_nobody'; available: none");
  expect(sent(t, "lead", 2)).toContain("error: config");
  expect(sent(t, "middle", 1)).toMatch(/depth/);
  expect(startedTasks(t)).toHaveLength(1);
});

test("files of the project that are handed over bring its text into the session, those of the workspace do not", async () => {
  const put = createTool("put", {
    execute: async (_, { projectDir, workspaceDir }) => {
      for (const folder of [projectDir, workspaceDir]) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "a.md"), "text");
      }
      return "put";
    },
  });
  const entered = async (file: string) => {
    await using seen = openSeen(
      {
        lead: [callTool("put", {}), callDelegate("worker", "x", { contextFiles: [file] }), say("ok")],
        worker: [say("done")],
      },
      { tools: [{ ...put, isPublic: true }] },
    );
    await seen.runtime.run({ agent: "lead", task: "go" });
    expect(seen.find("worker").task).toContain("text");
    return seen.find("lead").session.projectText.hasEntered;
  };
  expect([await entered("workspace:a.md"), await entered("a.md")]).toEqual([false, true]);
});

/** Children of a hand-made run, of whom none ends by itself. */
class Held extends Children {
  begun = 0;

  override delegate(): Promise<RunResult> {
    this.begun++;
    return new Promise(() => {});
  }
}

const [scout, stranger] = ["scout", "stranger"].map((name) =>
  defineAgent({ name, description: "x", prompt: "x" }),
) as [ReturnType<typeof defineAgent>, ReturnType<typeof defineAgent>];

/** The children of a hand-made run that may delegate to a scout alone, though there is a stranger. */
function makeChildren({ subagents = {}, earlier, ...parts }: RunParts & Made = {}) {
  const agent = defineAgent({
    ...{ name: "lead", description: "x", prompt: "x" },
    subagents: { allow: ["scout"], ...subagents },
  });
  const host = { registry: createRegistry({ agents: [agent, scout, stranger] }), ...parts.host };
  const { run } = makeRun({ ...parts, agent, host });
  const profile = { agent, delegates: [scout] } as Partial<Profile> as Profile;
  const children = new Held(run, profile, earlier);
  run.children = children;
  return { run, children };
}
type Made = { subagents?: Partial<SubagentPolicy>; earlier?: EarlierAttempts };

const about = (id: string) => ({ id, agent: "scout", task: "x", callId: id });
const failedWith = (id: string, message: string) =>
  failedResult(
    { runId: id, sessionId: "ses_1", agent: "scout" },
    { type: "failed", message, recoverable: false },
  );
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("children run side by side, five at once, unless their parent's agent says otherwise", async () => {
  const begun = async (subagents: Partial<SubagentPolicy>) => {
    const { children } = makeChildren({ subagents });
    for (let n = 0; n < 9; n++)
      children.start({ agent: "scout", task: "x" }, { callId: `c${n}`, rowId: 1 }, `r${n}`);
    await settle();
    return [children.mode, children.begun];
  };
  expect(await begun({})).toEqual(["parallel", 5]);
  expect(await begun({ maxConcurrent: 7 })).toEqual(["parallel", 7]);
  expect(await begun({ execution: "sequential" })).toEqual(["sequential", 1]);
});

test("a run at its limit stops its children, and one that comes to life only then is stopped by the same", async () => {
  const { run, children } = makeChildren();
  const { run: kid } = makeRun({ parent: run, runId: "run_kid" });
  const stop = { status: "cancelled", bailout: "cancelled", message: "its parent reached a limit" };
  expect(await children.collectRest("wait")).toBeNull();
  expect([kid.interruption, children.stopping]).toEqual([null, null]);
  await children.collectRest("stop");
  expect(kid.interruption).toEqual(stop);
  const { run: late } = makeRun({ parent: run, runId: "run_late" });
  livePace.watch(late)();
  expect(late.interruption).toEqual(stop);
});

test("a delegation that comes up after the others were stopped begins nothing, and says what stopped it", async () => {
  const { run } = makeChildren();
  const children = new Children(run, { agent: run.agent, delegates: [scout] } as Partial<Profile> as Profile);
  children.stop("no more of this");
  const { done } = children.start({ agent: "scout", task: "x" }, { callId: "c", rowId: 1 }, "run_late");
  expect(await done).toMatchObject({
    status: "cancelled",
    error: { type: "cancelled", message: "no more of this" },
  });
});

test("of results that nobody collected no secret reaches the parent, and what was heard before is heard first", async () => {
  const heard: string[] = [];
  const pace = { ...livePace, hearAll: ({ runId }: { runId: string }) => void heard.push(runId) };
  const { children } = makeChildren({ host: { pace } });
  children.delegations.track(
    about("run_a"),
    Promise.resolve(failedWith("run_a", `the key ${KNOWN_SECRET} is old`)),
  );
  const text = await children.collectRest("wait");
  expect(heard).toEqual(["run_root"]);
  expect(text).toMatch(/the key .* is old/);
  expect(text).not.toContain(KNOWN_SECRET);
  expect(await children.collectRest("wait")).toBeNull();
});

test("who asks for an agent that it cannot have is told which ones it can", () => {
  const { children } = makeChildren();
  expect(children.findMistake({ task: "x" })).toMatchObject({
    ...{ type: "params", recoverable: true, message: "agent is missing; available: scout" },
  });
  const unknown = children.findMistake({ agent: "skout" });
  expect(unknown).toMatchObject({ type: "unknown_agent", message: expect.stringContaining("scout") });
  expect(unknown?.message).not.toContain("stranger");
  expect(children.findMistake({ agent: "scout", fromResults: ["run_none"] })).toMatchObject({
    ...{ type: "params", message: "no finished result 'run_none'; available: none" },
  });
  expect(children.findMistake({ agent: "scout" })).toBeNull();
  expect(children.refuseAgent("scout")).toBeNull();
  expect(children.refuseAgent("stranger")).toEqual({
    ...{ type: "not_allowed", recoverable: false },
    message: "lead may not delegate to 'stranger'; available: scout",
  });
});

test("a child stands one level below its parent: the deepest run that may be begun is at the limit itself", () => {
  expect(makeChildren({ depth: 4 }).children.admit(scout)).toBeNull();
  expect(makeChildren({ depth: 5 }).children.admit(scout)).toMatchObject({ type: "depth_exceeded" });
});

test("after a crash each task of a batch has the run that it had, attempt for attempt", () => {
  const row = (runId: string, taskId?: string) =>
    makeRow({
      ...{ request_type: "delegation", call_id: "call", run_id: runId, agent_role: "scout" },
      metadata: taskId === undefined ? {} : { taskId },
    });
  const rows = [row("run_a", "a"), row("run_b", "b"), row("run_b2", "b"), row("run_alone")];
  const earlier = new EarlierAttempts(makeRunRow([makeTurnRow(1, { children: rows })]));
  const { children } = makeChildren({ earlier, host: { createRunId: () => "run_new" } });
  const idOf = (taskId: string | undefined, attempt = 0) =>
    children.idFor({ callId: "call", ...(taskId !== undefined && { taskId }) }, attempt);
  expect([idOf("a"), idOf("b"), idOf("b", 1), idOf(undefined)]).toEqual([
    "run_a",
    "run_b",
    "run_b2",
    "run_alone",
  ]);
  expect([idOf("a", 1), idOf("c")]).toEqual(["run_new", "run_new"]);
  expect([children.hasDelegatedTo("scout"), children.hasDelegatedTo("stranger")]).toEqual([true, false]);
});

test("children whose prompt tells the time are told the minute in which each is begun", async () => {
  let minutes = 0;
  const start = Date.parse("2026-03-04T05:00:07.000Z");
  const clock = { ...systemClock, wallMs: () => start + minutes * 60_000 };
  const steps = [callDelegate("worker", "a"), callDelegate("worker", "b"), say("ok")];
  const worker = scriptedModel("worker", { eachRun: [say("done")] });
  const lead = scriptedModel("lead", () => {
    minutes += 10;
    return steps.shift() ?? hang();
  });
  const define = (name: string, prompt: string) =>
    defineAgent({ name, description: "x", prompt, model: name, subagents: { allow: ["worker"] } });
  // Only prompts in files have places to fill in.
  const filled = define("worker", "It is {{now}}.");
  const agents = createRegistry({
    agents: [define("lead", "You lead."), { ...filled, source: { ...filled.source, format: "native" } }],
  });
  using lives = new Lives();
  const places = { database: ":memory:", projectDir: lives.root, dataDir: join(lives.root, "data") };
  const runtime = assembleRuntime(
    { ...places, env: {}, zone: () => "UTC", agents, models: { lead, worker } },
    { clock },
  );
  await runtime.run({ agent: "lead", task: "go" });
  await runtime.close();
  const told = worker.requests.map(({ prompt }) => /It is \S+T(\d\d:\d\d)/.exec(JSON.stringify(prompt))?.[1]);
  expect(told).toEqual(["05:10", "05:20"]);
});

test("the record says how much of the conversation a child was given, by the delegation or by its agent", async () => {
  const modes = async (context: "full" | undefined) => {
    await using t = testRuntime(
      {
        lead: [callDelegate("worker", "a", context && { context }), say("ok")],
        worker: [say("done")],
      },
      { agents: { worker: { context: "selective" } } },
    );
    const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
    const rows = await t.runtime.record.readRows({ sessionId: session_id, kind: "runs" });
    return rows.find((row) => row.agent_role === "worker")?.context_mode;
  };
  expect([await modes(undefined), await modes("full")]).toEqual(["selective", "full"]);
});

test("a child that was cancelled is not tried again, whatever its policy says", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "go"), say("ok")], worker: [hang(), say("again")] },
    { agents: retry({ on: ["cancelled"] }), lenient: true },
  );
  const { result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.worker?.requests.length !== 1) await settle();
  const child = t.events.find((event) => event.type === "run.started" && event.parentRunId);
  t.runtime.cancel(child?.type === "run.started" ? child.runId : "");
  expect(await result).toMatchObject({ status: "completed" });
  expect(resultsOf(t, "worker").map(({ status }) => status)).toEqual(["cancelled"]);
});

test("a child that is handed a file from an untrusted source is tainted by it, another one is not", async () => {
  const fetch = createTool("fetch", {
    untrusted: true,
    execute: async (_, { projectDir, changed }) => {
      writeFileSync(join(projectDir, "found.md"), "text");
      changed(join(projectDir, "found.md"), "created");
      return "fetched";
    },
  });
  const hand = (file: string) => callDelegate("worker", file, { contextFiles: [file] });
  await using t = testRuntime(
    {
      lead: [hand("own.md"), hand("found.md"), say("ok")],
      scout: [callTool("fetch", {}), say("seen")],
      worker: { eachRun: [say("done")] },
    },
    { tools: [fetch] },
  );
  writeFileSync(join(t.projectDir, "own.md"), "written by a person");
  await t.runtime.run({ agent: "scout", task: "look" });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(t, "worker").map(({ tainted }) => tainted)).toEqual([false, true]);
});

test("while children of a program's call are finished after a crash their parent waits for them, on no time of its own", async () => {
  const row = (callId: string, closedSeq: number | null) =>
    makeRow({
      ...{ request_type: "delegation", call_id: callId, agent_role: "scout", run_id: `run_${callId}` },
      closed_seq: closedSeq,
    });
  const rows = [row("call.1", null), row("call.2", 2), row("other.1", null)];
  const earlier = new EarlierAttempts(makeRunRow([makeTurnRow(1, { children: rows })]));
  const { run, children } = makeChildren({ earlier });
  void children.finish("call");
  await settle();
  expect(children.begun).toBe(1);
  expect(children.delegations.undelivered().map(({ id }) => id)).toEqual(["run_call.1"]);
  expect(run.waitingOn).toBe("children");
});
