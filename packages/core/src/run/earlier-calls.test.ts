import { expect, test } from "vitest";
import { EarlierCalls } from "./earlier-calls.ts";

test("a call sees those of its own tool that were asked for before it, in their order", () => {
  const calls = new EarlierCalls();
  calls.note("shell", "one", ["a.sh"]);
  calls.note("git", "other");
  calls.note("shell", "two");
  const third = calls.note("shell", "three");
  calls.note("shell", "later");
  expect(calls.before(third).map(({ input, files }) => [input, files])).toEqual([
    ["one", ["a.sh"]],
    ["two", []],
  ]);
});

test("a call that was refused is forgotten, and only that one", () => {
  const calls = new EarlierCalls();
  const refused = calls.note("shell", "refused");
  calls.note("shell", "kept");
  const last = calls.note("shell", "last");
  calls.forget(refused);
  calls.forget(refused);
  expect(calls.before(last).map(({ input }) => input)).toEqual(["kept"]);
  expect(calls.before(refused)).toEqual([]);
});
