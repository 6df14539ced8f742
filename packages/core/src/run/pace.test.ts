import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import type { RunResult } from "../schema/result.ts";
import { buildResult } from "./build-result.ts";
import type { Delegation } from "./delegations.ts";
import { livePace } from "./pace.ts";
import type { ChildRuns, Interruption } from "./run.ts";

const STOP: Interruption = { status: "cancelled", bailout: "cancelled", message: "stopped by a person" };

test("a run that comes to life after it was stopped ends at once: with its session, its parent or its siblings", () => {
  const ofSession = makeRun({ session: { stop: STOP } }).run;
  const parent = makeRun().run;
  const ofParent = makeRun({ parent, runId: "run_a" }).run;
  parent.interrupt(STOP);
  const other = makeRun().run;
  other.children = { stopping: STOP } as Partial<ChildRuns> as ChildRuns;
  const ofSiblings = makeRun({ parent: other, runId: "run_b" }).run;
  for (const run of [ofSession, ofParent, ofSiblings]) {
    livePace.watch(run)();
    expect(run.interruption).toBe(STOP);
  }
  const free = makeRun().run;
  livePace.watch(free)();
  expect(free.interruption).toBeNull();
});

test("a run ends at its deadline, which moves on while it waits, and a timer that fires early ends nothing", () => {
  const { run, clock } = makeRun({ limits: { timeoutMs: 10_500 } });
  livePace.watch(run);
  run.deadline.stop(clock.monotonicMs());
  clock.advance(60_000);
  expect(run.interruption).toBeNull();
  run.deadline.start(clock.monotonicMs());
  for (let step = 0; step < 104; step++) clock.advance(100);
  expect(run.interruption).toBeNull();
  for (let step = 0; step < 20; step++) clock.advance(100);
  expect(run.interruption).toMatchObject({ status: "timeout", message: expect.stringContaining("11 s") });
});

test("who stops watching is not ended later", () => {
  const { run, clock } = makeRun({ limits: { timeoutMs: 1_000 } });
  livePace.watch(run)();
  clock.advance(60_000);
  expect(run.interruption).toBeNull();
});

test("a parent waits for one of its delegations or for all of them, or until something else happens", async () => {
  const { run } = makeRun();
  const ends = [Promise.withResolvers<RunResult>(), Promise.withResolvers<RunResult>()];
  const some = ends.map(({ promise }) => ({ done: promise }) as Partial<Delegation> as Delegation);
  const heard: string[] = [];
  const one = livePace.untilEnded(run, some, "one", []).then(() => heard.push("one"));
  const all = livePace.untilEnded(run, some, "all", []).then(() => heard.push("all"));
  await livePace.untilEnded(run, some, "one", [Promise.resolve()]);
  expect(heard).toEqual([]);
  const result = buildResult(run, { status: "completed", text: "done" });
  ends[1]?.resolve(result);
  await one;
  expect(heard).toEqual(["one"]);
  ends[0]?.resolve(result);
  await all;
});
