import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { defineTool } from "../tools/tool.ts";
import { buildResult } from "./build-result.ts";

const tool = (name: string) =>
  defineTool<object>({ name, description: "", input: { type: "object" }, execute: async () => "" });
const failing = { suite: "unit", run: 3, passed: 1, at_ms: 1 };

test("a result has the model's words and the host's measurements", () => {
  const { run, clock } = makeRun();
  run.turn = 2;
  run.toolCalls = 5;
  run.toolsUsed.add("read");
  run.tokens = 100;
  run.costUsd = 0.5;
  run.account.charge(300, 2);
  run.noteChange("/project/src/a.ts", "created");
  run.noteChange("/elsewhere/b.ts", "modified");
  run.warnings.push("the host's");
  clock.advance(1_500);
  const text = "Done.\n\nWarnings: the model's\n\nSuggestions: go on";
  expect(buildResult(run, { status: "completed", text })).toMatchObject({
    status: "completed",
    success: true,
    summary: "Done.",
    details: text,
    files_created: ["src/a.ts"],
    files_modified: ["/elsewhere/b.ts"],
    tool_calls_used: 5,
    tools_used: ["read"],
    iteration_count: 2,
    duration_ms: 1_500,
    tokens: { self: 100, subtree: 300 },
    cost_usd: { self: 0.5, subtree: 2 },
    warnings: ["the host's", "the model's"],
    suggestions: ["go on"],
    tainted: false,
    private_data: false,
  });
});

test("a run that has only part of its work is no success", () => {
  const { run } = makeRun();
  const partial = buildResult(run, { status: "completed", text: "half", partial: true, bailout: "deadline" });
  expect(partial).toMatchObject({ success: false, partial: true, bailout_reason: "deadline" });
  expect(buildResult(run, { status: "failed", text: "" }).success).toBe(false);
});

test("a cost that is not known is not told as a sum", () => {
  const below = makeRun().run;
  below.subtreePriced = false;
  expect(buildResult(below, { status: "completed", text: "x" }).cost_usd).toEqual({ self: 0, subtree: null });
  const own = makeRun().run;
  own.costUsd = null;
  expect(buildResult(own, { status: "completed", text: "x" }).cost_usd).toEqual({
    self: null,
    subtree: null,
  });
});

test("what entered a run is told", () => {
  const { run } = makeRun({ tainted: true });
  run.privateData = true;
  expect(buildResult(run, { status: "completed", text: "x" })).toMatchObject({
    tainted: true,
    private_data: true,
  });
});

test("no known secret is in what the host tells of a run", () => {
  const { run } = makeRun();
  run.noteChange(`/project/${KNOWN_SECRET}.txt`, "created");
  const message = `refused: ${KNOWN_SECRET}`;
  const result = buildResult(run, {
    status: "failed",
    text: `Warnings: ${KNOWN_SECRET}`,
    error: { type: "failed", message, recoverable: false },
  });
  expect(JSON.stringify({ ...result, details: "" })).not.toContain(KNOWN_SECRET);
  expect(
    buildResult(run, { status: "failed", text: "", error: { type: "failed", message, recoverable: false } }),
  ).toMatchObject({
    summary: "refused: [redacted:secret]",
  });
});

test("an answer that must have a form is data, also as a plain value; the data of a flow go before", () => {
  const deliverables = [{ answer: { type: "string" } }];
  expect(buildResult(makeRun({ deliverables }).run, { status: "completed", text: '"yes"' }).data).toBe("yes");
  expect(buildResult(makeRun().run, { status: "completed", text: '"yes"' }).data).toBeUndefined();
  expect(buildResult(makeRun().run, { status: "completed", text: '{"a":1}', data: { b: 2 } }).data).toEqual({
    b: 2,
  });
});

test("tests that fail are told first, unless an agent that cannot write looks for them", () => {
  const told = (tools?: string[]) => {
    const agent = defineAgent({ name: "solo", description: "Works.", prompt: "x", ...(tools && { tools }) });
    const { run } = makeRun({ agent, tools: (tools ?? []).map(tool) });
    run.noteTests(failing);
    return buildResult(run, { status: "completed", text: "Done." });
  };
  expect(told(["read"])).toMatchObject({ summary: "Done.", tests: [{ suite: "unit", observed: true }] });
  for (const result of [told(), told(["read", "write"])]) {
    expect(result.summary).toMatch(/^.+\. Done\.$/);
    expect(result.warnings.length).toBeGreaterThan(0);
  }
});
