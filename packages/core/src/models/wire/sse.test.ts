import fc from "fast-check";
import { expect, test } from "vitest";
import { SseLines } from "./read-reply.ts";

function splitIntoLines(chunks: readonly Buffer[], maxLineBytes = 1_000_000): string[] {
  const lines: string[] = [];
  const parser = new SseLines(
    { data: (text) => lines.push(text), comment: () => lines.push("<comment>") },
    maxLineBytes,
  );
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
  return lines;
}

test.each([
  ["data: a\n\ndata: b\n\n", ["a", "b"]],
  ["data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["data:a\ndata: b", ["a", "b"]],
  ["data:  two spaces\n", [" two spaces"]],
  [": keep alive\n\ndata: a\n", ["<comment>", "a"]],
  ["event: x\nid: 1\nretry: 5\ndata: a\nunknown\n", ["a"]],
  ["\uFEFFdata: a\n", ["a"]],
  ["data:\n", [""]],
  ["", []],
  ["\n\r\n\n", []],
])("%j carries %j", (stream, expected) => {
  expect(splitIntoLines([Buffer.from(stream)])).toEqual(expected);
});

test("however the bytes are cut, the lines are the same", () => {
  const payload = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n\uFEFF]/g, ""));
  const cuts = fc.array(fc.nat(400), { maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(payload, { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      cuts,
      (payloads, newline, at) => {
        const bytes = Buffer.from(payloads.map((text) => `data: ${text}${newline}${newline}`).join(""));
        const edges = [...new Set([0, ...at.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        expect(splitIntoLines(chunks)).toEqual(payloads);
      },
    ),
  );
});

test("a line longer than allowed is refused as soon as it is too long", () => {
  const parser = new SseLines({ data: () => {}, comment: () => {} }, 100);
  parser.push(Buffer.alloc(100, "x"));
  expect(() => parser.push(Buffer.from("x"))).toThrow("exceeds 100 bytes");
});
