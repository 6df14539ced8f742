import fc from "fast-check";
import { expect, test } from "vitest";
import { listMentioned, readSlackMarkup } from "./slack-text.ts";

const names = {
  person: (id: string) => (id === "U1" ? "priya" : undefined),
  channel: (id: string) => (id === "C1" ? "project-alpha" : undefined),
};

test.each([
  ["<@U1> and <@U2>", "@priya and @U2"],
  ["<@U2|dana>", "@dana"],
  ["<#C1|renamed> <#C1> <#C1|> <#C2>", "#renamed #project-alpha #project-alpha #C2"],
  ["<!here> <!channel> <!everyone>", "@here @channel @everyone"],
  ["<!subteam^S1|@designers> <!subteam^S1>", "@designers @S1"],
  ["<!date^1700000000^{date}|14 Nov>", "14 Nov"],
  ["<https://a.example/x>", "https://a.example/x"],
  ["<https://a.example|the plan>", "the plan (https://a.example)"],
  ["<http://a.example|a.example>", "http://a.example"],
  ["<mailto:a@b.example|a@b.example>", "a@b.example"],
  ["<mailto:evil@x.example|a@b.example>", "a@b.example (mailto:evil@x.example)"],
  ["<https://evil.example|https://bank.example>", "https://bank.example (https://evil.example)"],
  ["<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"],
  ["1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"],
  ["&amp;lt;b&amp;gt;", "&lt;b&gt;"],
  ["&lt;@U1&gt; is no mention", "<@U1> is no mention"],
  ["a < b <unclosed", "a < b <unclosed"],
  ["", ""],
])("%j reads %j", (text, readable) => {
  expect(readSlackMarkup(text, names)).toBe(readable);
});

test("text that a person typed comes out unchanged", () => {
  const escaped = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  fc.assert(
    fc.property(fc.string(), (typed) => {
      expect(readSlackMarkup(escaped(typed), names)).toBe(typed);
    }),
  );
});

test("the people a text mentions are found, with and without a label", () => {
  expect(listMentioned("<@U1> <@W2|x> &lt;@U3&gt; <#C1>")).toEqual(["U1", "W2"]);
});
