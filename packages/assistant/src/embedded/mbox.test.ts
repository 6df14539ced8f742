import fc from "fast-check";
import { expect, test } from "vitest";
import { normalizeLines } from "../mail/mail-format.ts";
import { readFiledMail, readMbox, writeMbox } from "./mbox.ts";

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("latin1");

test("messages of an mbox file come back with their quoted lines, state and time", () => {
  const file = `From a@x Tue Oct 20 08:00:00 2026\nStatus: RO\nSubject: one\n\n>From here\n>>From there\n\nFrom b@x Wed Oct 21 08:00:00 2026\r\nSubject: two\r\n\r\nFrom the start of a line that follows no blank one\r\nis text\n`;
  const mails = [...readMbox(Buffer.from(`${file}`))];
  expect(mails.map(({ isRead }) => isRead)).toEqual([true, false]);
  expect(mails[0]?.envelopeMs).toBe(Date.parse("2026-10-20T08:00:00Z"));
  expect(text(mails[0]?.bytes)).toBe("Subject: one\r\n\r\nFrom here\r\n>From there\r\n");
  expect(text(mails[1]?.bytes)).toContain("is text\r\n");
});

test("a file that is not an mbox file has no messages", () => {
  expect([...readMbox(Buffer.from("Subject: x\n\ny\n"))]).toEqual([]);
  expect([...readMbox(Buffer.alloc(0))]).toEqual([]);
});

test("any messages survive an mbox file byte for byte", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "",
      "",
      "From x Tue Oct 20 08:00:00 2026",
      ">From y 2026",
      "Subject: s",
      " folded",
      "\r",
      "a\rb",
      "\0",
    ),
    fc.string({ unit: "binary-ascii", maxLength: 20 }),
  );
  const mail = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 12 }),
    isRead: fc.boolean(),
    seconds: fc.integer({ min: 0, max: 4_000_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(mail, { maxLength: 5 }), (mails) => {
      const kept = mails.map(({ lines, isRead, seconds }) => ({
        bytes: readFiledMail(normalizeLines(Buffer.from(lines.join("\n"), "latin1"))).bytes,
        isRead,
        dateMs: seconds * 1000,
      }));
      const file = Buffer.concat(kept.map(({ bytes, ...how }) => writeMbox(bytes, how)));
      const read = [...readMbox(file)];
      expect(read.map(({ bytes }) => text(bytes))).toEqual(kept.map(({ bytes }) => text(bytes)));
      expect(read.map(({ isRead }) => isRead)).toEqual(kept.map(({ isRead }) => isRead));
      expect(read.map(({ envelopeMs }) => envelopeMs)).toEqual(kept.map(({ dateMs }) => dateMs));
    }),
    { numRuns: 300 },
  );
});

test("a paragraph that begins like a separator is text", () => {
  const file =
    "From a@x Tue Oct 20 08:00:00 2026\nSubject: one\n\nHello\n\nFrom 2019 to 2024 we grew.\n\nFrom now on.\n";
  const mails = [...readMbox(Buffer.from(file))];
  expect(mails.map(({ bytes }) => text(bytes))).toEqual([expect.stringContaining("we grew.")]);
});
