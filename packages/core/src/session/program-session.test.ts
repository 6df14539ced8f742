import { expect, test } from "vitest";
import { after, hang, say, testRuntime } from "../testing/index.ts";

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
});
