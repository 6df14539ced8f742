import fc from "fast-check";
import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

test("whatever is put in comes out once and in the same order, however long the queue was", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(80), { maxLength: 40 }), (rounds) => {
      const queue = new Queue<number>();
      const expected: number[] = [];
      let next = 0;
      for (const [index, count] of rounds.entries()) {
        for (let each = 0; each < count; each++) {
          if (index % 2 === 0) {
            queue.push(next);
            expected.push(next++);
          } else expect(queue.shift()).toBe(expected.shift());
          expect(queue.size).toBe(expected.length);
        }
      }
      while (expected.length > 0) expect(queue.shift()).toBe(expected.shift());
      expect([queue.shift(), queue.size]).toEqual([undefined, 0]);
    }),
  );
});
