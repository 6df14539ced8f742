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
