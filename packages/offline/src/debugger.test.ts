import { expect, test } from "vitest";
import { describeChange } from "./debugger.ts";

const place = { path: "src/a.ts", at: 3 };

test.each([
  [
    "5d6e7f80 (Bo (x)   2026-03-04 11:00:00 +0000  3)   return 1;",
    "Last changed there: src/a.ts:3, in 5d6e7f80 by Bo (x), 2026-03-04.",
  ],
  [
    "^1a2b3c4 (Ann Lee  2026-01-02 10:00:00 +0100  3) export function sum() {",
    "Last changed there: src/a.ts:3, in 1a2b3c4 by Ann Lee, 2026-01-02.",
  ],
  [
    "00000000 (Not Committed Yet 2020-01-01 00:00:00 +0000 3) x",
    "src/a.ts:3 has a change that is not committed yet.",
  ],
  ["fatal: no such path", ""],
])("%s", (blame, told) => {
  expect(describeChange(place, blame)).toBe(told);
});
