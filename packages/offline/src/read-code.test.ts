import { expect, test } from "vitest";
import { fenceCode } from "./read-code.ts";

test("code is a block of its own, indented with the item it belongs to", () => {
  expect(fenceCode(["3 | a", "", "4 | b"], "  ")).toEqual(["  ```", "  3 | a", "", "  4 | b", "  ```"]);
  expect(fenceCode([])).toEqual([]);
});

test("backticks in the code do not end the block", () => {
  expect(fenceCode(["```js", "x", "```"])[0]).toBe("````");
});
