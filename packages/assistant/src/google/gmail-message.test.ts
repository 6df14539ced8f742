import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { buildGmailQuery } from "./gmail-message.ts";

test("each field becomes its operator, a word at a time", () => {
  const query = buildGmailQuery({
    text: 'budget "exact words"',
    from: "dana@acme.example",
    to: "Alex Kim",
    subject: "Q3 review",
    unread: true,
    hasAttachment: false,
    after: "2026-11-01T00:00:00Z",
    before: "2026-11-02T00:00:00Z",
    limit: 10,
  });
  expect(query).toBe(
    'budget "exact words" from:dana@acme.example to:Alex to:Kim subject:Q3 subject:review ' +
      "after:1793491199 before:1793577601 is:unread -has:attachment",
  );
});

test.each([
  ["in:spam", '"in spam"'],
  ["-secret", "secret"],
  ["a OR b", 'a "OR" b'],
  ["{from:x to:y}", '"from x" "to y"'],
  ['say "hi" from:boss', 'say hi "from boss"'],
  ['"', ""],
  ["( )", ""],
  ["10:30", '"10 30"'],
  ["Müller", "Müller"],
])("the text %j is searched only as words: %j", (text, expected) => {
  expect(buildGmailQuery({ text, limit: 1 })).toBe(expected);
});

test("an invalid date is refused", () => {
  expect(() => buildGmailQuery({ after: "soon", limit: 1 })).toThrow(ToolFault);
});

test("no text can bring in an operator, whatever it holds", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc
      .array(
        fc.constantFrom("from:", '"', "-", "{", "}", "(", ")", " ", "OR", "a", "\\", "in:anywhere", "+", ":"),
      )
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(hostile, hostile, (text, from) => {
      const query = buildGmailQuery({ text, from, limit: 1 });
      const outsideQuotes = query.replace(/"[^"]*"/g, "Q").split(" ");
      for (const part of outsideQuotes.filter(Boolean)) {
        expect(part).toMatch(/^(?:from:)?(?:Q|[\p{L}\p{N}][\p{L}\p{N}@._+'’-]*)$/u);
        expect(part).not.toMatch(/^(?:OR|AND|NOT|AROUND)$/i);
      }
    }),
  );
});
