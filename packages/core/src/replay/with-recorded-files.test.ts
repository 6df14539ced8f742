import { expect, test } from "vitest";
import { withRecordedFiles } from "./with-recorded-files.ts";

const message = (content: string) =>
  `task\n\n## Files to look at first\n<file path="a.txt">\n${content}\n</file>\n<file path="b.txt">\nb\n</file>`;

test("a file has the content it had then", () => {
  expect(withRecordedFiles(message("new"), message("old\n$& $1"))).toBe(message("old\n$& $1"));
  expect(withRecordedFiles(message("[not readable: ENOENT]"), message("old"))).toBe(message("old"));
});

test("a file that may no longer be handed over, and one that was not, stay as they are now", () => {
  const refused = message("[not readable: neither you nor the sub-agent may read it]");
  expect(withRecordedFiles(refused, message("old"))).toBe(refused);
  expect(withRecordedFiles(message("new"), "another task")).toBe(message("new"));
});

test("only the whole of what takes a file's place counts as a refusal, and each reason does", () => {
  const outside = message("[not readable: it is outside the project and the workspace]");
  expect(withRecordedFiles(outside, message("old"))).toBe(outside);
  for (const quoting of [
    "[not readable: neither you nor the sub-agent may read it] ?",
    "see [not readable: it is outside the project and the workspace]",
  ])
    expect(withRecordedFiles(message(quoting), message("old"))).toBe(message("old"));
});
