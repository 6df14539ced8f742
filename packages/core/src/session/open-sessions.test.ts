import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Lives, silence } from "../../../../test/fixtures/lives.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { after, callTool, hang, say, type TestRuntime, testRuntime } from "../testing/index.ts";
import { defineTool } from "../tools/tool.ts";

/** A tool that gives a text to the host for a file of the workspace. */
const observe = defineTool<object>({
  name: "observe",
  description: "Finds something.",
  input: { type: "object" },
  execute: async (_, { observed }) => {
    observed("found.txt", "what was found");
    return "found";
  },
});
const statusesIn = async ({ runtime }: TestRuntime) =>
  (await runtime.record.listSessions()).sessions.map(({ status }) => status);
const endings = ({ events }: TestRuntime) =>
  events.flatMap((event) => (event.type === "session.ended" ? [event.status] : []));

test("a session that is opening while the runtime is closed asks no model and ends as cancelled", async () => {
  using lives = new Lives();
  const t = lives.open({ lead: [say("done")] });
  let closing: Promise<void> | undefined;
  t.runtime.events((event) => {
    if (event.type === "session.started") closing ??= t.runtime.close();
  });
  const outcome = await t.runtime.run({ agent: "lead", task: "go" }).then(
    ({ status }) => status,
    (thrown: Error) => thrown.message,
  );
  await closing;
  expect(outcome).toBe("the session was stopped before this task began");
  expect(t.models.lead?.requests).toEqual([]);
  await using later = lives.open({ lead: [] });
  expect(await statusesIn(later)).toEqual(["cancelled"]);
});

test("nothing begins in a runtime that is closed", async () => {
  const t = testRuntime({ lead: [] });
  await t.close();
  await expect(t.runtime.start({ agent: "lead", task: "go" })).rejects.toThrow("the runtime is closed");
});

test("closing waits for the last row of every session, and each is cancelled", async () => {
  using lives = new Lives();
  const t = lives.open({ one: [hang()], two: [hang()] });
  const results = await Promise.all(["one", "two"].map((agent) => t.runtime.start({ agent, task: "go" })));
  await t.runtime.close();
  for (const { result } of results) expect(await result).toMatchObject({ status: "cancelled" });
  expect(endings(t)).toEqual(["cancelled", "cancelled"]);
  await using later = lives.open({ one: [] });
  expect(await statusesIn(later)).toEqual(["cancelled", "cancelled"]);
  for (const { sessionId } of results) expect(await later.runtime.record.findHolder(sessionId)).toBeNull();
});

test("what tools gave to be kept is on disk when the result is there", async () => {
  await using t = testRuntime({ lead: [callTool("observe", {}), say("done")] }, { tools: [observe] });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const { workspace } = await t.runtime.record.findSession(session_id);
  expect(readFileSync(join(workspace, "found.txt"), "utf8")).toBe("what was found");
});

test("a session has ended in the record, and is let go of, before its end is told", async () => {
  await using t = testRuntime({ lead: [say("done")] });
  const seen = Promise.withResolvers<readonly [string | undefined, string | null]>();
  t.runtime.events((event) => {
    if (event.type !== "session.ended") return;
    const { sessionId } = event;
    const { record } = t.runtime;
    seen.resolve(
      Promise.all([record.readSession(sessionId).then((row) => row?.status), record.findHolder(sessionId)]),
    );
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(await seen.promise).toEqual(["completed", null]);
});

test("a session that was cancelled stays so, though its run had ended well", async () => {
  const stuck = silence();
  await using t = testRuntime({ lead: [stuck.step] }, { lenient: true });
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  expect(t.runtime.cancel(sessionId)).toBe(true);
  expect((await result).status).toBe("cancelled");
  await t.runtime.record.committed();
  expect((await t.runtime.record.findSession(sessionId)).status).toBe("cancelled");
  expect(t.runtime.cancel(sessionId)).toBe(false);
});

test("a request to stop that another process left is forgotten with the session's end", async () => {
  const asked = Promise.withResolvers<void>();
  await using t = testRuntime({ lead: [after(asked.promise, say("done"))] });
  t.runtime.events((event) => {
    if (event.type !== "run.started") return;
    void t.runtime.record.askToStop({ sessionId: event.sessionId, id: "run_unknown" }).then(asked.resolve);
  });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  await t.runtime.record.committed();
  expect(await t.runtime.record.listStops(session_id)).toEqual([]);
});

test("a session is cancelled in the record before its runs have ended", async () => {
  const stuck = silence();
  await using t = testRuntime({ lead: [stuck.step] }, { lenient: true });
  const atEnd = Promise.withResolvers<string | undefined>();
  t.runtime.events((event) => {
    if (event.type === "run.ended")
      atEnd.resolve(t.runtime.record.readSession(event.sessionId).then((row) => row?.status));
  });
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.cancel(sessionId);
  expect(await atEnd.promise).toBe("cancelled");
});

test("a runtime that drains lets the call under way end and be recorded, and is done when every session is let go", async () => {
  using lives = new Lives();
  const said = Promise.withResolvers<void>();
  const reached = silence();
  const answer = after(said.promise, callTool("observe", {}));
  const t = lives.open({
    lead: () => {
      reached.step();
      return answer;
    },
  });
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "observe" });
  while (!reached.reached) await new Promise((resolve) => setImmediate(resolve));
  let isDrained = false;
  const drained = t.runtime.drain(600_000).then(() => {
    isDrained = true;
  });
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  expect([isDrained, await t.runtime.record.findHolder(sessionId)]).toEqual([false, expect.anything()]);
  said.resolve();
  await drained;
  expect(endings(t)).toHaveLength(1);
  expect(t.events.filter((event) => event.type === "notice.raised")).toEqual([]);
  const rows = await t.runtime.record.readRows({ sessionId });
  const call = rows.find((row) => row.request_type === "continuation");
  expect(call).toMatchObject({ status: "completed", tool_calls_json: expect.stringContaining("observe") });
  await t.close();
  await using later = lives.open({ lead: [] });
  expect(await statusesIn(later)).toEqual(["running"]);
});

test("what others asked to stop in a session that is left is still asked when it goes on", async () => {
  using lives = new Lives();
  const stuck = silence();
  const t = lives.open({ lead: [stuck.step] });
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  await t.runtime.record.askToStop({ sessionId, id: "run_later" });
  await t.runtime.leave();
  await using later = lives.open({ lead: [] });
  expect(await later.runtime.record.listStops()).toEqual([{ sessionId, id: "run_later" }]);
});

test("a session that another process took ends here as failed, and it is told why", async () => {
  using lives = new Lives();
  const kept = createSqliteRecord({ path: lives.database });
  let lose = () => {};
  const takeLease: Record["takeLease"] = (sessionId, onLost = () => {}) => {
    lose = onLost;
    return kept.takeLease(sessionId, onLost);
  };
  const record: Record = Object.assign(Object.create(kept), { takeLease });
  const stuck = silence();
  const t = lives.open({ lead: [stuck.step] }, { internals: { record } });
  const { result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  lose();
  const { status, error } = await result;
  expect([status, error?.message]).toEqual([
    "failed",
    expect.stringContaining("another process took session"),
  ]);
  const notices = t.events.flatMap((event) => (event.type === "notice.raised" ? [event] : []));
  expect(notices).toMatchObject([{ level: "error", message: expect.stringContaining("took session") }]);
  await t.close();
});

/** A record in the database of some lives, of which a test replaces a part. */
function changeRecord(lives: Lives, change: (kept: Record) => Partial<Record>): Record {
  const kept = createSqliteRecord({ path: lives.database });
  return Object.assign(Object.create(kept), change(kept));
}

test("what others ask to stop is looked for each second while any session is open, and at no other time", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  using lives = new Lives();
  let looks = 0;
  const record = changeRecord(lives, (kept) => ({
    listStops: (sessionId) => {
      looks++;
      return kept.listStops(sessionId);
    },
  }));
  const looksIn = (seconds: number) => {
    looks = 0;
    vi.advanceTimersByTime(seconds * 1_000);
    return looks;
  };
  try {
    const ends = { one: Promise.withResolvers<void>(), two: Promise.withResolvers<void>() };
    const [one, two] = [after(ends.one.promise, say("1")), after(ends.two.promise, say("2"))];
    const t = lives.open({ one: [one, say("again")], two: [two] }, { internals: { record } });
    expect(looksIn(3)).toBe(0);
    const first = await t.runtime.start({ agent: "one", task: "go" });
    const second = await t.runtime.start({ agent: "two", task: "go" });
    expect(looksIn(3)).toBe(3);
    ends.one.resolve();
    await first.result;
    expect(looksIn(2)).toBe(2);
    ends.two.resolve();
    await second.result;
    expect(looksIn(3)).toBe(0);
    const third = await t.runtime.start({ agent: "one", task: "go" });
    expect(looksIn(1)).toBe(1);
    await third.result;
    await t.close();
  } finally {
    vi.useRealTimers();
  }
});

test("several tasks whose session was left while it opened have asked nothing, and are done when it is resumed", async () => {
  using lives = new Lives();
  const t = lives.open({ one: [say("x")], two: [say("x")] });
  let leaving: Promise<void> | undefined;
  t.runtime.events((event) => {
    if (event.type === "session.started") leaving ??= t.runtime.leave();
  });
  const tasks = [
    ["one", "go"],
    ["two", "go"],
  ] as const;
  const results = await t.runtime.fanOut(tasks);
  await leaving;
  expect(results.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  expect([t.models.one?.requests, t.models.two?.requests]).toEqual([[], []]);
  await t.close();
  await using later = lives.open({ one: [say("first")], two: [say("second")] });
  expect(await statusesIn(later)).toEqual(["running"]);
  const goesOn = await later.runtime.resume(t.events[0]?.sessionId ?? "");
  expect((await goesOn.results).map(({ summary }) => summary)).toEqual(["first", "second"]);
});

test("a session that another process took before its work began asks no model, and it is told why", async () => {
  using lives = new Lives();
  const record = changeRecord(lives, (kept) => ({
    takeLease: async (sessionId, onLost = () => {}) => {
      const release = await kept.takeLease(sessionId, onLost);
      onLost();
      return release;
    },
  }));
  const t = lives.open({ lead: [say("done")] }, { internals: { record } });
  const outcome = await t.runtime.run({ agent: "lead", task: "go" }).then(
    ({ status }) => status,
    (thrown: Error) => thrown.message,
  );
  expect(outcome).not.toBe("completed");
  expect(t.models.lead?.requests).toEqual([]);
  const notices = t.events.flatMap((event) => (event.type === "notice.raised" ? [event] : []));
  expect(notices).toMatchObject([{ level: "error", message: expect.stringContaining("took session") }]);
  await t.close();
});

test("that a session is cancelled is written before what is written of its runs that end by it", async () => {
  using lives = new Lives();
  const written: string[] = [];
  const record = changeRecord(lives, (kept) => ({
    append: (write) => {
      written.push(write.kind);
      kept.append(write);
    },
  }));
  const stuck = silence();
  const t = lives.open({ lead: [stuck.step] }, { internals: { record } });
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  await lives.leave(t, () => stuck.reached);
  written.length = 0;
  t.runtime.cancel(sessionId);
  await result;
  expect(written).toContain("row.close");
  expect([written[0], written.at(-1)]).toEqual(["session.update", "session.update"]);
  await t.close();
});

test("what another process asks to stop ends at the next look: one run of a session, or all of it", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  using lives = new Lives();
  try {
    const [one, two] = [silence(), silence()];
    const t = lives.open({ one: [one.step], two: [two.step], three: [hang()] });
    const tasks = [
      ["one", "go"],
      ["two", "go"],
    ] as const;
    const results = t.runtime.fanOut(tasks);
    await lives.leave(t, () => one.reached && two.reached);
    const other = await t.runtime.start({ agent: "three", task: "go" });
    const { record } = t.runtime;
    const begun = t.events.flatMap((event) => (event.type === "run.started" ? [event] : []));
    const { sessionId = "", runId = "" } = begun.find(({ agent }) => agent === "one") ?? {};
    const ended = () => t.events.flatMap((event) => (event.type === "run.ended" ? [event.runId] : []));
    await record.askToStop({ sessionId, id: runId });
    vi.advanceTimersByTime(1_000);
    while (ended().length < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(ended()).toEqual([runId]);
    await record.askToStop({ sessionId: other.sessionId, id: other.sessionId });
    vi.advanceTimersByTime(1_000);
    expect(await other.result).toMatchObject({ status: "cancelled" });
    expect(ended()).toEqual([runId, other.runId]);
    expect((await record.findSession(other.sessionId)).status).toBe("cancelled");
    await t.close();
    expect((await results).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  } finally {
    vi.useRealTimers();
  }
});

test("a session that waits for a person is left as it is, and the approvals that it waits for are told", async () => {
  using lives = new Lives();
  const agents = { lead: { askTools: ["observe"] } };
  const t = lives.open({ lead: [callTool("observe", {})] }, { tools: [observe], agents, onAsk: "park" });
  await t.runtime.run({ agent: "lead", task: "go" });
  const waiting = await t.runtime.record.listApprovals({ state: "waiting" });
  const parked = t.events.flatMap((event) => (event.type === "session.parked" ? [event.approvalIds] : []));
  expect(parked).toEqual([waiting.map(({ approvalId }) => approvalId)]);
  expect(parked[0]).toHaveLength(1);
  expect(await statusesIn(t)).toEqual(["running"]);
  await t.close();
});
