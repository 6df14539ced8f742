import fc from "fast-check";
import { expect, test } from "vitest";
import { measureDistance } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["abc", "abc", 0],
  ["abc", "abd", 1],
  ["abc", "acb", 1],
  ["abc", "ab", 1],
  ["acme.example", "acmee.example", 1],
  ["kitten", "sitting", 3],
])("from %j to %j it is %i", (one, other, distance) => {
  expect(measureDistance(one, other, 9)).toBe(distance);
  expect(measureDistance(other, one, 9)).toBe(distance);
});

test("beyond the most that is asked for, only that much more is said", () => {
  expect(measureDistance("kitten", "sitting", 1)).toBe(2);
  expect(measureDistance("a", "abcdef", 2)).toBe(3);
});

test("what two texts share at their ends changes nothing", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(word, word, word, word, fc.integer({ min: 0, max: 4 }), (start, one, other, end, most) => {
      const alone = measureDistance(one, other, most);
      expect(measureDistance(`${start}${one}${end}`, `${start}${other}${end}`, most)).toBe(alone);
      expect(alone).toBeLessThanOrEqual(most + 1);
    }),
  );
});
