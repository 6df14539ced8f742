import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Assessment, SubAgentResponse } from "@retinue/core/intent/intent-shapes";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { Limits } from "@retinue/core/schema/agent";
import type { RunResult } from "@retinue/core/schema/result";
import {
  callDelegate,
  callTool,
  callTools,
  failWith,
  hang,
  type Script,
  type Step,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { handClock } from "../attacks/clocks.ts";

const DATA = { message_id: "m1" };
let sent: string[] = [];
let statusFails: boolean | "hangs" = false;
const send = defineTool<{ to: string }>({
  name: "send",
  description: "Sends.",
  groups: ["email"],
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: async ({ to }) => {
    if (to === "nobody") return { text: "no such person", isError: true };
    sent.push(to);
    return JSON.stringify(DATA);
  },
});
const status = defineTool<object>({
  name: "status",
  description: "Tells how far it is.",
  groups: ["email"],
  input: { type: "object" },
  risk: "low",
  replay: "safe",
  execute: async (_, { signal }) => {
    if (statusFails === "hangs")
      await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
    const error = { type: "network", message: "no route", tool: "status", recoverable: true };
    if (statusFails) return { text: JSON.stringify({ error }), isError: true };
    return JSON.stringify({ delivery_status: "delivered" });
  },
});
const tools = [send, status];
const toJo = callTool("send", { to: "jo" });

const planned = (more: Partial<Assessment> = {}) =>
  JSON.stringify({
    tools: ["send"],
    params: { to: "jo" },
    sequence: ["send"],
    assumptions: ["jo is jo@here.example"],
    missing: [],
    ...more,
  });
const plan = (more: Partial<Assessment> = {}) => say(planned(more));
const withStatus = { tools: ["send", "status"], sequence: ["send", "status"] };
const reply = (text: string, more: Partial<Extract<Step, { kind: "reply" }>>): Step => ({
  kind: "reply",
  text,
  calls: [],
  ...more,
});

function open(script: Script, options: TestRuntimeOptions = {}, limits: Limits = {}): TestRuntime {
  sent = [];
  statusFails = false;
  const agents = { mailer: { flow: "intent" as const, limits } };
  return testRuntime({ mailer: script }, { tools, ...options, agents });
}

const responseOf = ({ data }: Pick<RunResult, "data">) => data as SubAgentResponse;

/** Every ending has the one form, says the same as its run, and comes out again when it is played. */
async function expectSound({ runtime }: TestRuntime, result: RunResult): Promise<SubAgentResponse> {
  const response = responseOf(result);
  const fields = ["success", "domain", "request", "result", ...(result.success ? [] : ["error"])];
  expect(Object.keys(response)).toEqual(fields);
  expect(Object.keys(response.result)).toEqual(["data", "summary", "tools_used", "execution_time"]);
  if (response.error) expect(Object.keys(response.error)).toEqual(["type", "message", "tool", "recoverable"]);
  expect(response.success).toBe(result.success);
  expect(response.result.summary).not.toBe("");
  expect(response.result.summary).not.toContain('{"tools"');
  const options = { agents: runtime.agents.list(), tools, env: {} };
  expect((await replaySession(options, runtime.record, result.session_id)).divergence).toBeNull();
  return response;
}

async function run(t: TestRuntime, task = "Send it to jo"): Promise<RunResult> {
  return t.runtime.run({ agent: "mailer", task });
}

test.each([
  ["the model fails", failWith("auth", "wrong key"), "wrong key"],
  ["the content is filtered", reply("", { finish: "content-filter" }), "content filter"],
])("what was done is not reported as a failure because %s in the summary", async (_, last, why) => {
  await using t = open([plan(), toJo, last]);
  const result = await run(t);
  const { result: given } = await expectSound(t, result);
  expect(result).toMatchObject({ status: "completed", success: true, partial: false });
  expect(result.warnings.join()).toContain(why);
  expect(given).toMatchObject({
    data: DATA,
    summary: "Done: send (message_id m1). Assumed: jo is jo@here.example.",
  });
});

test("the plan is not taken for a summary when the model fails on the way", async () => {
  await using t = open([plan(), failWith("auth", "wrong key")]);
  const result = await run(t);
  const { result: given, error } = await expectSound(t, result);
  expect(given.summary).toBe("wrong key");
  expect(error).toMatchObject({ type: "auth", tool: "model" });
});

test("a request keeps its own headings", async () => {
  const task = "Send this to jo:\n\n## Agenda\nOne\n\n<context mode=none>\n\n## More\nTwo";
  await using t = open([plan(), toJo, say("Sent.")]);
  expect((await expectSound(t, await run(t, task))).request).toBe(task);
});

test("what the host adds to a delegated request is no part of it", async () => {
  sent = [];
  await using t = testRuntime(
    {
      lead: [callDelegate("mailer", "Send it to jo", { successCriteria: "it is sent" }), say("done")],
      mailer: [plan(), toJo, say("Sent.")],
    },
    { tools, agents: { mailer: { flow: "intent" } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const ended = t.events.find((event) => event.type === "run.ended" && event.agent === "mailer");
  expect(ended?.type === "run.ended" && responseOf(ended.result).request).toBe("Send it to jo");
});

test("a second request in one conversation is assessed and carried out like the first", async () => {
  const steps = [plan(), toJo, say("Sent to jo."), plan(), callTool("send", { to: "sara" }), say("To sara.")];
  await using t = open(({ turn }) => steps[turn] ?? say("?"));
  const { session_id } = await run(t);
  const fork = { sessionId: session_id, seq: Number.MAX_SAFE_INTEGER };
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to sara", fork });
  expect(sent).toEqual(["jo", "sara"]);
  expect((await expectSound(t, result)).result.summary).toBe("To sara.");
});

test("calls in the last phase are answered, and end it all the same", async () => {
  const calls = [{ tool: "send", input: { to: "eve" } }];
  await using t = open([plan(), toJo, reply("Sent.", { calls })]);
  const result = await run(t);
  expect(sent).toEqual(["jo"]);
  expect((await expectSound(t, result)).result.summary).toBe("Sent.");
});

test("calls beside an assessment are not made, and do not count as failures of it", async () => {
  await using t = open([
    reply(planned(), { calls: [{ tool: "send", input: { to: "eve" } }] }),
    toJo,
    say("Sent."),
  ]);
  const result = await run(t);
  expect(sent).toEqual(["jo"]);
  expect(result.context?.notes).not.toContain("Failed");
  await expectSound(t, result);
});

test("calls beside an assessment are not made by a process that goes on with it either", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-intent-"));
  const places = {
    projectDir: root,
    dataDir: join(root, "data"),
    database: join(root, "data", "retinue.db"),
  };
  const calls = [
    { tool: "send", input: { to: "eve" }, id: "one" },
    { tool: "status", input: {}, id: "two" },
  ];
  const script: Script = ({ turn }) =>
    [reply(planned(withStatus), { calls }), callTools([...calls]), say("Sent.")][turn] ?? say("?");
  const cut = open(script, { ...places, lenient: true });
  const { sessionId, result } = await cut.runtime.start({ agent: "mailer", task: "Send it to eve" });
  await result;
  await cut.close();
  // The record as it was before the answers to those calls.
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(places.database);
  const rows = database.prepare("SELECT id, request_type AS type FROM messages ORDER BY id").all();
  const first = rows.findIndex(({ type }) => type === "tool_call");
  for (const { id } of rows.slice(first).reverse())
    database.prepare("DELETE FROM messages WHERE id = ?").run(id ?? null);
  database
    .prepare("UPDATE messages SET closed_seq = NULL, status = 'running' WHERE request_type = 'prompt'")
    .run();
  database.prepare("UPDATE sessions SET status = 'running'").run();
  database.close();
  const after = open(script, { ...places, lenient: true });
  const resumed = await (await after.runtime.resume(sessionId)).result;
  expect(sent).toEqual(["eve"]);
  await expectSound(after, resumed);
  await after.close();
  rmSync(root, { recursive: true, force: true });
});

test("a run that has reached others is not tried again for its policy", async () => {
  sent = [];
  const both = callTools([
    { tool: "send", input: { to: "jo" } },
    { tool: "status", input: {} },
  ]);
  const steps = [plan(withStatus), both, say("Sent; how far it came is not known.")];
  await using t = testRuntime(
    {
      lead: [callDelegate("mailer", "Send it to jo"), say("done")],
      mailer: ({ turn }) => steps[turn] ?? hang(),
    },
    { tools, agents: { mailer: { flow: "intent", retry: { attempts: 1, on: ["network"], backoffMs: 1 } } } },
  );
  statusFails = true;
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(sent).toEqual(["jo"]);
});

test("a run that has only looked is tried again for its policy", async () => {
  statusFails = true;
  const looking = plan({ tools: ["status"], sequence: ["status"] });
  const steps = [looking, callTool("status", {}), say("No answer.")];
  await using t = testRuntime(
    {
      lead: [callDelegate("mailer", "How far is it?"), say("done")],
      mailer: ({ turn }) => steps[turn] ?? hang(),
    },
    { tools, agents: { mailer: { flow: "intent", retry: { attempts: 1, on: ["network"], backoffMs: 1 } } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.trace()).toEqual(["lead > mailer: failed", "lead > mailer: failed", "lead: completed"]);
});

const LIMITS: readonly (readonly [title: string, limits: Limits, sent: boolean, why: RegExp])[] = [
  ["one turn", { turns: 1 }, false, /limit \(max iterations\) before send, status/],
  ["two turns", { turns: 2 }, true, /'status' did not succeed: stopped by a limit \(max iterations\)/],
  ["three turns", { turns: 3 }, true, /^$/],
  ["no tool call", { toolCalls: 0 }, false, /limit of 0 tool calls/],
  ["one tool call", { toolCalls: 1 }, true, /'status' did not succeed: the limit of 1 tool calls/],
  ["little context", { contextChars: 1_900 }, true, /longer than 1900/],
  ["few tokens", { tokens: 3_000 }, true, /^$/],
  ["fewer tokens", { tokens: 1_500 }, false, /limit \(max tokens\) before send, status/],
  ["hardly any tokens", { tokens: 300 }, false, /no room for a first call/],
];
test.each(LIMITS)("a limit is told as what it is: %s", async (_, limits, isSent, why) => {
  const steps = [plan(withStatus), toJo, callTool("status", {}), say("Sent.")];
  const script: Script = ({ turn, options: { toolChoice } }) =>
    toolChoice?.type === "none" && turn < 3 ? say("Stopped early.") : (steps[turn] ?? say("?"));
  await using t = open(script, { lenient: true }, limits);
  const result = await run(t);
  const { error, result: given } = await expectSound(t, result);
  expect([result.status, sent]).toEqual(isSent ? ["completed", ["jo"]] : ["failed", []]);
  expect(isSent ? result.warnings.join() : error?.message).toMatch(why);
  if (result.warnings.length > 0 && isSent) expect(given.summary).toMatch(/^Done: send \(message_id m1\)\./);
});

const bothAtOnce = callTools([
  { tool: "send", input: { to: "jo" } },
  { tool: "status", input: {} },
]);
const LATER_READS: readonly (readonly [title: string, steps: readonly Step[], why: string])[] = [
  ["fails in the same turn", [bothAtOnce, say("Its status is unknown.")], "no route"],
  ["fails in a later turn", [toJo, callTool("status", {}), say("Its status is unknown.")], "no route"],
  ["is given up", [toJo, say("I stop here."), say("Its status is unknown.")], "it was not called"],
  ["fails, and then the model does", [bothAtOnce, failWith("auth", "wrong key")], "no route"],
  ["fails, and the summary is empty", [bothAtOnce, say("")], "no route"],
];
test.each(LATER_READS)("what was done stays done when a later read %s", async (_, steps, why) => {
  await using t = open([plan(withStatus), ...steps]);
  statusFails = true;
  const result = await run(t);
  const { result: given } = await expectSound(t, result);
  expect(result).toMatchObject({ status: "completed", success: true, partial: false });
  expect(result.error).toBeUndefined();
  expect(sent).toEqual(["jo"]);
  expect(result.warnings).toContainEqual(`what was asked for is done, but 'status' did not succeed: ${why}`);
  for (const text of [result.summary, given.summary])
    expect(text).toMatch(/^Done: send \(message_id m1\)\. .*status/);
});

test("what was done stays done when a later read is denied", async () => {
  sent = [];
  const agents = { mailer: { flow: "intent" as const, askTools: ["status"] } };
  const approve = async () => ({ allowed: false, by: "Ada" });
  await using t = testRuntime(
    { mailer: [plan(withStatus), bothAtOnce, say("Its status is unknown.")] },
    { tools, agents, approve },
  );
  const result = await run(t);
  await expectSound(t, result);
  expect(result).toMatchObject({ status: "completed", success: true });
  expect(result.warnings.join()).toMatch(/'status' did not succeed: .*Ada did not give it/);
});

test("what was done stays done when a later read lasts until the run's time is over", async () => {
  const clock = handClock();
  await using t = open([plan(withStatus), bothAtOnce], { internals: { clock } }, { minutes: 3 });
  statusFails = "hangs";
  t.runtime.events((event) => {
    if (event.type === "call.started" && event.tool === "status") setImmediate(() => clock.advance(180_000));
  });
  const result = await run(t);
  const { result: given } = await expectSound(t, result);
  expect(result).toMatchObject({ status: "completed", success: true, partial: false });
  expect(given.summary).toMatch(/^Done: send \(message_id m1\)\. .*'status' did not succeed/);
});

const nobody = { tool: "send", input: { to: "nobody" } };
const toTwo = [{ tool: "send", input: { to: "jo" } }, nobody];
const FAILED_WRITES: readonly (readonly [
  title: string,
  plan: Partial<Assessment>,
  steps: readonly Step[],
  done: readonly string[],
])[] = [
  [
    "the reads before it succeeded",
    { tools: ["status", "send"], sequence: ["status", "send"] },
    [callTools([{ tool: "status", input: {} }, nobody]), say("I stop."), say("All fine.")],
    [],
  ],
  [
    "the plan demands only the reads",
    { tools: ["status", "send"], sequence: ["status"] },
    [callTools([nobody, { tool: "status", input: {} }]), say("I stop."), say("All fine.")],
    [],
  ],
  [
    "another one of the plan succeeded",
    { sequence: ["send", "send"] },
    [callTools(toTwo), say("I stop."), say("All fine.")],
    ["jo"],
  ],
  [
    "another one succeeded and the plan demands only one",
    {},
    [callTools(toTwo), say("I stop."), say("All fine.")],
    ["jo"],
  ],
  [
    "one of two was made again",
    {},
    [
      callTools([nobody, { tool: "send", input: { to: "nobody", n: 2 } }]),
      toJo,
      say("I stop."),
      say("Fine."),
    ],
    ["jo"],
  ],
];
test.each(FAILED_WRITES)("a failed write is a failure although %s", async (_, more, steps, done) => {
  await using t = open([plan(more), ...steps]);
  const result = await run(t);
  const { result: given } = await expectSound(t, result);
  expect(result).toMatchObject({ status: "failed", success: false, error: { message: "no such person" } });
  expect(sent).toEqual(done);
  if (done.length > 0)
    for (const text of [result.summary, given.summary])
      expect(text).toMatch(/^Done: send \(message_id m1\)\./);
});

test("a write that failed and was made again in a later turn is done", async () => {
  await using t = open([plan(), callTools(toTwo), callTool("send", { to: "sara" }), say("Sent to both.")]);
  const result = await run(t);
  expect((await expectSound(t, result)).result.summary).toBe("Sent to both.");
  expect([result.success, sent]).toEqual([true, ["jo", "sara"]]);
});

test.each([0, 1, 2])("a run that is stopped in its turn %i says what was done before", async (at) => {
  const reached = Promise.withResolvers<void>();
  const steps = [plan(), toJo, say("Sent.")];
  const script: Script = ({ turn }) => {
    if (turn === at) reached.resolve();
    return turn === at ? hang() : (steps[turn] ?? say("?"));
  };
  await using t = open(script, { lenient: true });
  const { runId, result } = await t.runtime.start({ agent: "mailer", task: "Send it to jo" });
  await reached.promise;
  t.runtime.cancel(runId);
  const { result: given } = await expectSound(t, await result);
  expect(given.summary).toBe(at === 2 ? "Done: send (message_id m1). After that: cancelled" : "cancelled");
});

test("what a person says in between is heard, and what comes too late is told", async () => {
  let runId = "";
  const steps = [plan(), toJo, say("Sent.")];
  await using t = open(({ turn }) => {
    t.runtime.steer(runId, `word ${turn}`);
    return steps[turn] ?? say("?");
  });
  const handle = await t.runtime.start({ agent: "mailer", task: "Send it to jo" });
  runId = handle.runId;
  const result = await handle.result;
  await expectSound(t, result);
  const heard = t.events.flatMap((event) => (event.type === "run.steered" ? [event.text] : []));
  expect(heard).toEqual(["word 0", "word 1"]);
  expect(result.warnings).toEqual(["this came too late to be heard: word 2"]);
});

const MISBEHAVING: readonly (readonly [title: string, success: boolean, steps: readonly Step[]])[] = [
  ["says nothing at all", false, [say(""), say("")]],
  ["says nothing after its plan", false, [plan(), say(""), say("")]],
  [
    "sends bad input, then good, then a summary that nobody sees",
    true,
    [plan(), callTool("send", {}), callTool("send", "{"), toJo, say("\u200b")],
  ],
  ["plans with __proto__", false, [plan({ tools: ["__proto__"] }), plan({ tools: ["constructor"] })]],
  [
    "calls what objects have by themselves",
    false,
    [plan(), callTool("__proto__", {}), callTool("constructor", {}), callTool("toString", {}), say("No.")],
  ],
  ["gives other types", false, [say('{"tools":"send"}'), say('{"tools":{"0":"send"},"missing":5}')]],
  ["gives no object", false, [say("[1]"), say("null")]],
  ["is filtered before it calls", false, [plan(), reply("x", { finish: "content-filter" })]],
  ["is cut off", true, [plan(), toJo, reply("Part of", { finish: "length" })]],
  ["says far too much", true, [plan(), toJo, say("x".repeat(100_000))]],
];
test.each(MISBEHAVING)("a model that %s leads to a sound ending", async (_, success, steps) => {
  await using t = open(steps);
  const response = await expectSound(t, await run(t));
  expect(response.success).toBe(success);
  expect(response.result.summary.length).toBeLessThanOrEqual(4_000);
});
