import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Assessment, SubAgentResponse } from "@retinue/core/intent/intent-shapes";
import { readTree } from "@retinue/core/record/read-tree";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { MessageNode } from "@retinue/core/schema/record";
import {
  callDelegate,
  callTool,
  callTools,
  failWith,
  hang,
  type Script,
  type ScriptRequest,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const DATA = { message_id: "m1", recipients: ["jo@here.example"] };
let sent = 0;
const send = defineTool<{ to: string }>({
  name: "send",
  description: "Sends.",
  groups: ["email"],
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: async ({ to }) => {
    if (to === "nobody") return { text: "no such person", isError: true };
    if (to === "expired") {
      const error = { type: "auth", message: "the token has expired", tool: "send", recoverable: true };
      return { text: JSON.stringify({ error }), isError: true };
    }
    sent++;
    return JSON.stringify(DATA);
  },
});
const status = defineTool<object>({
  name: "status",
  description: "Tells how far it is.",
  groups: ["email"],
  input: { type: "object" },
  replay: "safe",
  execute: async () => JSON.stringify({ delivery_status: "delivered" }),
});
const other = defineTool<object>({
  name: "other",
  description: "Not planned.",
  groups: ["email"],
  input: { type: "object" },
  execute: async () => {
    sent += 100;
    return "{}";
  },
});

const assessment = (more: Partial<Assessment> = {}) =>
  say(
    JSON.stringify({
      request: "send it",
      tools: ["send", "status"],
      params: { to: "jo" },
      status: "planning",
      result: {},
      notes: "one recipient",
      sequence: ["send", "status"],
      risk: "medium",
      assumptions: ["jo is jo@here.example"],
      missing: [],
      ...more,
    }),
  );

function open(script: Script, options: TestRuntimeOptions = {}): TestRuntime {
  sent = 0;
  return testRuntime(
    { mailer: script },
    { tools: [send, status, other], ...options, agents: { mailer: { flow: "intent" } } },
  );
}

const responseOf = ({ data }: { data?: unknown }) => data as SubAgentResponse;
const toolsOffered = ({ options }: ScriptRequest) => options.tools?.map(({ name }) => name) ?? [];
const phasesOf = (node: MessageNode | undefined) =>
  (node?.children ?? []).map((row) => {
    const { phase, context } = JSON.parse(row.metadata_json ?? "{}");
    return [phase, context.status];
  });

test("three phases give one structured response, built from what was measured", async () => {
  const offered: string[][] = [];
  const choices: unknown[] = [];
  await using t = open((request) => {
    offered.push(toolsOffered(request));
    choices.push(request.options.toolChoice?.type);
    const steps = [
      assessment(),
      callTool("send", { to: "jo" }),
      callTool("status", {}),
      say("Sent to 1 person; assumed jo@here.example."),
    ];
    return steps[request.turn] ?? say("?");
  });
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(result.status).toBe("completed");
  expect(responseOf(result)).toEqual({
    success: true,
    domain: "email",
    request: "Send it to jo",
    result: {
      data: { ...DATA, delivery_status: "delivered" },
      summary: "Sent to 1 person; assumed jo@here.example.",
      tools_used: ["send", "status"],
      execution_time: expect.any(Number),
    },
  });
  expect(offered).toEqual([[], ["send", "status"], ["send", "status"], ["send", "status"]]);
  expect(choices).toEqual([undefined, "auto", "auto", "none"]);
});

test("the six fields are recorded at each phase, and watchers are told", async () => {
  await using t = open([assessment(), callTool("send", { to: "jo" }), callTool("status", {}), say("Sent.")]);
  const { session_id, context } = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  const [root] = await readTree(t.runtime.record, session_id);
  expect(phasesOf(root)).toEqual([
    ["assess", "planning"],
    ["execute", "executing"],
    ["execute", "executing"],
    ["format", "executing"],
  ]);
  const contexts = root?.children.map((row) => JSON.parse(row.metadata_json ?? "{}").context);
  expect(contexts?.[0]).toEqual({
    request: "Send it to jo",
    tools: ["send", "status"],
    params: { to: "jo" },
    status: "planning",
    result: {},
    notes: "one recipient. Assumed: jo is jo@here.example",
  });
  expect(contexts?.[2].result).toEqual(DATA);
  expect(context).toMatchObject({ status: "complete", result: { ...DATA, delivery_status: "delivered" } });
  const entered = t.events.flatMap((event) => (event.type === "phase.entered" ? [event.phase] : []));
  expect(entered).toEqual(["assess", "execute", "execute", "format"]);
});

test("missing information is a clear failure before anything is called", async () => {
  await using t = open([assessment({ tools: [], missing: ["recipient"], notes: "say whom to send it to" })]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it" });
  expect(result.status).toBe("failed");
  expect(responseOf(result)).toMatchObject({
    success: false,
    result: { data: null, tools_used: [] },
    error: { type: "params", message: "missing: recipient. say whom to send it to", recoverable: false },
  });
  expect(sent).toBe(0);
});

test("a tool that the plan does not name is not called, though the agent has it", async () => {
  await using t = open([
    assessment({ tools: ["send"], sequence: ["send"] }),
    callTools([
      { tool: "other", input: {} },
      { tool: "send", input: { to: "jo" } },
    ]),
    say("Sent."),
  ]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(sent).toBe(1);
  expect(result.tools_used).toEqual(["send"]);
});

test("no tool is called while the request is assessed", async () => {
  await using t = open([
    callTool("send", { to: "jo" }),
    assessment({ tools: ["send"], sequence: ["send"] }),
    callTool("send", { to: "jo" }),
    say("Sent."),
  ]);
  await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(sent).toBe(1);
});

test("an assessment that cannot be read, or plans a tool that is not there, is asked for once more", async () => {
  await using t = open([
    say("Sure, I'll do it!"),
    assessment({ tools: ["send"], sequence: ["send"] }),
    callTool("send", { to: "jo" }),
    say("Sent."),
  ]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(result.success).toBe(true);
  await using u = open([assessment({ tools: ["wire_money"] }), say("{}")]);
  const failed = await u.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(responseOf(failed).error).toMatchObject({ type: "params", tool: "model" });
});

test("calling stops after three turns, and what is not done is said", async () => {
  const tries = Array.from({ length: 3 }, (_, index) =>
    callTool("send", { to: "nobody", ...(index > 0 && { n: index }) }),
  );
  await using t = open([assessment(), ...tries, say("It did not work.")]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(result.tool_calls_used).toBe(3);
  expect(responseOf(result)).toMatchObject({
    success: false,
    result: { summary: "It did not work.", tools_used: ["send"] },
    error: { type: "tool_error", message: "no such person", tool: "send", recoverable: false },
  });
});

test("a fault that another input cannot mend ends the calling at once", async () => {
  await using t = open([assessment(), callTool("send", { to: "expired" }), say("Not sent.")]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(responseOf(result).error).toEqual({
    type: "auth",
    message: "the token has expired",
    tool: "send",
    recoverable: true,
  });
  expect(result.error).toMatchObject({ type: "auth", tool: "send", recoverable: true });
});

test("a call that nobody approved is a permission fault", async () => {
  await using t = testRuntime(
    { mailer: [assessment(), callTool("send", { to: "jo" }), say("Not sent.")] },
    { tools: [send, status], agents: { mailer: { flow: "intent", askTools: ["send"] } } },
  );
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(responseOf(result).error).toMatchObject({ type: "permission", tool: "send", recoverable: false });
});

test("a model that fails still ends with a response", async () => {
  await using t = open([failWith("auth", "wrong key")]);
  const result = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  expect(responseOf(result)).toMatchObject({
    success: false,
    error: { type: "auth", message: "wrong key", tool: "model" },
  });
});

test("a parent reads the response as its child's data", async () => {
  let read = "";
  await using t = testRuntime(
    {
      lead: [
        callDelegate("mailer", "Send it to jo"),
        (request) => {
          read = request.last;
          return say("done");
        },
      ],
      mailer: [
        assessment({ tools: ["send"], sequence: ["send"] }),
        callTool("send", { to: "jo" }),
        say("Sent."),
      ],
    },
    { tools: [send, status], agents: { mailer: { flow: "intent" } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const data = JSON.parse(/^\[measured\]\n(?:.*\n)*?data: (.*)$/m.exec(read)?.[1] ?? "");
  expect(data).toMatchObject({ success: true, domain: "email", request: "Send it to jo" });
});

test("a replay goes through the same phases and calls nothing", async () => {
  await using t = open([assessment(), callTool("send", { to: "jo" }), callTool("status", {}), say("Sent.")]);
  const { session_id } = await t.runtime.run({ agent: "mailer", task: "Send it to jo" });
  const before = sent;
  const options = { agents: t.runtime.agents.list(), tools: [send, status, other], env: {} };
  const report = await replaySession(options, t.runtime.record, session_id);
  expect(report).toMatchObject({ identical: true, divergence: null, modelCalls: 4, toolCalls: 2 });
  expect(sent).toBe(before);
});

test.each([1, 2, 3])("a flow that was cut off in its turn %i goes on in the phase it was in", async (at) => {
  const root = mkdtempSync(join(tmpdir(), "retinue-intent-"));
  const places = {
    projectDir: root,
    dataDir: join(root, "data"),
    database: join(root, "data", "retinue.db"),
  };
  const steps = [assessment(), callTool("send", { to: "jo" }), callTool("status", {}), say("Sent.")];
  let reached = false;
  const cut = open(
    ({ turn }) => {
      reached ||= turn === at;
      return turn === at ? hang() : (steps[turn] ?? hang());
    },
    { ...places, lenient: true },
  );
  const { sessionId } = await cut.runtime.start({ agent: "mailer", task: "Send it to jo" });
  while (!reached) await new Promise((resolve) => setImmediate(resolve));
  await cut.runtime.record.committed();
  const after = testRuntime(
    { mailer: ({ turn }) => steps[turn] ?? say("?") },
    { ...places, tools: [send, status, other], lenient: true, agents: { mailer: { flow: "intent" } } },
  );
  const resumed = await after.runtime.resume(sessionId);
  const result = await resumed.result;
  expect(responseOf(result)).toMatchObject({ success: true, result: { data: DATA, summary: "Sent." } });
  expect(sent).toBe(1);
  expect(phasesOf((await readTree(after.runtime.record, sessionId))[0]).map(([phase]) => phase)).toContain(
    "format",
  );
  const options = { agents: after.runtime.agents.list(), tools: [send, status, other], env: {} };
  expect((await replaySession(options, after.runtime.record, sessionId)).divergence).toBeNull();
  await after.close();
  await cut.close();
  rmSync(root, { recursive: true, force: true });
});
