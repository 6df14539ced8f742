import { expect, test } from "vitest";
import { readMail } from "../mail/mail-format.ts";
import {
  addRejections,
  buildMailId,
  findThread,
  isPending,
  judgeRecipients,
  readCopyDelivery,
} from "./imap-mailbox.ts";

const COPY = Buffer.from(
  "From: alex@retinue.example\r\nTo: dana@acme.example, sam@acme.example\r\nMessage-ID: <1@retinue.example>\r\nDate: Mon, 16 Nov 2026 08:00:00 +0000\r\n\r\nHello\r\n",
);
const fetched = async (source: Uint8Array, flags: string[] = []) => ({
  place: { folder: "Sent", validity: "7", uid: 1 },
  raw: { seq: 1, uid: 1, source: Buffer.from(source), flags: new Set(flags) },
  mail: await readMail(source),
});

test("the sender's own copy records whom the server refused", async () => {
  const rejected = [{ address: "sam@acme.example", detail: "550 no such user\r\nX-Evil: 1 ü" }];
  const copy = await fetched(addRejections(COPY, rejected));
  const delivery = readCopyDelivery(copy);
  expect(delivery).toEqual({
    status: "rejected",
    recipients: [
      { address: "dana@acme.example", status: "sent" },
      { address: "sam@acme.example", status: "rejected", detail: "550 no such user X-Evil: 1 ?" },
    ],
    timestamp: "2026-11-16T08:00:00.000Z",
  });
  const addresses = ["dana@acme.example", "sam@acme.example"];
  const told = judgeRecipients(addresses, { rejected, atMs: Date.UTC(2026, 10, 16, 8) });
  expect(told.recipients.map(({ status }) => status)).toEqual(["sent", "rejected"]);
});

test("a copy that still has its mark means unknown, never sent", async () => {
  const copy = await fetched(COPY, ["\\Draft"]);
  expect(isPending(copy.raw.flags)).toBe(true);
  expect(readCopyDelivery(copy).recipients.map(({ status }) => status)).toEqual(["unknown", "unknown"]);
});

test("a report of a bounce counts for its recipient, whatever the case of the address", async () => {
  const bounces = [
    { messageId: "<1@retinue.example>", address: "DANA@acme.example", detail: "mailbox full" },
  ];
  const { status, recipients } = readCopyDelivery(await fetched(COPY), bounces);
  expect([status, recipients[0]?.status, recipients[1]?.status]).toEqual(["bounced", "bounced", "sent"]);
});

test("a message is named by its folder, the folder's state and its number; a thread by the message that began it", () => {
  expect(buildMailId({ folder: "INBOX/a:b", validity: "7", uid: 12 })).toBe("INBOX/a:b:7:12");
  expect(findThread({ messageId: "<2@x>", references: ["<1@x>"] })).toBe("<1@x>");
  expect(findThread({ messageId: "<2@x>", references: [] })).toBe("<2@x>");
});
