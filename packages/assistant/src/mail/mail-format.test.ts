import fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToText, type MailCopy, readMail, writeMail } from "./mail-format.ts";
import type { OutgoingMail } from "./mail-provider.ts";

const FROM = { name: "Alex Kim", address: "alex@retinue.example" };
const DATE = new Date("2026-11-16T09:00:00Z");
const MAIL: OutgoingMail = {
  messageId: "<retinue-1@retinue.example>",
  to: ["priya@retinue.example"],
  cc: [],
  bcc: [],
  subject: "Hello",
  text: "One\nTwo",
};

const write = (mail: Partial<OutgoingMail>, copy: MailCopy = "sent", from = FROM) =>
  writeMail({ ...MAIL, ...mail }, { copy, from, date: DATE });
const toBytes = (text: string) => Buffer.from(text.replaceAll("\n", "\r\n"));
const readHeaders = (bytes: Uint8Array) =>
  (Buffer.from(bytes).toString("latin1").split("\r\n\r\n")[0] ?? "").split(/\r\n(?![ \t])/);

test("a written message is read back the same", async () => {
  const references = ["<a@x.example>", "<b@x.example>"];
  const bytes = await write({
    cc: ["jonas@retinue.example"],
    bcc: ["mei@retinue.example"],
    subject: "Größe – 你好",
    inReplyTo: "<b@x.example>",
    references,
  });
  const read = await readMail(bytes);
  expect(read).toMatchObject({
    messageId: "<retinue-1@retinue.example>",
    from: FROM,
    to: [{ address: "priya@retinue.example" }],
    cc: [{ address: "jonas@retinue.example" }],
    bcc: [{ address: "mei@retinue.example" }],
    subject: "Größe – 你好",
    dateMs: DATE.getTime(),
    references,
    text: "One\nTwo",
    isLocal: true,
    isDraft: false,
  });
});

test("the copy for a reader names no hidden recipients", async () => {
  const received = await write({ bcc: ["secret@x.example"] }, "received");
  expect(Buffer.from(received).toString()).not.toContain("secret@x.example");
});

test("no text becomes a header of its own", async () => {
  const breaks = fc.constantFrom("\r\n", "\n", "\r", "\u2028", "\0", "\x0b");
  const evil = fc
    .tuple(fc.string(), breaks, fc.string())
    .map(([a, b, c]) => `${a}${b}Bcc: x@evil.example${b}${b}${c}`);
  const names = new Set(
    "from to subject message-id date mime-version content-type content-transfer-encoding x-retinue-delivery".split(
      " ",
    ),
  );
  await fc.assert(
    fc.asyncProperty(evil, evil, evil, async (subject, name, text) => {
      const bytes = await write({ subject, text }, "sent", { ...FROM, name });
      for (const line of readHeaders(bytes)) expect(names).toContain(line.split(":")[0]?.toLowerCase());
      expect((await readMail(bytes)).bcc).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test.each([
  "a@b.example, c@d.example",
  "a@b.example\r\nBcc: c@d.example",
  '"x@acme.example" <y@evil.example>',
  "nobody",
  "a b@c.example",
  "",
])("%j is refused as a recipient", async (address) => {
  await expect(write({ to: [address] })).rejects.toMatchObject({ type: "params" });
});

test("an invalid Message-ID is refused", async () => {
  await expect(write({ messageId: "<a>\r\nX: y" })).rejects.toMatchObject({ type: "params" });
});

test("texts with halves of characters and NUL are written and read", async () => {
  const read = await readMail(await write({ subject: "a\uD800b", text: "x\uDC00y\0z" }));
  expect(read.subject).toBe("a\uFFFDb");
  expect(read.text).toContain("x\uFFFDy");
});

test("a message nested too deep is refused, not followed", async () => {
  let bomb = "";
  for (let depth = 0; depth < 2000; depth++)
    bomb += `Content-Type: multipart/mixed; boundary="b${depth}"\r\n\r\n--b${depth}\r\n`;
  await expect(readMail(Buffer.from(`From: a@b.example\r\n${bomb}`))).rejects.toThrow();
});

test("messages within messages are followed only so far", async () => {
  let text = "Subject: innermost\r\n\r\ndeep text\r\n";
  for (let depth = 0; depth < 50; depth++)
    text = `Subject: ${depth}\r\nContent-Type: message/rfc822\r\n\r\n${text}`;
  const read = await readMail(Buffer.from(text));
  expect(read.attachments).toHaveLength(1);
});

test("a message of ten megabytes is read", async () => {
  const read = await readMail(toBytes(`Subject: large\n\n${`${"0123456789 ".repeat(30)}\n`.repeat(32_000)}`));
  expect(read.subject).toBe("large");
  expect(read.text.length).toBeGreaterThan(10_000_000);
  await expect(readMail(Buffer.alloc(1_000_000, "\n"))).rejects.toThrow("lines");
});

test("what no mail program shows is not in the text of an HTML mail", async () => {
  const html = `<title>t</title><p>Seen &amp; read</p><script>bad()</script><div style="DISPLAY : none">hidden</div>
    <span hidden>gone</span><span style="font-size:0px">tiny</span><a href="https://x.example/a">here</a>
    <a href="javascript:bad()">there</a><ul><li>one</li><li>two</li></ul>`;
  const text = await htmlToText(html);
  expect(text).toBe("Seen & read\nhere (https://x.example/a) there\n\n- one\n\n- two");
});

test("deeply nested HTML does not exhaust the stack", async () => {
  expect(await htmlToText(`${"<div>".repeat(50_000)}end`)).toBe("end");
});

const REPORT = (action: string) => `From: mailer-daemon@mx.example
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

It failed.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example

Final-Recipient: rfc822; Gone@Acme.example
Action: ${action}
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1
 no such user

--b
Content-Type: message/rfc822

Message-ID: <retinue-1@retinue.example>
Subject: Hello

Text
--b--
`;

test("a delivery report names the message, the recipient and the server's words", async () => {
  const { bounces } = await readMail(toBytes(REPORT("failed")));
  expect(bounces).toEqual([
    {
      messageId: "<retinue-1@retinue.example>",
      address: "gone@acme.example",
      detail: "550 5.1.1 no such user",
    },
  ]);
});

test("a report of a delay is not a bounce, nor is a mail that only talks about one", async () => {
  expect((await readMail(toBytes(REPORT("delayed")))).bounces).toEqual([]);
  const talk = "Subject: x\nIn-Reply-To: <a@b>\n\nFinal-Recipient: rfc822; a@b.example\nAction: failed\n";
  expect((await readMail(toBytes(talk))).bounces).toEqual([]);
});

test("any bytes are read or refused with an error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
      const read = await readMail(bytes).catch((thrown: unknown) => thrown);
      expect(typeof read).toBe("object");
    }),
    { numRuns: 200 },
  );
});

test("a message within a very long message is an attachment, and not gone through again", async () => {
  const within = (lines: number) =>
    `From: a@b.example\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\n${"hello\r\n".repeat(lines)}`;
  expect((await readMail(Buffer.from(within(10)))).text).toContain("hello");
  const long = await readMail(Buffer.from(within(60_000)));
  expect([long.text, long.attachments]).toMatchObject(["", [{ type: "message/rfc822" }]]);
});
