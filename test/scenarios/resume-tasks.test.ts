import { readTree } from "@retinue/core/record/read-tree";
import { callDelegate, callDelegateMany, callTool, hang, say } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { countedTool, Lives, silence } from "../fixtures/lives.ts";

const sessionOf = async (t: ReturnType<Lives["open"]>) =>
  (await t.runtime.record.listSessions()).sessions[0]?.session_id ?? "";

test("of several tasks at once the ended are reused, the open go on and those that had not begun begin", async () => {
  using lives = new Lives();
  const hung = new Set<string>();
  const first = lives.open({
    worker: (request) => {
      if (request.task === "a") return say("result of a");
      hung.add(request.task);
      return hang();
    },
  });
  const tasks = ["a", "b", "c", "d"].map((task) => ["worker", task] as const);
  void first.runtime.fanOut(tasks, { maxConcurrent: 2 });
  await lives.leave(first, () => hung.has("b") && hung.has("c"));
  const sessionId = await sessionOf(first);

  const second = lives.open({ worker: (request) => say(`result of ${request.task}`) });
  const handle = await second.runtime.resume(sessionId);
  const results = await handle.results;
  expect(results.map((result) => result.details)).toEqual(
    ["a", "b", "c", "d"].map((id) => `result of ${id}`),
  );
  expect((await handle.result).details).toBe("result of b");
  expect(handle.runId).toBe(results[1]?.run_id);
  expect(second.models.worker?.requests).toHaveLength(3);
  const moments = second.events.map((event) => (event.type === "run.started" ? event.task : event.type));
  expect(moments.indexOf("d")).toBeGreaterThan(moments.indexOf("run.ended"));
  expect((await second.runtime.record.readSession(sessionId))?.status).toBe("completed");
  expect(await readTree(second.runtime.record, sessionId)).toHaveLength(4);
  await second.close();
});

test("tasks that are cut off by two crashes in a row all have one result in the end", async () => {
  using lives = new Lives();
  const tasks = ["a", "b", "c"].map((task) => ["worker", task] as const);
  const answering = (ended: string) => {
    const stuck = silence();
    const worker = (request: { task: string }) => {
      if (request.task > ended) return stuck.step();
      return say(request.task === ended ? `result of ${ended}` : "a second result");
    };
    return { stuck, worker };
  };
  const one = answering("a");
  const first = lives.open({ worker: one.worker });
  void first.runtime.fanOut(tasks, { maxConcurrent: 1 });
  await lives.leave(first, () => one.stuck.reached);
  const sessionId = await sessionOf(first);
  const two = answering("b");
  const second = lives.open({ worker: two.worker });
  await second.runtime.resume(sessionId);
  await lives.leave(second, () => two.stuck.reached);
  const third = lives.open({ worker: [say("result of c")] });
  const results = await (await third.runtime.resume(sessionId)).results;
  expect(results.map((result) => result.details)).toEqual(["result of a", "result of b", "result of c"]);
  await third.close();
});

test("a session whose tasks all ended but which was not closed is closed by what became of them", async () => {
  using lives = new Lives();
  const first = lives.open({
    worker: (request) => (request.task === "b" ? callTool("nothing", {}) : say("fine")),
  });
  const tasks = ["a", "b"].map((task) => ["worker", task] as const);
  const before = await first.runtime.fanOut(tasks);
  expect(before.map((result) => result.bailout_reason)).toEqual([undefined, "loop_detected"]);
  const sessionId = await sessionOf(first);
  await first.close();
  lives.sql("UPDATE sessions SET status = 'running' WHERE session_id = ?", sessionId);
  lives.sql(
    "UPDATE messages SET status = 'failed', metadata_json = json_set(metadata_json, '$.result.success', json('false')) WHERE request_type = 'prompt' AND request_content = 'b'",
  );
  const second = lives.open({ worker: [] });
  const { results } = await second.runtime.resume(sessionId);
  expect((await results).map((result) => result.success)).toEqual([true, false]);
  expect((await second.runtime.record.readSession(sessionId))?.status).toBe("failed");
  await second.close();
});

test("what all tasks of a session have spent counts against its budget when it goes on", async () => {
  using lives = new Lives();
  const stuck = silence();
  const settings = { limits: { spawns: 2 } };
  const first = lives.open(
    {
      worker: (request) => (request.task === "a" ? say("a") : stuck.step()),
    },
    { settings },
  );
  void first.runtime.fanOut(
    ["a", "b", "c"].map((task) => ["worker", task] as const),
    { maxConcurrent: 1 },
  );
  await lives.leave(first, () => stuck.reached);
  const second = lives.open({ worker: [say("b")] }, { settings });
  const results = await (await second.runtime.resume(await sessionOf(first))).results;
  expect(results.map((result) => result.error?.type)).toEqual([undefined, undefined, "spawn_limit"]);
  await second.close();
});

test("tokens that tasks had spent before a crash are missing for those that go on", async () => {
  using lives = new Lives();
  const stuck = silence();
  const settings = { limits: { tokens: 12_000 } };
  const first = lives.open(
    {
      worker: (request) => (request.task === "a" ? say("a", { input: 9_000, output: 2_000 }) : stuck.step()),
    },
    { settings },
  );
  void first.runtime.fanOut(
    ["a", "b"].map((task) => ["worker", task] as const),
    { maxConcurrent: 1 },
  );
  await lives.leave(first, () => stuck.reached);
  await using second = lives.open({ worker: [say("b")] }, { settings });
  const results = await (await second.runtime.resume(await sessionOf(first))).results;
  expect(results.map(({ error }) => error?.type)).toEqual([undefined, "budget"]);
  expect(second.models.worker?.requests).toHaveLength(0);
});

test("a fork that was killed before its first turn still has the conversation it began with, and nothing later", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const stuck = silence();
  const source = lives.open(
    { lead: [callTool("note", { text: "EARLY CALL" }), stuck.step] },
    { tools: [note.tool] },
  );
  const sourceId = await lives.abandon(source, () => stuck.reached);
  const again = silence();
  const forking = lives.open({ lead: [again.step] }, { tools: [note.tool] });
  const { sessionId } = await forking.runtime.start({
    agent: "lead",
    task: "THE FORK",
    fork: { sessionId: sourceId, seq: 999 },
  });
  await lives.leave(forking, () => again.reached);
  lives.sql("DELETE FROM messages WHERE session_id = ? AND request_type = 'continuation'", sessionId);

  const resumed = lives.open({ lead: [say("LATER ANSWER")] }, { tools: [note.tool] });
  await (await resumed.runtime.resume(sourceId)).result;
  await resumed.close();
  const second = lives.open(
    { lead: [(request) => say(request.prompt + JSON.stringify(request.options.prompt))] },
    { tools: [note.tool] },
  );
  const { details, iteration_count } = await (await second.runtime.resume(sessionId)).result;
  expect(details).toContain("the task");
  expect(details).toContain("EARLY CALL");
  expect(details).toContain("THE FORK");
  expect(details).not.toContain("LATER ANSWER");
  expect(iteration_count).toBe(1);
  await second.close();
});

test("a fork that was killed after its first turn goes on where it was", async () => {
  using lives = new Lives();
  const source = lives.open({ lead: [say("FIRST ANSWER")] });
  const { session_id: sourceId } = await source.runtime.run({ agent: "lead", task: "FIRST TASK" });
  await source.close();
  const note = countedTool("note");
  const stuck = silence();
  const forking = lives.open({ lead: [callTool("note", {}), stuck.step] }, { tools: [note.tool] });
  const { sessionId } = await forking.runtime.start({
    agent: "lead",
    task: "THE FORK",
    fork: { sessionId: sourceId, seq: 999 },
  });
  await lives.leave(forking, () => stuck.reached);
  const second = lives.open({ lead: [(request) => say(request.prompt)] }, { tools: [note.tool] });
  const { details, iteration_count } = await (await second.runtime.resume(sessionId)).result;
  expect(details.match(/FIRST TASK|FIRST ANSWER|THE FORK|done/g)).toEqual([
    "FIRST TASK",
    "FIRST ANSWER",
    "THE FORK",
    "done",
  ]);
  expect(iteration_count).toBe(2);
  await second.close();
});

test("only runs that began count against the limit of agents, after a crash as before it", async () => {
  const tasks = (...list: { id: string; agent?: string; dependsOn?: string[] }[]) =>
    callDelegateMany(list.map(({ id, agent = "kid", ...rest }) => ({ id, agent, task: id, ...rest })));
  const batch = [{ id: "b", agent: "nobody" }, { id: "d", dependsOn: ["b"] }, { id: "a" }];
  const turns = [
    tasks(...batch),
    tasks({ id: "v" }, { id: "w" }, { id: "x" }),
    tasks({ id: "y" }, { id: "z" }),
    say("done"),
  ];
  const settings = { maxAgents: 4 };
  const told = (t: ReturnType<Lives["open"]>) =>
    t.models.lead?.requests.map(
      ({ prompt }) => /\d (?:succeeded|failed)[^\\]*/.exec(JSON.stringify(prompt.at(-1)))?.[0],
    );
  const kid = (request: { task: string }) => say(`result of ${request.task}`);
  using whole = new Lives();
  await using calm = whole.open({ lead: turns, kid }, { settings });
  await calm.runtime.run({ agent: "lead", task: "the task" });
  expect(told(calm)).toEqual([
    undefined,
    "1 succeeded, 1 failed (b), 1 not started (d)",
    "2 succeeded, 1 failed (x)",
    "2 failed (y, z)",
  ]);

  using lives = new Lives();
  const stuck = silence();
  const first = lives.open({ lead: turns.slice(0, 1), kid: stuck.step }, { settings });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  await using second = lives.open({ lead: turns.slice(1), kid }, { settings });
  await (await second.runtime.resume(sessionId)).result;
  expect(told(second)).toEqual(told(calm)?.slice(1));
});

test("a task that its parent's own limit refused does not count for the session after a crash", async () => {
  using lives = new Lives();
  const both = callDelegateMany(["x", "y"].map((id) => ({ id, agent: "kid", task: id })));
  const options = {
    settings: { maxAgents: 4 },
    agents: { mid: { limits: { spawns: 1 }, subagents: { allow: ["kid"] } } },
  };
  const kid = (request: { task: string }) => say(`result of ${request.task}`);
  const first = lives.open(
    { lead: [callDelegate("mid", "both"), hang()], mid: [both, say("one was refused")], kid },
    options,
  );
  const sessionId = await lives.abandon(first, () => first.models.lead?.requests.length === 2);
  await using second = lives.open({ lead: [both, say("done")], kid }, options);
  await (await second.runtime.resume(sessionId)).result;
  expect(JSON.stringify(second.models.lead?.requests.at(-1)?.prompt.at(-1))).toContain(
    "1 succeeded, 1 failed (y)",
  );
});
