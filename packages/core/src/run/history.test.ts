import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { lastText, pushReply, pushResults } from "./history.ts";
import type { Reply } from "./model/reply.ts";

const reply = (more: Partial<Reply>): Reply => ({
  ...{ text: "", reasoning: [], calls: [], finish: "stop", usage: undefined, modelId: undefined },
  ...more,
});

test("a reply is kept with its signed reasoning, its words and its calls", () => {
  const { run } = makeRun();
  const metadata = { test: { signature: "s" } };
  pushReply(
    run,
    reply({
      text: "I look.",
      reasoning: [{ text: "unsigned" }, { text: "signed", metadata }],
      calls: [{ callId: "c1", tool: "read", input: '{"path":"a"}', metadata }],
    }),
  );
  expect(run.history.at(-1)?.content).toEqual([
    { type: "reasoning", text: "signed", providerOptions: metadata },
    { type: "text", text: "I look." },
    {
      type: "tool-call",
      toolCallId: "c1",
      toolName: "read",
      input: { path: "a" },
      providerOptions: metadata,
    },
  ]);
});

test("an input that is no JSON and a name that no tool can have are kept in a form that providers take", () => {
  const { run } = makeRun();
  const calls = [
    { callId: "c1", tool: "rm -rf /", input: "{broken" },
    { callId: "c2", tool: "", input: "{}" },
  ];
  pushReply(run, reply({ calls }));
  expect(run.history.at(-1)?.content).toMatchObject([
    { toolName: "rm_-rf__", input: { malformed: "{broken" } },
    { toolName: "_", input: {} },
  ]);
});

test("answers that succeeded, also from the cache, are texts, and those that did not are errors", () => {
  const { run } = makeRun();
  const outcomes = ["ok", "cached", "error", "denied"] as const;
  pushResults(
    run,
    outcomes.map((outcome) => ({ callId: outcome, tool: "read", text: outcome, outcome })),
  );
  expect(run.history.at(-1)?.content).toMatchObject(
    ["text", "text", "error-text", "error-text"].map((type) => ({ output: { type } })),
  );
});

test("the last text is what was last said to the run's own task, or all of an answer that was cut", () => {
  const { run } = makeRun();
  const [system, task] = [...run.history];
  const said = (text: string) => ({ role: "assistant" as const, content: [{ type: "text" as const, text }] });
  expect(lastText(run)).toBe("");
  if (system && task) run.replaceHistory([system, said("to an earlier task"), task]);
  expect(lastText(run)).toBe("");
  pushReply(run, reply({ text: "first" }));
  pushReply(run, reply({ text: "  ", calls: [{ callId: "c", tool: "read", input: "{}" }] }));
  expect(lastText(run)).toBe("first");
  run.cutAnswer = ["one ", "two"];
  expect(lastText(run)).toBe("one two");
});
