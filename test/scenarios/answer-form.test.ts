import { replaySession } from "@retinue/core/replay/replay-session";
import { say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";

const answer = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };
const ask = { agent: "solo", task: "count", deliverables: [{ answer }] };

test("the form of an answer is told with the task, and an answer of that form is the result's data", async () => {
  await using t = testRuntime({ solo: [say('```json\n{"total": 3}\n```')] });
  const result = await t.runtime.run(ask);
  expect(result).toMatchObject({ status: "completed", data: { total: 3 } });
  expect(result.deliverables).toEqual([expect.objectContaining({ ok: true })]);
  const first = JSON.stringify(t.models.solo?.requests[0]?.prompt);
  expect(first).toContain("count");
  expect(first).toContain("JSON Schema");
  expect((await t.runtime.record.listSessions()).sessions[0]?.title).toBe("count");
});

test("an answer of another form is sent back once, with what is wrong", async () => {
  await using t = testRuntime({
    solo: [
      say("There are three."),
      ({ last }) => {
        expect(last).toContain("it is not JSON");
        return say('{"total": 3}');
      },
    ],
  });
  expect(await t.runtime.run(ask)).toMatchObject({ status: "completed", data: { total: 3 } });
});

test("an answer that still does not fit fails the run and says where", async () => {
  await using t = testRuntime({ solo: [say('{"total": "three"}'), say('{"total": "drei"}')] });
  const result = await t.runtime.run(ask);
  expect(result).toMatchObject({ status: "failed", error: { type: "deliverable" } });
  expect(result.error?.message).toMatch(/total: the type "string" is invalid/);
});

test("a form may be a single word or number, and a schema that cannot be used fits nothing", async () => {
  await using t = testRuntime({ solo: ({ task }) => say(task.startsWith("one") ? '"yes"' : "1") });
  const word = { agent: "solo", task: "one word", deliverables: [{ answer: { enum: ["yes", "no"] } }] };
  expect(await t.runtime.run(word)).toMatchObject({ success: true, data: "yes" });
  const broken = { agent: "solo", task: "a number", deliverables: [{ answer: { $ref: "#/nowhere" } }] };
  expect(await t.runtime.run(broken)).toMatchObject({ success: false });
});

test("a run with a form is replayed as it was", async () => {
  await using t = testRuntime({ solo: [say("Three."), say('{"total": 3}')] });
  const { session_id } = await t.runtime.run(ask);
  const options = { agents: t.runtime.agents.list(), env: {} };
  expect(await replaySession(options, t.runtime.record, session_id)).toMatchObject({ identical: true });
});

test("the words of a schema make no delegation mandatory", async () => {
  await using t = testRuntime(
    { solo: [say('{"report": "x"}')], writer: [] },
    { agents: { writer: { delegation: { mandatory: true, triggers: ["report"] } } } },
  );
  const result = await t.runtime.run({
    ...ask,
    deliverables: [{ answer: { required: ["report"] } }],
  });
  expect(result).toMatchObject({ status: "completed", data: { report: "x" } });
});
