import { expect, test } from "vitest";
import { KnownValues } from "./known-values.ts";

function know(...forms: string[]): KnownValues {
  const values = new KnownValues();
  for (const form of forms) values.add(form);
  return values;
}
const found = (values: KnownValues, text: string) =>
  values.find(text).map(({ start, end }) => text.slice(start, end));

test("of forms that begin alike the longest that stands there is found", () => {
  const values = know("abcdefgh", "abcdefghijk", "abcdefghxyz");
  expect(found(values, "-abcdefghijk-abcdefgh-")).toEqual(["abcdefghijk", "abcdefgh"]);
});

test("forms that overlap, or stand in one another, are one stretch; neighbours are two", () => {
  expect(found(know("abcdefghijklmnop", "cdefghij"), "-abcdefghijklmnop-")).toEqual(["abcdefghijklmnop"]);
  expect(found(know("abcdefgh", "efghijkl"), "abcdefghijkl")).toEqual(["abcdefghijkl"]);
  expect(found(know("abcdefgh"), "abcdefghabcdefgh")).toEqual(["abcdefgh", "abcdefgh"]);
});

test("a form is found at the very beginning and the very end of a text", () => {
  const values = know("abcdefgh", "secret-1234");
  expect(found(values, "abcdefgh and secret-1234")).toEqual(["abcdefgh", "secret-1234"]);
});

test("what may still become a form is known by where it begins; a form that is whole has not merely begun", () => {
  const values = know("abcdefgh");
  const unfinished = ["xx", "xxa", "xxabcdefg", "xxabcdefgh", "abcdefgha"].map((text) =>
    values.unfinishedFrom(text),
  );
  expect(unfinished).toEqual([2, 2, 2, 10, 8]);
});
