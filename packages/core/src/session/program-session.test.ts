import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { after, failWith, hang, say, testRuntime } from "../testing/index.ts";

test("a session that is closed waits for all that was started in it, and counts it", async () => {
  const done = Promise.withResolvers<void>();
  await using t = testRuntime({ worker: { eachRun: [after(done.promise, say("made"))] } });
  const session = await t.runtime.openSession();
  session.spawn("worker", "one");
  session.spawn("worker", "two");
  const closing = session.close();
  setImmediate(done.resolve);
  expect((await closing).summary).toBe("The program started 2 agents: 2 succeeded, 0 did not.");
});

test("a session is left with what runs in it ended, and a signal that fires ends it", async () => {
  await using t = testRuntime({ worker: { eachRun: [hang()] } }, { lenient: true });
  const begun = async (count: number) => {
    while (t.models.worker?.requests.length !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  const left = await t.runtime.openSession();
  const child = left.spawn("worker", "one");
  await begun(1);
  await left[Symbol.asyncDispose]();
  expect(await child.result).toMatchObject({ status: "cancelled" });
  const stop = new AbortController();
  const ended = await t.runtime.openSession({ signal: stop.signal });
  const other = ended.spawn("worker", "two");
  await begun(2);
  stop.abort();
  expect(await other.result).toMatchObject({ status: "cancelled" });
  expect(await ended.close()).toMatchObject({ status: "cancelled" });
  await expect(t.runtime.openSession({ signal: stop.signal })).rejects.toThrow("cancelled before it began");
});

test("a session that cannot begin says why", async () => {
  await using t = testRuntime({ worker: [] }, { settings: { maxAgents: 1 } });
  await expect(t.runtime.openSession({ agent: "nobody" })).rejects.toThrow("no agent 'nobody'");
  await expect(t.runtime.openSession({ maxConcurrent: 0 })).rejects.toThrow("maxConcurrent");
  const led = t.runtime.openSession({ agent: "worker", maxConcurrent: 0 });
  await expect(led).rejects.toThrow("maxConcurrent");
});

test("a program leads with its own model and limits, as many children as it likes, and as many at once as the settings allow", async () => {
  const running: string[] = [];
  const go = Promise.withResolvers<void>();
  await using seen = openSeen(
    {
      other: () => {
        running.push("one");
        return after(go.promise, say("done"));
      },
      worker: [],
    },
    { agents: { worker: { model: "inherit" } }, settings: { maxConcurrent: 2 } },
  );
  await using session = await seen.runtime.openSession({ model: "other", limits: { tokens: 900_000 } });
  const children = ["a", "b", "c"].map((task) => session.spawn("worker", task));
  while (running.length < 2) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(running).toHaveLength(2);
  go.resolve();
  for (const { result } of children) expect(await result).toMatchObject({ success: true });
  const { parent } = seen.find("worker");
  expect(parent?.limits.toolCalls).toBe(1_000_000);
  expect(parent?.account.limits).toMatchObject({ tokens: 900_000 });
});

test("a session whose signal fires while it opens has ended, and what a closed one is asked to start is refused", async () => {
  await using t = testRuntime({ worker: [] }, { lenient: true });
  const stop = new AbortController();
  t.runtime.events((event) => {
    if (event.type === "session.started") stop.abort();
  });
  const opened = await t.runtime.openSession({ signal: stop.signal }).catch(() => null);
  await opened?.close();
  const { sessions } = await t.runtime.record.listSessions();
  expect(sessions.map(({ status }) => status)).toEqual(["cancelled"]);
  const closed = await t.runtime.openSession();
  expect(await closed.close()).toMatchObject({ success: true });
  const late = closed.spawn("worker", "x");
  expect(await late.result).toMatchObject({ status: "cancelled", agent: "worker" });
  expect((await late.result).error?.message).toContain("was not started");
});

test("of agents that a program started some have to succeed, but for those that it cancelled itself", async () => {
  await using t = testRuntime(
    { worker: [failWith("auth", "no key"), say("done"), hang()] },
    { lenient: true },
  );
  const end = async (...how: ("wait" | "cancel")[]) => {
    const session = await t.runtime.openSession();
    for (const each of how) {
      const child = session.spawn("worker", "x");
      if (each === "cancel") child.cancel();
      await child.result;
    }
    return (await session.close()).status;
  };
  expect(await end("wait")).toBe("failed");
  expect(await end("wait", "cancel")).toBe("completed");
  expect(await end("cancel")).toBe("completed");
});

test("what is started while a session waits for the last of its agents is waited for too, and counted", async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const answers = [after(first.promise, say("one")), after(second.promise, say("two"))];
  await using t = testRuntime({ worker: { eachRun: answers } });
  const session = await t.runtime.openSession();
  const one = session.spawn("worker", "one");
  const more = one.result.then(() => session.spawn("worker", "two").result);
  const closing = session.close();
  first.resolve();
  await one.result;
  while (t.models.worker?.requests.length !== 2) await new Promise((resolve) => setImmediate(resolve));
  second.resolve();
  expect(await more).toMatchObject({ success: true });
  expect((await closing).summary).toBe("The program started 2 agents: 2 succeeded, 0 did not.");
});

test("what is asked for once a session has counted its agents is refused, though its last row is not written", async () => {
  await using t = testRuntime({ worker: [say("one")] }, { lenient: true });
  const session = await t.runtime.openSession();
  const late = Promise.withResolvers<string | undefined>();
  t.runtime.events((event) => {
    if (event.type !== "run.ended" || event.runId !== session.runId) return;
    session.spawn("worker", "late").result.then(({ error }) => late.resolve(error?.message), late.reject);
  });
  await session.spawn("worker", "x").result;
  expect((await session.close()).summary).toContain("started 1 agents");
  expect(await late.promise).toContain(
    `the session ${session.id} has ended; open another one with openSession`,
  );
});

test("a session that has ended no longer listens to the signal that could have ended it", async () => {
  await using t = testRuntime({ worker: [say("one")] });
  const { signal } = new AbortController();
  const session = await t.runtime.openSession({ signal });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await session.spawn("worker", "x").result;
  await session.close();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("in a session that was cancelled nothing is started any more", async () => {
  await using t = testRuntime({ worker: [] });
  const session = await t.runtime.openSession();
  const ended = Promise.withResolvers<void>();
  t.runtime.events((event) => {
    if (event.type === "session.ended") setImmediate(ended.resolve);
  });
  session.cancel();
  await ended.promise;
  const late = await session.spawn("worker", "x").result;
  expect(late.error?.message).toContain(
    `the session ${session.id} has ended; open another one with openSession`,
  );
  expect(await session.close()).toMatchObject({ status: "cancelled" });
});
