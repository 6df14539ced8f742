import { callDelegate, callDelegateMany, callTools, failWith, say } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

/** What an agent's model was told last, as it was sent. */
const lastTold = (model: { requests: readonly { prompt: readonly unknown[] }[] } | undefined) =>
  JSON.stringify(model?.requests.at(-1)?.prompt.at(-1));

test.each([
  ["the agent's own limit", {}, { lead: { limits: { spawns: 2 } } }],
  ["the session's limit", { maxAgents: 3 }, {}],
])("children begun before a crash count against %s", async (_, settings, agents) => {
  using lives = new Lives();
  const stuck = silence();
  const options = { settings, agents };
  const first = lives.open(
    { lead: [callDelegate("worker", "one"), stuck.step], worker: [say("one is done")] },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    {
      lead: [callDelegate("worker", "two"), callDelegate("worker", "three"), (request) => say(request.last)],
      worker: [say("two is done"), say("three is done")],
    },
    options,
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(second.models.worker?.requests).toHaveLength(1);
  expect(ended.details).toContain("spawn_limit");
});

test("a child that goes on after a crash has used up the children it had", async () => {
  using lives = new Lives();
  const stuck = silence();
  const options = { agents: { middle: { subagents: ["leaf"], limits: { spawns: 1 } } } };
  const first = lives.open(
    {
      lead: [callDelegate("middle", "m")],
      middle: [callDelegate("leaf", "one"), stuck.step],
      leaf: [say("one is done")],
    },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    {
      lead: [say("done")],
      middle: [callDelegate("leaf", "two"), say("no more")],
      leaf: [say("two is done")],
    },
    options,
  );
  await (await second.runtime.resume(sessionId)).result;
  expect(second.models.leaf?.requests).toHaveLength(0);
  expect(lastTold(second.models.middle)).toContain("spawn_limit");
});

test("a run that was asked to repair what it left is not asked a second time after a crash", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { worker: { deliverables: [{ file: "project:report.txt" }] } };
  const first = lives.open(
    { lead: [callDelegate("worker", "write")], worker: [say("written"), stuck.step] },
    { agents },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open(
    { lead: [say("done")], worker: [say("really written"), say("asked once more")] },
    { agents },
  );
  await (await second.runtime.resume(sessionId)).result;
  expect(second.models.worker?.requests).toHaveLength(1);
  expect(second.trace()).toContain("lead > worker: failed");
});

test("a run that had answered with nothing may do so no second time after a crash", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: [say(""), stuck.step] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [say(""), say("asked once more")] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "bad_response" } });
  expect(second.models.lead?.requests).toHaveLength(1);
});

test("calls of one tool made before a crash count against its own limit", async () => {
  using lives = new Lives();
  const stuck = silence();
  const note = countedTool("note");
  const agents = { lead: { limits: { perTool: { note: 2 } } } };
  const notes = (...numbers: number[]) => callTools(numbers.map((n) => ({ tool: "note", input: { n } })));
  const first = lives.open({ lead: [notes(1), stuck.step] }, { agents, tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: [notes(2, 3), say("done")] }, { agents, tools: [note.tool] });
  await (await second.runtime.resume(sessionId)).result;
  expect(note.runs).toBe(2);
  expect(lastTold(second.models.lead)).toContain("the limit of 2 calls of 'note' is used up");
});

test.each([
  ["parallel", "with a row of it"],
  ["parallel_streaming", "with a row of it"],
  ["parallel_streaming", "without one, as in records of earlier versions"],
] as const)(
  "a task of a batch that failed before a crash is not begun again, nor what depends on it: %s, %s",
  async (mode, row) => {
    using lives = new Lives();
    const [stuck, waiting] = [silence(), silence()];
    const batch = callDelegateMany(
      [
        { id: "bad", agent: "worker", task: "bad" },
        { id: "open", agent: "worker", task: "open" },
        { id: "after", agent: "worker", task: "after", dependsOn: ["bad"] },
      ],
      { mode },
    );
    const asked: string[] = [];
    const first = lives.open({
      lead: [batch, waiting.step],
      worker: ({ task }) => (task === "bad" ? failWith("content_filter", "no") : stuck.step()),
    });
    const hasFailed = () => first.events.some(({ type }) => type === "run.ended");
    const isUnderWay = () => (mode === "parallel" ? hasFailed() : waiting.reached) && stuck.reached;
    const sessionId = await lives.abandon(first, isUnderWay);
    const hasRow = row === "with a row of it";
    if (!hasRow) lives.sql("DELETE FROM messages WHERE agent_role = 'worker' AND status = 'failed'");
    await using second = lives.open({
      lead: [
        ...(mode === "parallel" ? [] : [say("I wait")]),
        (request) => say(`after the crash: ${request.last}`),
      ],
      worker: ({ task }) => {
        asked.push(task);
        return say(`${task} is done`);
      },
    });
    const ended = await (await second.runtime.resume(sessionId)).result;
    expect(asked).toEqual(["open"]);
    expect(ended.details).toContain("open is done");
    const bad = (await second.runtime.record.readRows({ sessionId: sessionId, kind: "runs" })).filter(
      (run) => run.request_content === "bad",
    );
    expect(bad).toMatchObject(hasRow ? [{ status: "failed" }] : []);
  },
);
