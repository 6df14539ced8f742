import { replaySession } from "@retinue/core/replay/replay-session";
import { callDelegate, callTool, failWith, type Step, say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const cut = (text: string): Step => ({ kind: "reply", text, calls: [], finish: "length" });
const agents = { lead: { maxOutputTokens: 3_000 } };
const INCOMPLETE = "the answer was cut at the output limit and is not complete";

test("an answer that was cut goes on where it stopped, and its parts are one answer", async () => {
  await using t = testRuntime(
    {
      lead: [
        cut("The first thing is that it wor"),
        ({ last }) => {
          expect(last).toContain("Your reply was cut at its limit of 3,000 output tokens.");
          expect(last).toContain("it ends with:\n\nThe first thing is that it wor\n");
          expect(last).toContain("Go on exactly there");
          return cut("ks. The second thing");
        },
        ({ last }) => {
          expect(last).toContain("it ends with:\n\nThe first thing is that it works. The second thing\n");
          return say(" is that it ends.");
        },
      ],
    },
    { agents },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", success: true, partial: false, iteration_count: 3 });
  expect(result.details).toBe("The first thing is that it works. The second thing is that it ends.");
  expect(result.warnings).toEqual([]);
});

test("words that a model repeats where it goes on stand in the answer once", async () => {
  await using t = testRuntime({
    lead: [cut("one two three four five six"), say("two three four five six seven")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.details).toBe("one two three four five six seven");
});

test.each([
  ["a line", "-".repeat(40), "-".repeat(60)],
  ["a row of numbers", "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"],
])("%s that goes on as it began loses nothing", async (_, first, second) => {
  await using t = testRuntime({ lead: [cut(first), say(second)] });
  expect((await t.runtime.run({ agent: "lead", task: "go" })).details).toBe(first + second);
});

test("a form that is asked for is read from all parts", async () => {
  const answer = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  await using t = testRuntime({ lead: [cut('{"colour": "r'), say('ed"}')] });
  const result = await t.runtime.run({ agent: "lead", task: "go", deliverables: [{ answer }] });
  expect(result).toMatchObject({ status: "completed", success: true, data: { colour: "red" } });
});

test("a parent gets the whole answer of its child", async () => {
  await using t = testRuntime({
    lead: [callDelegate("scout", "look"), ({ last }) => say(last.includes("It is config.ts") ? "yes" : "no")],
    scout: [cut("It is conf"), say("ig.ts")],
  });
  expect((await t.runtime.run({ agent: "lead", task: "go" })).details).toBe("yes");
});

test.each([
  ["turns", { limits: { turns: 2 } }, "max_iterations"],
  ["tokens", { limits: { tokens: 3_000 }, maxOutputTokens: 400 }, "max_tokens"],
])(
  "where the limit of %s forbids to go on, the result says that the answer is not complete",
  async (_, limits, bailout) => {
    const long = "a".repeat(2_000);
    await using t = testRuntime(
      {
        lead: () => ({
          kind: "reply",
          text: long,
          calls: [],
          finish: "length",
          usage: { input: 900, output: 400 },
        }),
      },
      { agents: { lead: limits } },
    );
    const result = await t.runtime.run({ agent: "lead", task: "go" });
    expect(result).toMatchObject({
      status: "completed",
      success: false,
      partial: true,
      bailout_reason: bailout,
    });
    expect(result.details).toMatch(/^a{2000,}$/);
    expect(result.warnings.join()).toContain(`${INCOMPLETE}: stopped by a limit (${bailout})`);
  },
);

test("a model that has nothing to add after a cut leaves an answer that is not complete", async () => {
  await using t = testRuntime({ lead: [cut("half of"), say(" ")] });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "completed", success: false, partial: true, details: "half of" });
  expect(result.warnings.join()).toContain(`${INCOMPLETE}: the model did not go on with it`);
});

test("a model that is cut before it has written anything is told so, and asked once more", async () => {
  await using t = testRuntime(
    {
      lead: [
        cut(""),
        ({ last }) => {
          expect(last).toContain("cut at its limit of 3,000 output tokens before it had any text");
          return say("here it is");
        },
      ],
    },
    { agents },
  );
  expect(await t.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    success: true,
    details: "here it is",
  });
  await using twice = testRuntime({ lead: [cut(""), cut("")] });
  expect(await twice.runtime.run({ agent: "lead", task: "go" })).toMatchObject({ status: "failed" });
});

test("a run that fails while its answer goes on keeps what was written of it", async () => {
  await using t = testRuntime({ lead: [cut("one "), cut("two "), failWith("auth", "no key")] });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ status: "failed", success: false, details: "one two " });
});

test("a model that does something else first gives a new answer", async () => {
  const note = countedTool("note");
  await using t = testRuntime(
    { lead: [cut("I will now"), callTool("note", {}), say("It is done.")] },
    { tools: [note.tool] },
  );
  expect((await t.runtime.run({ agent: "lead", task: "go" })).details).toBe("It is done.");
});

test("a last report that was cut says so", async () => {
  const note = countedTool("note");
  await using t = testRuntime(
    { lead: [callTool("note", {}), cut("I have found")] },
    { tools: [note.tool], agents: { lead: { limits: { turns: 1 } } } },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result).toMatchObject({ success: false, partial: true, details: "I have found" });
  expect(result.warnings).toContain("the last report was cut at the output limit");
});

test("an answer goes on after a crash with all of its parts", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [cut("one "), cut("two "), stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [say("three")] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ success: true, details: "one two three" });
  await second.close();
});

test("the next task of a conversation has nothing of an answer that was cut before", async () => {
  using lives = new Lives();
  const limits = { agents: { lead: { limits: { turns: 2 } } } };
  const first = lives.open({ lead: [cut("one "), cut("two ")] }, limits);
  const { session_id: session } = await first.runtime.run({ agent: "lead", task: "go" });
  await first.close();
  const second = lives.open({ lead: [say("three")] }, limits);
  expect((await second.runtime.run({ agent: "lead", task: "and?", session })).details).toBe("three");
  await second.close();
});

test.each([
  ["answer", [cut("one "), say("two")], {}],
  ["answer that a limit left unfinished", [cut("one "), cut("two ")], { limits: { turns: 2 } }],
])("a replay gives the same %s", async (_, script, more) => {
  await using t = testRuntime({ lead: script }, { agents: { lead: { ...agents.lead, ...more } } });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const options = { agents: t.runtime.agents.list(), tools: [], env: {} };
  const report = await replaySession(options, t.runtime.record, session_id);
  expect(report).toMatchObject({ identical: true, divergence: null, modelCalls: 2 });
});

test("an answer that was put together is not part of the one after it: when it was sent back, or a person said more", async () => {
  const half = cut("the first half ");
  await using repaired = testRuntime(
    { solo: [half, say("and the rest"), say("another answer")] },
    { agents: { solo: { deliverables: [{ file: "project:report.txt" }] } } },
  );
  expect(await repaired.runtime.run({ agent: "solo", task: "go" })).toMatchObject({
    status: "failed",
    details: "another answer",
  });
  await using steered = testRuntime({
    solo: [
      half,
      () => {
        steered.runtime.steer(runId, "say it shorter");
        return say("and the rest");
      },
      say("another answer"),
    ],
  });
  const { runId, result } = await steered.runtime.start({ agent: "solo", task: "go" });
  expect(await result).toMatchObject({ status: "completed", details: "another answer" });
});
