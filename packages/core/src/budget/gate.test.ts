import { expect, test } from "vitest";
import { Gate } from "./gate.ts";

test("no more work is under way than allowed, in the order it came; work that fails makes room as well", async () => {
  const gate = new Gate(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) =>
    gate.run(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  const settled = Promise.allSettled(all);
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("failed"));
  await expect(all[1]).rejects.toThrow("failed");
  expect(begun).toEqual([0, 1, 2]);
  for (const end of ends) end.resolve();
  expect((await settled).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test.each([0, -1, Number.NaN])("a gate for %s at once is refused", (max) => {
  expect(() => new Gate(max)).toThrow("at least one");
});

test("a place that was handed on is not free for somebody else as well, and one that nobody waits for is free again", async () => {
  const gate = new Gate(1);
  const begun: string[] = [];
  const start = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = gate.run(async () => {
      begun.push(name);
      await promise;
    });
    const end = () => {
      resolve();
      return done;
    };
    return { end };
  };
  const [first, second] = [start("first"), start("second")];
  await first.end();
  const third = start("third");
  expect(begun).toEqual(["first", "second"]);
  await second.end();
  await third.end();
  await start("fourth").end();
  expect(begun).toEqual(["first", "second", "third", "fourth"]);
});
