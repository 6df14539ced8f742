import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callDelegate, callTool, callTools, failWith, say } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const make = defineTool<object>({
  name: "make",
  description: "Leaves the report.",
  input: { type: "object" },
  replay: "safe",
  execute: async (_, context) => {
    const path = join(context.projectDir, "report.txt");
    writeFileSync(path, "made");
    context.changed(path, "created");
    return "made";
  },
});
const agents = {
  worker: { deliverables: [{ file: "project:report.txt" }], retry: { attempts: 0 } },
};

test("what a child had not left before a crash is missing in the result, though later ones began after it", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open(
    {
      lead: [callDelegate("worker", "one"), callDelegate("other", "two"), stuck.step],
      worker: [say("done"), say("really")],
      other: [say("done")],
    },
    { agents, tools: [make] },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [say("all is done"), say("all is done")], worker: [], other: [] },
    { agents, tools: [make] },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "deliverable" } });
});

test("what a child had not left and a later one left, both before a crash, is not missing in the result", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open(
    {
      lead: [callDelegate("worker", "one"), callDelegate("worker", "again"), stuck.step],
      worker: ({ task, turn }) =>
        task.startsWith("again") && turn === 0 ? callTool("make", {}) : say("done"),
    },
    { agents, tools: [make] },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("all is done")], worker: [] }, { agents, tools: [make] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "completed", success: true, details: "all is done" });
});

test("a model before the one that took over is not asked again after a crash", async () => {
  using lives = new Lives();
  const [note, stuck] = [countedTool("note"), silence()];
  const settings = { fallbacks: { "scripted/lead": ["spare", "last"] } };
  const down = failWith("overloaded", "down");
  const options = { tools: [note.tool], settings };
  const first = lives.open(
    { lead: [down], spare: [down], last: [callTool("note", {}), stuck.step] },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [], spare: [say("of the spare model")], last: [down] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "overloaded" } });
  expect(second.models.spare?.requests).toEqual([]);
});

test("a call that brought untrusted text taints the run that goes on, although no turn came after it", async () => {
  using lives = new Lives();
  const [note, slow] = [countedTool("note"), countedTool("slow", null)];
  const calls = callTools(["note", "slow"].map((tool) => ({ tool, input: {} })));
  const first = lives.open({ lead: [calls] }, { tools: [note.tool, slow.tool] });
  const isNoted = () => first.events.some((event) => event.type === "call.ended" && event.tool === "note");
  const sessionId = await lives.abandon(first, () => isNoted() && slow.runs === 1);
  lives.sql(
    "UPDATE messages SET metadata_json = json_set(metadata_json, '$.broughtUntrusted', json('true')) WHERE request_type = 'tool_call' AND closed_seq IS NOT NULL",
  );
  await using second = lives.open({ lead: [say("done")] }, { tools: [note.tool, countedTool("slow").tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect([ended.status, ended.tainted, note.runs]).toEqual(["completed", true, 1]);
});

test("a run whose calls before a crash had no known price has none, though prices are known by now", async () => {
  using lives = new Lives();
  const [note, stuck] = [countedTool("note"), silence()];
  const first = lives.open({ lead: [callTool("note", {}), stuck.step] }, { tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const settings = { prices: { "scripted/lead": { input: 10, output: 100 } } };
  await using second = lives.open({ lead: [say("done")] }, { tools: [note.tool], settings });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.cost_usd).toEqual({ self: null, subtree: null });
});

test("a run that was sent back to delegate before a crash is not sent back a second time", async () => {
  using lives = new Lives();
  const [note, stuck] = [countedTool("note"), silence()];
  const options = {
    tools: [note.tool],
    agents: { worker: { delegation: { mandatory: true, triggers: ["task"] } } },
  };
  const first = lives.open({ lead: [say("early"), callTool("note", {}), stuck.step], worker: [] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say("late"), say("later")], worker: [] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect([ended.details, second.models.lead?.requests.length]).toEqual(["late", 1]);
  expect(ended.warnings).toEqual([
    expect.stringMatching(/^COMPLIANCE WARNING: lead answered without delegating/),
  ]);
});
