import type { Google } from "@retinue/assistant/google/open-google";
import type { OutgoingMail } from "@retinue/assistant/mail/mail-provider";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type EmulatedGoogle, OWNER, startGoogle } from "./google-emulators.ts";

const signal = new AbortController().signal;
const DANA = "dana.ortiz@acme.example";
const LIST = "GET /gmail/v1/users/me/messages";

let emulated: EmulatedGoogle;
let google: Google;
beforeAll(async () => {
  emulated = await startGoogle({
    messages: [
      {
        id: "m1",
        thread_id: "t1",
        from: "Dana Ortiz <dana.ortiz@acme.example>",
        to: `Alex Kim <${OWNER}>`,
        subject: "Q3 budget",
        body_text: "Please look at the numbers & answer.",
        label_ids: ["INBOX", "UNREAD"],
        date: "2026-11-10T09:00:00.000Z",
        message_id: "<budget@acme.example>",
      },
      {
        id: "m2",
        thread_id: "t2",
        from: "billing@vendor.example",
        to: OWNER,
        subject: "Invoice 42",
        body_text: "Invoice: 42 EUR.",
        label_ids: ["INBOX"],
        date: "2026-11-12T09:00:00.000Z",
      },
    ],
  });
  google = emulated.open();
});
afterEach(() => emulated.proxy.clear());
afterAll(() => emulated.close());

const buildMail = (name: string, more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  messageId: `<retinue-${name}@retinue.example>`,
  to: [DANA],
  cc: [],
  bcc: [],
  subject: `About ${name}`,
  text: "Hello Dana.",
  ...more,
});

test("tells the owner's address, asking Gmail if the account does not know it", async () => {
  await expect(emulated.open({ address: undefined }).mail.self(signal)).resolves.toEqual({
    address: OWNER,
  });
});

test("finds messages, newest first, by text, sender, subject, time and state", async () => {
  const { mail } = google;
  const ids = async (query: object) =>
    (await mail.search({ limit: 10, ...query }, signal)).messages.map(({ id }) => id);
  expect(await ids({ after: "2026-11-01", before: "2026-11-14" })).toEqual(["m2", "m1"]);
  expect(await ids({ text: "numbers" })).toEqual(["m1"]);
  expect(await ids({ from: "billing@vendor.example" })).toEqual(["m2"]);
  expect(await ids({ subject: "Q3 budget" })).toEqual(["m1"]);
  expect(await ids({ unread: true, before: "2026-11-14" })).toEqual(["m1"]);
  expect(await ids({ after: "2026-11-10T09:00:00.001Z", before: "2026-11-14" })).toEqual(["m2"]);
  expect(await ids({ text: "is:unread from:dana.ortiz" })).toEqual([]);
});

test("counts what there is beyond the limit", async () => {
  const { messages, total } = await google.mail.search({ limit: 1, before: "2026-11-14" }, signal);
  expect(messages).toEqual([
    {
      id: "m2",
      threadId: "t2",
      from: { address: "billing@vendor.example" },
      to: [{ address: OWNER }],
      subject: "Invoice 42",
      date: "2026-11-12T09:00:00.000Z",
      snippet: expect.stringContaining("Invoice"),
      unread: false,
    },
  ]);
  expect(total).toBe(2);
});

test("reads a message in full", async () => {
  expect(await google.mail.get("m1", signal)).toMatchObject({
    id: "m1",
    threadId: "t1",
    messageId: "<budget@acme.example>",
    from: { name: "Dana Ortiz", address: DANA },
    to: [{ name: "Alex Kim", address: OWNER }],
    text: expect.stringContaining("numbers & answer"),
    attachments: [],
  });
});

test("makes text of a message that is only HTML", async () => {
  const id = await emulated.receive(
    `From: billing@vendor.example\nTo: ${OWNER}\nSubject: Invoice\nContent-Type: text/html; charset=utf-8\n\n` +
      "<style>p{}</style><h1>Invoice</h1><p>Pay <b>42 EUR</b> &amp; smile</p><script>steal()</script>",
  );
  const { text } = await google.mail.get(id, signal);
  expect(text).toContain("Invoice");
  expect(text).toContain("42 EUR");
  expect(text).toContain("& smile");
  expect(text).not.toContain("steal()");
});

test("lists attachments with their sizes, and encoded names and subjects readably", async () => {
  const id = await emulated.receive(
    [
      "From: =?utf-8?B?Wm/DqyBNw7xsbGVy?= <zoe@acme.example>",
      `To: ${OWNER}`,
      "Subject: =?utf-8?Q?Angebot_f=C3=BCr_Q4?=",
      "Message-ID: <offer@acme.example>",
      "References: <a@x> <b@x>",
      "Reply-To: sales@acme.example",
      'Content-Type: multipart/mixed; boundary="x"',
      "",
      "--x",
      "Content-Type: text/plain; charset=utf-8",
      "",
      "See the file.",
      "--x",
      'Content-Type: application/pdf; name="offer.pdf"',
      'Content-Disposition: attachment; filename="offer.pdf"',
      "Content-Transfer-Encoding: base64",
      "",
      "JVBERi0=",
      "--x--",
    ].join("\n"),
  );
  expect(await google.mail.get(id, signal)).toMatchObject({
    from: { name: "Zoë Müller", address: "zoe@acme.example" },
    subject: "Angebot für Q4",
    references: ["<a@x>", "<b@x>"],
    replyTo: [{ address: "sales@acme.example" }],
    attachments: [{ name: "offer.pdf", type: "application/pdf", bytes: 5 }],
    unread: true,
  });
  const { messages } = await google.mail.search({ limit: 1, from: "zoe@acme.example" }, signal);
  expect(messages[0]).toMatchObject({ from: { name: "Zoë Müller" }, subject: "Angebot für Q4" });
});

test("names the message that does not exist", async () => {
  await expect(google.mail.get("nothing", signal)).rejects.toMatchObject({
    type: "params",
    message: expect.stringContaining("message 'nothing'"),
  });
  await expect(google.mail.get("../../drafts/1", signal)).rejects.toMatchObject({ type: "params" });
});

test("sends with our Message-ID, the Bcc in the header and no header from a subject", async () => {
  const mail = buildMail("sent", {
    cc: ["sam.whitfield@acme.example"],
    bcc: ["ruth.okafor@acme.example"],
    subject: "Numbers\r\nBcc: thief@evil.example",
    text: "Grüße\n.\nFrom the team",
  });
  const { id, delivery } = await google.mail.send(mail, signal);
  expect(delivery.status).toBe("sent");
  expect(delivery.recipients.map(({ address }) => address)).toEqual([...mail.to, ...mail.cc, ...mail.bcc]);
  const sent = await google.mail.get(id, signal);
  expect(sent).toMatchObject({
    messageId: mail.messageId,
    from: { address: OWNER },
    cc: [{ address: "sam.whitfield@acme.example" }],
    bcc: [{ address: "ruth.okafor@acme.example" }],
  });
  expect(sent.text.trim()).toBe("Grüße\n.\nFrom the team");
});

test("answers within the thread", async () => {
  const mail = buildMail("reply", {
    inReplyTo: "<budget@acme.example>",
    references: ["<budget@acme.example>"],
    threadId: "t1",
  });
  const { id, threadId } = await google.mail.send(mail, signal);
  expect(threadId).toBe("t1");
  expect((await google.mail.get(id, signal)).references).toEqual(["<budget@acme.example>"]);
});

test("finds what was sent and what was kept as a draft by its Message-ID, and neither as the other", async () => {
  const { mail } = google;
  const sent = await mail.send(buildMail("found"), signal);
  const draft = await mail.draft(buildMail("draft"), signal);
  const find = (name: string, kind: "sent" | "draft") =>
    mail.findByMessageId(`<retinue-${name}@retinue.example>`, kind, signal);
  expect(await find("found", "sent")).toMatchObject({ id: sent.id, threadId: sent.threadId });
  expect(await find("draft", "draft")).toMatchObject({ id: draft.id });
  expect(await find("found", "draft")).toBeNull();
  expect(await find("draft", "sent")).toBeNull();
  expect(await find("never", "sent")).toBeNull();
  await expect(mail.findByMessageId("x OR in:inbox", "sent", signal)).rejects.toMatchObject({
    type: "params",
  });
});

test("reports a message as sent, not delivered, until more is known", async () => {
  const { id } = await google.mail.send(buildMail("plain"), signal);
  const delivery = await google.mail.delivery(id, signal);
  expect(delivery).toMatchObject({ status: "sent", recipients: [{ address: DANA, status: "sent" }] });
});

test("reads bounces that name the message, and takes none that is about another", async () => {
  const mail = buildMail("bounced", { to: [DANA, "gone@acme.example"] });
  const { id, threadId } = await google.mail.send(mail, signal);
  await emulated.receive(buildNotice(mail.messageId), threadId);
  await emulated.receive(buildNotice("<other@retinue.example>").replaceAll("gone@", "dana.ortiz@"));
  expect(await google.mail.delivery(id, signal)).toMatchObject({
    status: "bounced",
    recipients: [
      { address: DANA, status: "sent" },
      { address: "gone@acme.example", status: "bounced", detail: "550 5.1.1 no such user" },
    ],
  });
  await expect(google.mail.delivery("m1", signal)).rejects.toMatchObject({ type: "params" });
});

test("what is sent carries one Bcc header and names its Message-ID twice, should Gmail give it another", async () => {
  await google.mail.send(buildMail("wire", { bcc: ["ruth.okafor@acme.example"] }), signal);
  const { raw } = JSON.parse(emulated.proxy.requests.at(-1)?.body ?? "") as { raw: string };
  const [head = ""] = Buffer.from(raw, "base64url").toString().split("\r\n\r\n");
  const headers = head.split(/\r\n(?=\S)/);
  expect(headers.filter((line) => /^bcc:/i.test(line))).toEqual(["Bcc: ruth.okafor@acme.example"]);
  expect(headers).toContain("Message-ID: <retinue-wire@retinue.example>");
  expect(headers).toContain("X-Retinue-Message-ID: <retinue-wire@retinue.example>");
});

test("a message whose Message-ID Gmail has replaced is found by the one it was sent with", async () => {
  const answer = (body: object) => ({ kind: "status", status: 200, body }) as const;
  const headers = [
    { name: "Message-ID", value: "<CAJ-other@mail.gmail.com>" },
    { name: "X-Retinue-Message-ID", value: "<retinue-replaced@retinue.example>" },
    { name: "To", value: DANA },
  ];
  const message = {
    id: "z1",
    threadId: "t9",
    labelIds: ["SENT"],
    internalDate: "1793491199000",
    payload: { headers },
  };
  emulated.proxy.script(LIST, answer({ resultSizeEstimate: 0 }), answer({ messages: [{ id: "z1" }] }));
  emulated.proxy.script(`${LIST}/z1`, answer(message));
  const found = await google.mail.findByMessageId("<retinue-replaced@retinue.example>", "sent", signal);
  expect(found).toMatchObject({ id: "z1", delivery: { recipients: [{ address: DANA, status: "sent" }] } });
});

test("a search reads page after page until its limit, and skips what was deleted meanwhile", async () => {
  for (let count = 0; count < 7; count++)
    await google.mail.send(buildMail(`page${count}`, { subject: "Paging" }), signal);
  emulated.proxy.clear();
  const page = (...ids: string[]) =>
    ({
      kind: "status",
      status: 200,
      body: { messages: ids.map((id) => ({ id })), nextPageToken: "next" },
    }) as const;
  emulated.proxy.script(LIST, page("m1", "gone"), page("m2"), { kind: "status", status: 200, body: {} });
  const { messages } = await google.mail.search({ limit: 10 }, signal);
  expect(messages.map(({ id }) => id)).toEqual(["m2", "m1"]);
  expect(emulated.proxy.requests.slice(0, 3).map(({ query }) => query.get("pageToken"))).toEqual([
    null,
    "next",
    "next",
  ]);
  expect((await google.mail.search({ limit: 10, subject: "Paging" }, signal)).total).toBe(7);
});

test("a message that nests too deeply to be read is a fault, not a crash", async () => {
  const parts = Array.from({ length: 400 }, (_, depth) => [
    `Content-Type: multipart/mixed; boundary="b${depth}"`,
    "",
    `--b${depth}`,
  ]);
  const id = await emulated.receive(
    ["From: a@b.example", `To: ${OWNER}`, ...parts.flat(), "", "x"].join("\n"),
  );
  await expect(google.mail.get(id, signal)).rejects.toMatchObject({ type: "tool_error", name: "ToolFault" });
});

function buildNotice(messageId: string): string {
  return [
    "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
    `To: ${OWNER}`,
    "Subject: Delivery Status Notification (Failure)",
    `In-Reply-To: ${messageId}`,
    'Content-Type: multipart/report; report-type=delivery-status; boundary="r"',
    "",
    "--r",
    "Content-Type: text/plain",
    "",
    "It failed.",
    "--r",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; googlemail.com",
    "",
    "Final-Recipient: rfc822; gone@acme.example",
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 no",
    " such user",
    "",
    "--r--",
  ].join("\n");
}
