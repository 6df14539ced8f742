import fc from "fast-check";
import { expect, test } from "vitest";
import type { OutgoingMail } from "../mail/mail-provider.ts";
import { type EmbeddedStore, openEmbedded } from "./embedded-store.ts";
import { importMail } from "./import-files.ts";
import { createReport } from "./import-source.ts";
import { readFiledMail } from "./mbox.ts";

const NOW = Date.parse("2026-11-16T09:00:00Z");
const { signal } = new AbortController();
const OWNER = { name: "Alex Kim", address: "alex@retinue.example" };

function openStore(): EmbeddedStore {
  return openEmbedded({ file: ":memory:", now: () => NOW, zone: "Europe/Berlin", owner: OWNER });
}

const outgoing = (mail: Partial<OutgoingMail>): OutgoingMail => ({
  messageId: "<retinue-1@retinue.example>",
  to: ["dana.ortiz@acme.example"],
  cc: [],
  bcc: [],
  subject: "Pilot",
  text: "See you on Tuesday.",
  ...mail,
});

async function receive(store: EmbeddedStore, text: string) {
  const report = createReport();
  await importMail({ database: store.database(), file: "x.eml", report }, readFiledMail(Buffer.from(text)));
  return report;
}

test("a mail to others is kept in Sent and never reported as delivered", async () => {
  const store = openStore();
  const sent = await store.mail.send(outgoing({ cc: ["sam@acme.example"] }), signal);
  expect(sent.delivery.status).toBe("queued");
  expect(sent.delivery.recipients).toEqual([
    {
      address: "dana.ortiz@acme.example",
      status: "queued",
      detail: expect.stringContaining("add an account"),
    },
    { address: "sam@acme.example", status: "queued", detail: expect.stringContaining("add an account") },
  ]);
  const message = await store.mail.get(sent.id, signal);
  expect(message).toMatchObject({
    text: "See you on Tuesday.",
    from: OWNER,
    unread: false,
  });
  expect((await store.mail.search({ text: "in:inbox", limit: 10 }, signal)).total).toBe(0);
});

test("a mail to the owner arrives in the inbox, unread and without its hidden recipients", async () => {
  const store = openStore();
  const mail = outgoing({ to: [OWNER.address], bcc: ["mei@retinue.example"] });
  const sent = await store.mail.send(mail, signal);
  expect(sent.delivery.recipients[0]).toEqual({ address: OWNER.address, status: "delivered" });
  expect(sent.delivery.status).toBe("queued");
  const { messages } = await store.mail.search({ unread: true, limit: 10 }, signal);
  expect(messages).toHaveLength(1);
  const arrived = await store.mail.get(messages[0]?.id ?? "", signal);
  expect(arrived.bcc).toEqual([]);
  expect(arrived.threadId).toBe(sent.threadId);
});

test("the same Message-ID is sent once, and is found again", async () => {
  const store = openStore();
  expect(await store.mail.findByMessageId("<retinue-1@retinue.example>", "sent", signal)).toBeNull();
  const first = await store.mail.send(outgoing({ to: [OWNER.address] }), signal);
  const second = await store.mail.send(outgoing({ to: [OWNER.address], text: "again" }), signal);
  expect(second.id).toBe(first.id);
  expect((await store.mail.search({ limit: 10 }, signal)).total).toBe(2);
  expect(await store.mail.findByMessageId("<retinue-1@retinue.example>", "sent", signal)).toEqual(first);
  expect(await store.mail.findByMessageId("<retinue-1@retinue.example>", "draft", signal)).toBeNull();
});

test("a draft is kept, found by its Message-ID, and is in no search", async () => {
  const store = openStore();
  const draft = await store.mail.draft(outgoing({}), signal);
  const { messageId } = outgoing({});
  expect(await store.mail.findByMessageId(messageId, "draft", signal)).toMatchObject({ id: draft.id });
  expect((await store.mail.search({ text: "pilot", limit: 10 }, signal)).total).toBe(0);
  expect((await store.mail.delivery(draft.id, signal)).status).toBe("unknown");
});

test("a delivery report makes its recipient bounced and nobody else", async () => {
  const store = openStore();
  const to = ["gone@acme.example", "dana.ortiz@acme.example"];
  const sent = await store.mail.send(outgoing({ to }), signal);
  await receive(
    store,
    `From: mailer-daemon@mx.example\nMessage-ID: <r@mx>\nIn-Reply-To: <retinue-1@retinue.example>\nX-Failed-Recipients: gone@acme.example\n\nIt failed.\n`,
  );
  const delivery = await store.mail.delivery(sent.id, signal);
  expect(delivery.status).toBe("bounced");
  expect(delivery.recipients.map(({ status }) => status)).toEqual(["bounced", "queued"]);
});

test("messages that refer to each other are one thread, in whatever order they come", async () => {
  const mails = [
    "Message-ID: <1@x>\nFrom: a@x.example\nSubject: s\n\none\n",
    "Message-ID: <2@x>\nIn-Reply-To: <1@x>\nFrom: b@x.example\nSubject: s\n\ntwo\n",
    "Message-ID: <3@x>\nReferences: <2@x>\nFrom: c@x.example\nSubject: s\n\nthree\n",
    "Message-ID: <4@x>\nReferences: <1@x> <3@x>\nFrom: d@x.example\nSubject: s\n\nfour\n",
  ];
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(mails, { minLength: 4 }), async (order) => {
      const store = openStore();
      await receive(store, "Message-ID: <other@x>\nFrom: z@x.example\nSubject: s\n\nother\n");
      for (const mail of order) await receive(store, mail);
      const { messages } = await store.mail.search({ limit: 10 }, signal);
      expect(new Set(messages.map(({ threadId }) => threadId)).size).toBe(2);
      store.close();
    }),
    { numRuns: 12 },
  );
});

test("a reply joins the thread it answers", async () => {
  const store = openStore();
  await receive(store, "Message-ID: <1@x>\nFrom: Dana <a@x.example>\nSubject: s\n\none\n");
  const [first] = (await store.mail.search({ limit: 1 }, signal)).messages;
  const sent = await store.mail.send(outgoing({ inReplyTo: "<1@x>", references: ["<1@x>"] }), signal);
  expect(sent.threadId).toBe(first?.threadId);
});

test("searches narrow by every field, and know no operators", async () => {
  const store = openStore();
  const mail = (id: number, more: string, body: string) =>
    receive(store, `Message-ID: <${id}@x>\nTo: alex@retinue.example\n${more}\n\n${body}\n`);
  await mail(
    1,
    "From: Dana Ortiz <dana@acme.example>\nSubject: Q3 budget\nDate: 1 Nov 2026 10:00 +0000",
    "Numbers",
  );
  await mail(
    2,
    "From: José <jose@acme.example>\nSubject: Menu\nDate: 5 Nov 2026 10:00 +0000\nStatus: RO",
    "Budgets again",
  );
  await mail(3, "From: Mei <mei@x.example>\nSubject: Other\nDate: 9 Nov 2026 10:00 +0000", "nothing");
  const ids = async (query: object) =>
    (await store.mail.search({ limit: 10, ...query }, signal)).messages.map(({ subject }) => subject);
  expect(await ids({ text: "budget" })).toEqual(["Menu", "Q3 budget"]);
  expect(await ids({ text: "budget", from: "dana" })).toEqual(["Q3 budget"]);
  expect(await ids({ from: "jose" })).toEqual(["Menu"]);
  expect(await ids({ from: "Dana Ortiz" })).toEqual(["Q3 budget"]);
  expect(await ids({ subject: "q3" })).toEqual(["Q3 budget"]);
  expect(await ids({ unread: false })).toEqual(["Menu"]);
  expect(await ids({ unread: true })).toEqual(["Other", "Q3 budget"]);
  expect(await ids({ text: "is:unread" })).toEqual([]);
  expect(await ids({ after: "2026-11-05T10:00:00Z", before: "2026-11-09T10:00:00Z" })).toEqual(["Menu"]);
  expect(await ids({ after: "2026-11-06" })).toEqual(["Other"]);
  expect(await ids({ to: "alex", hasAttachment: true })).toEqual([]);
  expect(await ids({ text: '"budgets again"' })).toEqual(["Menu"]);
  expect((await store.mail.search({ limit: 1 }, signal)).total).toBe(3);
  await expect(store.mail.search({ after: "soon", limit: 1 }, signal)).rejects.toMatchObject({
    type: "params",
  });
});

test("nothing in a query is read as syntax", async () => {
  const store = openStore();
  await store.mail.send(outgoing({}), signal);
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      '"',
      "AND OR NOT",
      "subject:",
      "NEAR(a b)",
      "*",
      "a*",
      "{x}:y",
      "-pilot",
      "';DROP TABLE mails;--",
      "\uD800",
    ),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, async (text, from) => {
      const { total } = await store.mail.search({ text, from, subject: text, limit: 5 }, signal);
      expect(total).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 100 },
  );
  expect((await store.mail.search({ limit: 5 }, signal)).total).toBe(1);
});

test("an unknown id is a fault of the parameters", async () => {
  const store = openStore();
  await expect(store.mail.get("x\0y", signal)).rejects.toMatchObject({ name: "ToolFault", type: "params" });
  await expect(store.mail.delivery("x", signal)).rejects.toMatchObject({ name: "ToolFault", type: "params" });
});

test("a cancelled call does nothing, and a closed store says so", async () => {
  const store = openStore();
  await expect(store.mail.send(outgoing({}), AbortSignal.abort())).rejects.toMatchObject({
    name: "ToolFault",
  });
  expect((await store.mail.search({ limit: 5 }, signal)).total).toBe(0);
  store.close();
  await expect(store.mail.search({ limit: 5 }, signal)).rejects.toMatchObject({ name: "ToolFault" });
});

test("`me` means the owner, and words without spaces between them are found", async () => {
  const store = openStore();
  await store.mail.send(outgoing({}), signal);
  await receive(
    store,
    "From: James <james@acme.example>\nTo: alex@retinue.example\nSubject: 会議の資料\nDate: Sat, 31 Oct 2026 23:30:00 +0000\n\n明日の会議について\n",
  );
  const subjects = async (query: object) =>
    (await store.mail.search({ limit: 10, ...query }, signal)).messages.map(({ subject }) => subject);
  expect(await subjects({ from: "me" })).toEqual(["Pilot"]);
  expect(await subjects({ to: "me" })).toEqual(["会議の資料"]);
  expect(await subjects({ text: "会議 acme" })).toEqual(["会議の資料"]);
  expect(await subjects({ text: "資料 pilot" })).toEqual([]);
});

test("a different message with a known Message-ID is left out and reported", async () => {
  const store = openStore();
  const text = (body: string) =>
    `From: dana@acme.example\nTo: alex@retinue.example\nSubject: s\nMessage-ID: <same@acme.example>\n\n${body}\n`;
  await receive(store, text("first"));
  expect(await receive(store, text("first"))).toMatchObject({ skipped: 1, problems: [] });
  expect(await receive(store, text("second"))).toMatchObject({
    skipped: 0,
    problems: [{ message: expect.stringContaining("<same@acme.example> is there already") }],
  });
  const { messages } = await store.mail.search({ limit: 5 }, signal);
  expect(messages.map(({ snippet }) => snippet)).toEqual(["first"]);
});
