import { expect, test } from "vitest";
import { createId } from "./create-id.ts";

test("thousands of ids are all different, equally long, and only letters and digits after their prefix", () => {
  const ids = Array.from({ length: 5_000 }, () => createId("run"));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^run_[A-Za-z0-9]{12}$/.test(id))).toEqual([]);
  // Each has random bytes of its own: the end of one is not the beginning of a later one.
  const beginnings = new Set(ids.map((id) => id.slice(4, 12)));
  expect(ids.filter((id) => beginnings.has(id.slice(-8)))).toEqual([]);
});
