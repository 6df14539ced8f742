import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  callTool,
  callTools,
  type StepMaker,
  say,
  type TestRuntimeOptions,
  testRuntime,
} from "../testing/index.ts";
import { defineTool } from "../tools/tool.ts";

const make = defineTool<object>({
  name: "make",
  description: "x",
  input: { type: "object" },
  replay: "safe",
  execute: async (_, { projectDir, changed, tested }) => {
    writeFileSync(join(projectDir, "made.txt"), "x");
    changed(join(projectDir, "made.txt"), "created");
    tested("unit", { run: 3, passed: 3 });
    return "made";
  },
});

/** A run that plays its steps, and one that goes on from all of it. */
async function forkFrom(before: StepMaker[], after: StepMaker[], options: TestRuntimeOptions = {}) {
  await using t = testRuntime({ lead: [...before, ...after] }, { tools: [make], ...options });
  const first = await t.runtime.run({ agent: "lead", task: "FIRST TASK" });
  const seq = Number.MAX_SAFE_INTEGER;
  const fork = { sessionId: first.session_id, seq };
  const second = await t.runtime.run({ agent: "lead", task: "SECOND TASK", fork });
  const [row] = await t.runtime.record.readRows({ sessionId: second.session_id, kind: "runs" });
  return {
    first,
    second,
    asked: JSON.stringify(t.models.lead?.requests[before.length]?.prompt),
    kept: JSON.parse(row?.metadata_json ?? "{}").fork,
    lastSeq: await t.runtime.record.readLastSeq(first.session_id),
  };
}

const usage = { input: 100, output: 10 };

test("a fork has the whole conversation before its own task, and figures of its own", async () => {
  const settings = { prices: { "scripted/lead": { input: 1, output: 1 } } };
  const { first, second, asked } = await forkFrom(
    [callTool("make", {}, usage), say("FIRST ANSWER", usage)],
    [say("SECOND ANSWER", usage)],
    { settings },
  );
  expect(first).toMatchObject({
    tools_used: ["make"],
    files_created: ["made.txt"],
    tests: [{ suite: "unit" }],
  });
  const places = ["FIRST TASK", "made", "FIRST ANSWER", "SECOND TASK"].map((text) => asked.indexOf(text));
  expect(places.every((at) => at > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(second).toMatchObject({
    iteration_count: 1,
    tool_calls_used: 0,
    tools_used: [],
    files_created: [],
    tests: [],
    warnings: [],
    tokens: { self: 110, subtree: 110 },
  });
  expect(second.cost_usd.self).toBeCloseTo(110 / 1_000_000);
});

test("calls of the conversation before do not count against a fork's limits", async () => {
  const { second } = await forkFrom(
    [callTool("make", {}), say("one")],
    [callTool("make", { again: 1 }), say("two")],
    { agents: { lead: { limits: { perTool: { make: 1 } } } } },
  );
  expect(second).toMatchObject({ tool_calls_used: 1, tools_used: ["make"] });
});

test("the report of a run that a limit cut short is the last that a fork of it remembers", async () => {
  const { asked } = await forkFrom([callTool("make", {}), say("A REPORT AT THE LIMIT")], [say("done")], {
    agents: { lead: { limits: { turns: 1 } } },
  });
  expect(asked).toContain("A REPORT AT THE LIMIT");
  expect(asked.indexOf("A REPORT AT THE LIMIT")).toBeLessThan(asked.indexOf("SECOND TASK"));
});

test("a fork from the end of a session is kept with the seq that this was, so that what comes later is not part of it", async () => {
  const { kept, lastSeq } = await forkFrom([say("one")], [say("two")]);
  expect(kept.seq).toBe(lastSeq);
});

test("a fork from the middle has the turns that were over by then", async () => {
  await using t = testRuntime(
    {
      lead: [callTool("make", {}), callTools([{ tool: "make", input: { n: 2 } }]), say("LATE"), say("done")],
    },
    { tools: [make] },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const turns = (await t.runtime.record.readRows({ sessionId: session_id })).filter(
    (row) => row.request_type === "continuation",
  );
  const seq = (turns[1]?.opened_seq ?? 0) + 1;
  await t.runtime.run({ agent: "lead", task: "other", fork: { sessionId: session_id, seq } });
  const asked = t.models.lead?.requests.at(-1)?.prompt ?? [];
  expect(asked.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  await expect(
    t.runtime.run({ agent: "lead", task: "x", fork: { sessionId: session_id, seq: 0 } }),
  ).rejects.toThrow("has no run at 0");
});

test("what the run before had made is no deliverable of a fork", async () => {
  const { first, second } = await forkFrom([callTool("make", {}), say("made")], [say("done"), say("done")], {
    agents: { lead: { deliverables: [{ file: "project:made.txt" }] } },
  });
  expect(first.deliverables).toMatchObject([{ ok: true }]);
  expect(second).toMatchObject({ status: "failed", deliverables: [{ ok: false }] });
});

test("a fork of a conversation with untrusted text and private data holds both from the start", async () => {
  const page = { ...make, name: "page", untrusted: true };
  const { second } = await forkFrom([callTool("page", {}), say("seen")], [say("done")], { tools: [page] });
  expect(second).toMatchObject({ tainted: true, private_data: true, tools_used: [] });
});
