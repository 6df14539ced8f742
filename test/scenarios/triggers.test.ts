import { replaySession } from "@retinue/core/replay/replay-session";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  type Script,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { expect, test } from "vitest";
import { Lives, silence } from "../fixtures/lives.ts";

const DELEGATION = { mandatory: true, triggers: ["report"] } as const;
const TASK = "Write a report on tape";

/** A lead that may delegate to an expert, to whom reports must go. */
const team = (lead: Script, expert: Script = [], options: TestRuntimeOptions = {}) =>
  testRuntime(
    { lead, expert },
    {
      ...options,
      agents: { ...options.agents, expert: { delegation: DELEGATION, ...options.agents?.expert } },
    },
  );

const promptOf = (t: TestRuntime, turn: number) => JSON.stringify(t.models.lead?.requests[turn]?.prompt);
const warnings = (t: TestRuntime) => t.events.filter((event) => event.type === "compliance.failed");

test("the prompt states a mandatory delegation, and an answer after it is taken", async () => {
  await using t = team([callDelegate("expert", "the report"), say("It is done.")], [say("written")]);
  const result = await t.runtime.run({ agent: "lead", task: TASK });
  expect(promptOf(t, 0)).toContain(
    'This request must go to `expert`: \\"report\\" in it makes that mandatory',
  );
  expect(result).toMatchObject({ status: "completed", warnings: [], iteration_count: 2 });
  expect(warnings(t)).toEqual([]);
});

test("an answer without the delegation is sent back once, and then the delegation is made", async () => {
  await using t = team(
    [
      say("Here is my own report."),
      (request) => {
        expect(request.last).toContain("This request must go to `expert`");
        return callDelegate("expert", "the report");
      },
      say("The expert wrote it."),
    ],
    [say("written")],
  );
  const result = await t.runtime.run({ agent: "lead", task: TASK });
  expect(result).toMatchObject({ summary: "The expert wrote it.", warnings: [] });
  expect(t.trace()).toEqual(["lead > expert: completed", "lead: completed"]);
});

test("a second answer without it ends the run with a warning in the result and to the person", async () => {
  await using t = team([say("My own report."), say("I insist.")]);
  const result = await t.runtime.run({ agent: "lead", task: TASK });
  expect(result).toMatchObject({ status: "completed", summary: "I insist.", iteration_count: 2 });
  expect(result.warnings).toEqual([
    expect.stringMatching(/^COMPLIANCE WARNING: lead answered without delegating to `expert`/),
  ]);
  expect(warnings(t)).toMatchObject([{ agent: "lead", message: result.warnings[0] }]);
});

test("a delegation counts however it is made and however it ends, but only to that agent", async () => {
  await using many = team(
    [callDelegateMany([{ id: "a", agent: "writer", task: "x" }]), say("done")],
    [say("")],
    { agents: { expert: { aliases: ["writer"], retry: { attempts: 0 } } }, lenient: true },
  );
  expect(await many.runtime.run({ agent: "lead", task: TASK })).toMatchObject({ warnings: [] });
  await using alias = team(
    [callTool("Task", { subagent_type: "writer", prompt: "x" }), say("done")],
    [say("ok")],
    { agents: { expert: { aliases: ["writer"] } } },
  );
  expect(await alias.runtime.run({ agent: "lead", task: TASK })).toMatchObject({ warnings: [] });
  await using other = testRuntime(
    { lead: [callDelegate("helper", "x"), say("done"), say("done")], expert: [], helper: [say("ok")] },
    { agents: { expert: { delegation: DELEGATION } } },
  );
  expect((await other.runtime.run({ agent: "lead", task: TASK })).warnings).toHaveLength(1);
});

test("nothing is demanded where triggers are off, no word is there, or the agent cannot be reached", async () => {
  const free = [
    { triggers: false },
    { settings: { disabledAgents: ["expert"] } },
    { disallowedTools: ["delegate(expert)"] },
  ];
  for (const options of free) {
    await using t = team([say("Mine.")], [], options);
    expect(await t.runtime.run({ agent: "lead", task: TASK })).toMatchObject({
      summary: "Mine.",
      warnings: [],
    });
    expect(promptOf(t, 0)).not.toContain("mandatory");
  }
  await using flat = team([say("Mine.")], [], {
    agents: { lead: { subagents: ["*"], limits: { depth: 0 } } },
  });
  expect(await flat.runtime.run({ agent: "lead", task: TASK })).toMatchObject({ warnings: [] });
  await using calm = team([say("Mine.")]);
  expect(await calm.runtime.run({ agent: "lead", task: "List the files" })).toMatchObject({ warnings: [] });
});

test("the agent itself, and a child whose task has the word, are not bound", async () => {
  const subagents = { allow: ["*"], recursive: true };
  await using own = team([], [say("Mine.")], { agents: { expert: { subagents } } });
  expect(await own.runtime.run({ agent: "expert", task: TASK })).toMatchObject({
    summary: "Mine.",
    warnings: [],
  });
  await using child = testRuntime(
    { lead: [callDelegate("middle", TASK), say("ok")], middle: [say("Mine.")], expert: [] },
    { agents: { middle: { subagents: ["expert"] }, expert: { delegation: DELEGATION } } },
  );
  expect(await child.runtime.run({ agent: "lead", task: "go" })).toMatchObject({
    summary: "ok",
    warnings: [],
  });
});

test("a limit that comes before the delegation ends the run with the warning too", async () => {
  await using t = team([say("Mine."), say("As far as I came.")]);
  const result = await t.runtime.run({ agent: "lead", task: TASK, limits: { turns: 1 } });
  expect(result).toMatchObject({
    bailout_reason: "max_iterations",
    warnings: [expect.stringContaining("COMPLIANCE")],
  });
});

test("a resumed run is still bound, is not sent back twice, and remembers what it delegated", async () => {
  using lives = new Lives();
  const agents = { expert: { delegation: DELEGATION } };
  const resumed = async (before: Script, after: Script, options: TestRuntimeOptions = {}) => {
    const stop = silence();
    const first = lives.open(
      { lead: [...(before as []), stop.step], expert: [say("written")] },
      { agents, ...options },
    );
    const { sessionId } = await first.runtime.start({ agent: "lead", task: TASK });
    await lives.leave(first, () => stop.reached);
    const second = lives.open({ lead: after, expert: [say("written")] }, { agents });
    const result = await (await second.runtime.resume(sessionId)).result;
    await second.close();
    return result;
  };
  expect((await resumed([say("Mine.")], [say("Still mine.")])).warnings).toHaveLength(1);
  expect((await resumed([], [say("Mine."), say("Still mine.")])).warnings).toHaveLength(1);
  expect((await resumed([callDelegate("expert", "x")], [say("done")])).warnings).toEqual([]);
  expect((await resumed([], [say("Mine.")], { triggers: false })).warnings).toEqual([]);
});

test("a forked run is bound by its own request: what was sent back before the fork does not count", async () => {
  await using t = team(
    [
      say("My own report."),
      say("I insist."),
      say("My own report again."),
      (request) => {
        expect(request.last).toContain("This request must go to `expert`");
        return callDelegate("expert", "the report");
      },
      say("The expert wrote it."),
    ],
    [say("written")],
  );
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: TASK });
  const forked = await t.runtime.run({ agent: "lead", task: TASK, fork: { sessionId, seq: 999 } });
  expect(forked).toMatchObject({ summary: "The expert wrote it.", warnings: [] });
});

test("a replay repeats what was sent back, and keeps to triggers that were off", async () => {
  for (const triggers of [true, false]) {
    await using t = team(
      triggers ? [say("Mine."), callDelegate("expert", "x"), say("done")] : [say("Mine.")],
      triggers ? [say("written")] : [],
      { triggers },
    );
    const { session_id } = await t.runtime.run({ agent: "lead", task: TASK });
    const options = { agents: t.runtime.agents, env: {} };
    const report = await replaySession(options, t.runtime.record, session_id);
    expect(report).toMatchObject({ identical: true, modelCalls: triggers ? 4 : 1 });
  }
});

test("a fork is bound by its own task, and past delegations do not count for it", async () => {
  await using t = team(
    [
      callDelegate("expert", "x"),
      say("first"),
      say("Mine."),
      callDelegate("expert", "y"),
      say("second"),
      say("free"),
    ],
    [say("written"), say("written")],
  );
  const { session_id: sessionId } = await t.runtime.run({ agent: "lead", task: TASK });
  const fork = { sessionId, seq: 1_000 };
  expect(await t.runtime.run({ agent: "lead", task: TASK, fork })).toMatchObject({
    summary: "second",
    warnings: [],
  });
  expect(await t.runtime.run({ agent: "lead", task: "and now?", fork })).toMatchObject({ summary: "free" });
});
