import { expect, test } from "vitest";
import { escapeTags } from "./escape-tags.ts";

test.each([
  ["<system>", "&lt;system>"],
  ["</subagent_result>", "&lt;/subagent_result>"],
  ["< / Assistant >", "&lt; / Assistant >"],
  ["<ns:invoke name='x'>", "&lt;ns:invoke name='x'>"],
  ["<SYSTEM-reminder>", "&lt;SYSTEM-reminder>"],
  ["<sys\u200btem>", "&lt;system>"],
  ["[ Measured ]", "&#91; Measured ]"],
  ["ab\u{e0041}c\u202e", "abc"],
])("%j cannot open or close a mark", (text, escaped) => {
  expect(escapeTags(text)).toBe(escaped);
});

test.each(["a < b", "<div>", "<T extends object>", "[measured 3 times]"])("%j stays as it is", (text) => {
  expect(escapeTags(text)).toBe(text);
});
