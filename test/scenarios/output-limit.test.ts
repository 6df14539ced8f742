import {
  after,
  callDelegateMany,
  callTool,
  failWith,
  type ScriptRequest,
  type Step,
  say,
  testRuntime,
} from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const price = { input: 1, output: 1, maxOutputTokens: 64_000 };
const KNOWN = { prices: { "scripted/lead": price, "scripted/worker": price } };

test.each([
  ["what the model can give", {}, {}, 64_000],
  ["what its agent says", { maxOutputTokens: 2_000 }, { maxOutputTokens: 9_000 }, 2_000],
  ["what the settings say", {}, { maxOutputTokens: 9_000 }, 9_000],
  ["at most what the model can give", { maxOutputTokens: 900_000 }, {}, 64_000],
])("a model is asked for %s", async (_, agent, settings, asked) => {
  await using t = testRuntime(
    { lead: [say("done")] },
    { settings: { ...KNOWN, ...settings }, agents: { lead: agent } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(t.models.lead?.requests[0]?.maxOutputTokens).toBe(asked);
});

test("a model of which nothing is known is asked for what any server takes, or for what its agent says", async () => {
  await using t = testRuntime(
    { lead: [say("done")], other: [say("done")] },
    { agents: { other: { maxOutputTokens: 40_000 } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  await t.runtime.run({ agent: "other", task: "go" });
  expect(t.models.lead?.requests[0]?.maxOutputTokens).toBe(8_192);
  expect(t.models.other?.requests[0]?.maxOutputTokens).toBe(40_000);
});

const TOO_LARGE =
  "max_tokens is too large: 64000. This model supports at most 4096 completion tokens, whereas you provided 64000.";

test("a server that takes less is asked once more with what it names, and for no more in the rest of the run", async () => {
  const lead = (request: ScriptRequest): Step => {
    if ((request.options.maxOutputTokens ?? 0) > 4_096) return failWith("bad_response", TOO_LARGE);
    return request.turn === 0 ? callTool("note", {}) : say("done");
  };
  const note = defineTool({
    name: "note",
    description: "Notes.",
    risk: "low",
    input: { type: "object" },
    access: async () => [],
    execute: async () => "noted",
  });
  await using t = testRuntime({ lead }, { settings: KNOWN, tools: [note] });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", summary: "done" });
  expect(result.warnings).toEqual([expect.stringContaining("gives at most 4,096 tokens in a reply")]);
  expect(t.models.lead?.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([
    64_000, 4_096, 4_096,
  ]);
  expect(await t.runtime.replay(result.session_id)).toMatchObject({ identical: true });
});

test.each([
  ["names no number", "max_tokens is too large for this deployment", 1],
  ["is not content with its own number either", TOO_LARGE, 2],
])("a server that %s ends the run with a hint at maxOutputTokens", async (_, message, calls) => {
  const lead = { eachRun: Array.from({ length: 9 }, () => failWith("bad_response", message)) };
  await using t = testRuntime({ lead }, { settings: KNOWN });
  const { status, error } = await t.runtime.run({ agent: "lead", task: "go" });
  expect([status, error?.message]).toEqual(["failed", expect.stringContaining("set maxOutputTokens lower")]);
  expect(t.models.lead?.requests).toHaveLength(calls);
});

test("siblings on a shared budget work side by side although the model could use all of it", async () => {
  const all = Promise.withResolvers<void>();
  let asked = 0;
  const worker = (): Step => {
    if (++asked === 5) all.resolve();
    return after(all.promise, say("ok", { input: 50, output: 5 }));
  };
  const tasks = Array.from({ length: 5 }, (_, at) => ({ id: `t${at}`, agent: "worker", task: "work" }));
  await using t = testRuntime(
    {
      lead: (request: ScriptRequest) => (request.turn === 0 ? callDelegateMany(tasks) : say("done")),
      worker,
    },
    { settings: KNOWN, agents: { lead: { limits: { tokens: 80_000 }, subagents: ["worker"] } } },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    status: "completed",
    partial: false,
  });
  expect(asked).toBe(5);
});

test.each([{ tokens: 6_000 }, { costUsd: 0.006 }])(
  "a budget of %o is enough for a short task",
  async (limits) => {
    await using t = testRuntime({ lead: [say("done")] }, { settings: KNOWN, agents: { lead: { limits } } });
    expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
      status: "completed",
      partial: false,
    });
  },
);

test("a model whose call was cut is told the limit and goes on in parts", async () => {
  const files = new Map<string, string>();
  const write: AnyTool = defineTool<{ path: string; content: string }>({
    name: "write",
    description: "Writes.",
    input: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
    },
    replay: "safe",
    execute: async ({ path, content }) => {
      files.set(path, (files.get(path) ?? "") + content);
      return "written";
    },
  });
  const cut: Step = {
    kind: "reply",
    text: "",
    calls: [{ tool: "write", input: '{"path":"a.md","content":"one two thr' }],
    finish: "length",
  };
  await using t = testRuntime(
    {
      lead: [
        cut,
        ({ last }) => {
          expect(last).toContain("cut at its limit of 3,000 output tokens");
          expect(last).toContain("first part");
          expect(last).not.toContain("JSON");
          return callTool("write", { path: "a.md", content: "one " });
        },
        callTool("write", { path: "a.md", content: "two three" }),
        say("done"),
      ],
    },
    { tools: [write], settings: KNOWN, agents: { lead: { maxOutputTokens: 3_000 } } },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    status: "completed",
    partial: false,
  });
  expect(files.get("a.md")).toBe("one two three");
});
