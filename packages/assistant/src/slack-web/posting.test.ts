import { expect, test } from "vitest";
import { escapeText } from "./open-slack.ts";

test.each([
  ["a<b and c>d & e", "a&lt;b and c&gt;d &amp; e"],
  ["<@U12345> see <https://example.org/a|this> in <#C123|alpha> <!here>", null],
  ["already &lt;b&gt; &amp; done", null],
  ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["> quoted", "&gt; quoted"],
])("%s", (text, posted) => {
  expect(escapeText(text)).toBe(posted ?? text);
});
