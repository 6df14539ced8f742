import { expect, test } from "vitest";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import { Deadline, type TimeBox } from "../budget/deadline.ts";
import { waitFor, waitForDisk } from "./wait-for.ts";

const boxOf = (depth: number, outer: TimeBox | null = null): TimeBox => ({
  ...{ deadline: new Deadline(1_000), lengthMs: 1_000, depth, outer },
});
const WATCHED: RunParts = { host: { watched: () => true } };

test.each([
  ["children", true, false],
  ["approval", true, true],
  ["pause", true, true],
  ["slot", false, false],
  ["provider", false, false],
  ["budget", false, false],
  ["store", false, false],
] as const)(
  "a wait for %s stops the run's own clock: %s, those of the given times: %s",
  async (on, own, given) => {
    const outer = boxOf(0);
    const timeBox = boxOf(1, outer);
    const { run, clock } = makeRun({ timeBox, limits: { timeoutMs: 1_000 } });
    const end = Promise.withResolvers<string>();
    const waiting = waitFor(run, on, end.promise);
    expect([run.deadline.isStopped, timeBox.deadline.isStopped, outer.deadline.isStopped]).toEqual([
      own,
      given,
      given,
    ]);
    clock.advance(300);
    end.resolve("there");
    expect(await waiting).toBe("there");
    expect([run.deadline.atMs, outer.deadline.atMs]).toEqual([own ? 1_300 : 1_000, given ? 1_300 : 1_000]);
    expect(run.elapsedMs(clock.monotonicMs())).toBe(own ? 0 : 300);
  },
);

test("watchers hear what a run waits for first and that it waits no more, also where the wait fails", async () => {
  const { run, events } = makeRun(WATCHED);
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const all = ends.map(({ promise }) => waitFor(run, "approval", promise));
  const settled = Promise.allSettled(all);
  expect(run.waitingOn).toBe("approval");
  ends[0]?.reject(new Error("failed"));
  await expect(all[0]).rejects.toThrow("failed");
  expect(run.waitingOn).toBe("approval");
  ends[1]?.resolve();
  await settled;
  expect([run.waitingOn, run.deadline.isStopped]).toEqual([null, false]);
  expect(events).toEqual([
    { type: "run.waiting", runId: "run_root", on: "approval" },
    { type: "run.waiting", runId: "run_root", on: null },
  ]);
});

test("a wait for the disk that lasts is shown until the disk is there; a short one is not", async () => {
  const disk = Promise.withResolvers<void>();
  const journal = { open: () => 1, close: () => {}, committed: () => disk.promise };
  const { run, clock, events } = makeRun({ ...WATCHED, session: { journal } });
  const waiting = waitForDisk(run);
  clock.advance(999);
  expect(events).toEqual([]);
  clock.advance(1);
  expect(events).toMatchObject([{ on: "store" }]);
  disk.resolve();
  expect(await waiting).toBeNull();
  await Promise.resolve();
  expect(events).toMatchObject([{ on: "store" }, { on: null }]);
  const short = makeRun(WATCHED);
  expect(await waitForDisk(short.run)).toBeNull();
  short.clock.advance(5_000);
  expect(short.events).toEqual([]);
});

test("a disk that will never take the rows says why, and a run that was stopped does not wait for it", async () => {
  const failing = async () => Promise.reject(new Error("disk full"));
  const journal = { open: () => 1, close: () => {}, committed: failing };
  expect(await waitForDisk(makeRun({ session: { journal } }).run)).toBe("disk full");
  const never = { ...journal, committed: () => new Promise<void>(() => {}) };
  const { run } = makeRun({ session: { journal: never } });
  const waiting = waitForDisk(run);
  run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
  expect(await waiting).toBeNull();
});
