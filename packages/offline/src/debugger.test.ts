import { expect, test } from "vitest";
import { findCalledNames, findLastBlamed } from "./debugger.ts";

const numbered = (...texts: readonly string[]) => texts.map((text, index) => ({ at: index + 1, text }));

test.each<[lines: readonly string[], names: readonly string[]]>([
  [["  expect(sum([1, 2])).toBe(3);"], ["sum"]],
  [["  assert.equal(sum(double(1)), 3);"], ["sum", "double"]],
  [["  expect(cart.total()).toBe(3);"], ["total"]],
  [["  assert sum([1]) == 1"], ["sum"]],
  [["  const result = await load(path);", "  other();", "  expect(result.size).toBe(3);"], ["load"]],
  [["  const { a, b } = split(text);", "  assert.deepEqual(b, []);"], ["split"]],
  [["  let x = first();", "  x = second();", "  expect(x).toBe(1);"], ["second"]],
  [['  expect(String("sum(1)")).toBe(1);'], []],
  [["  expect(1).toBe(2); // sum(1)"], []],
])("%j calls %j", (lines, names) => {
  expect(findCalledNames(numbered(...lines), lines.length)).toEqual(names);
});

test("a line that is not there calls nothing", () => {
  expect(findCalledNames([], 7)).toEqual([]);
});

const BLAME = `^1a2b3c4 (Ann Lee  2026-01-02 10:00:00 +0100  2) export function sum() {
5d6e7f80 (Bo (x)   2026-03-04 11:00:00 +0000  3)   return 1;
5d6e7f80 (Bo (x)   2026-03-04 11:00:00 +0000  4) }`;

test("the line that was changed last is found, with who and when", () => {
  expect(findLastBlamed(BLAME)).toEqual({
    at: 3,
    commit: "5d6e7f80",
    author: "Bo (x)",
    date: "2026-03-04",
    committed: true,
  });
});

test("what is not committed is later than everything else", () => {
  const text = `${BLAME}\n00000000 (Not Committed Yet 2020-01-01 00:00:00 +0000 5) x`;
  expect(findLastBlamed(text)).toMatchObject({ at: 5, committed: false });
});

test("a text without blame gives nothing", () => {
  expect(findLastBlamed("fatal: no such path")).toBeUndefined();
});
