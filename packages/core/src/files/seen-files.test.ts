import { expect, test } from "vitest";
import {
  inTurn,
  noteReading,
  noteSeen,
  noteWritten,
  othersVersion,
  seenVersion,
  stateName,
  versionOf,
} from "./seen-files.ts";

test("a run knows the version that it saw last, and no other run does", () => {
  noteSeen("run_1", "/a", versionOf("one"));
  noteSeen("run_1", "/a", versionOf("two"));
  expect(seenVersion("run_1", "/a")).toBe(versionOf("two"));
  expect([seenVersion("run_2", "/a"), seenVersion("run_1", "/b")]).toEqual([undefined, undefined]);
});

test("what a run has written it has seen; to the others it is another's version", () => {
  noteWritten("run_1", "/w", versionOf("mine"));
  expect(seenVersion("run_1", "/w")).toBe(versionOf("mine"));
  expect(othersVersion("run_2", "/w")).toBe(versionOf("mine"));
  expect(othersVersion("run_1", "/w")).toBeUndefined();
  noteWritten("run_2", "/w", versionOf("theirs"));
  expect(othersVersion("run_1", "/w")).toBe(versionOf("theirs"));
});

test("of very many the version that was used longest ago is forgotten", () => {
  noteSeen("run_old", "/kept", "v");
  noteSeen("run_old", "/forgotten", "v");
  for (let index = 0; index < 4_990; index++) noteSeen("run_many", `/${index}`, "v");
  expect(seenVersion("run_old", "/kept")).toBe("v");
  for (let index = 0; index < 100; index++) noteSeen("run_more", `/${index}`, "v");
  expect(seenVersion("run_old", "/kept")).toBe("v");
  expect(seenVersion("run_old", "/forgotten")).toBeUndefined();
});

test("a state has one name as long as it is the same, and a run that is given it has seen what was read of it", () => {
  const first = stateName("/s", "state 1", "run_1");
  noteReading("/s", "state 1", "v1");
  expect(stateName("/s", "state 1", "run_2")).toBe(first);
  expect([seenVersion("run_1", "/s"), seenVersion("run_2", "/s")]).toEqual([undefined, "v1"]);
  const second = stateName("/s", "state 2", undefined);
  expect(second).not.toBe(first);
  // Back at the old state, nobody knows whether it is the old content.
  expect(stateName("/s", "state 1", undefined)).not.toBe(first);
});

test("work on one file is done one after the other, also after a failure; other files do not wait", async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inTurn("/t", async () => {
    await promise;
    order.push("first");
    throw new Error("failed");
  });
  const second = inTurn("/t", async () => void order.push("second"));
  await inTurn("/other", async () => void order.push("other"));
  resolve();
  await expect(first).rejects.toThrow("failed");
  await second;
  expect(order).toEqual(["other", "first", "second"]);
});
