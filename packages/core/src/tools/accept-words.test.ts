import { expect, test } from "vitest";
import {
  gatherKeys,
  nameAsWritten,
  renameKeys,
  splitOptionWords,
  toSeconds,
  translateKeys,
} from "./accept-words.ts";

const WORDS = { file_path: "path", old_string: "old", old_str: "old", new_string: "new", new_str: "new" };

test("other systems' words become our keys, and what is written under our own key goes before", () => {
  expect(renameKeys({ file_path: "a", old_string: "x" }, WORDS)).toEqual({ path: "a", old: "x" });
  expect(renameKeys({ path: "ours", file_path: "theirs" }, WORDS)).toEqual({ path: "ours" });
  expect(renameKeys({ file_path: "theirs", path: "ours" }, WORDS)).toEqual({ path: "ours" });
});

test("keys are translated at every level where the schema has ours, and nowhere else", () => {
  const edit = { properties: { old: {}, new: {} } };
  const schema = { properties: { path: {}, edits: { items: edit }, first: edit, second: edit } };
  const both = { old_string: "x", new_string: "y" };
  expect(translateKeys(schema, { file_path: "a", edits: [both], first: both, second: both }, WORDS)).toEqual({
    path: "a",
    edits: [{ old: "x", new: "y" }],
    first: { old: "x", new: "y" },
    second: { old: "x", new: "y" },
  });
  const ours = { properties: { path: {}, file_path: {} } };
  expect(translateKeys(ours, { file_path: "a" }, WORDS)).toEqual({ file_path: "a" });
});

test("a value in our own words comes back itself", () => {
  const value = { path: "a", edits: [{ old: "x" }], more: { file_path: "not ours to read" } };
  const schema = { properties: { path: {}, edits: { items: { properties: { old: {} } } } } };
  expect(translateKeys(schema, value, WORDS)).toBe(value);
});

test("a fault is told in the word that was used, or in the one that goes with it", () => {
  expect(nameAsWritten("old", WORDS, ["old_string"])).toBe("old_string");
  expect(nameAsWritten("new", WORDS, ["old_str"])).toBe("new_str");
  expect(nameAsWritten("new", WORDS, ["old_string"])).toBe("new_string");
  expect(nameAsWritten("path", WORDS, ["path", "file_path"])).toBe("path");
  expect(nameAsWritten("path", WORDS, [])).toBe("path");
});

test("every key is gathered once, at any depth", () => {
  expect(gatherKeys({ a: [{ b: 1 }, { b: 2, c: { a: 3 } }] })).toEqual(["a", "b", "c"]);
});

test("a time-out of a thousand or more is meant in milliseconds", () => {
  expect([999, 1_000, "120000", "30", "soon"].map(toSeconds)).toEqual([999, 1, 120, "30", "soon"]);
});

test("options are split at blanks outside of quotes of either kind", () => {
  expect(splitOptionWords(`-m "a b" --author='c d' e"f g"h`)).toEqual(["-m", "a b", "--author=c d", "ef gh"]);
});
