import { openImap } from "@retinue/assistant/imap/imap-mail";
import { createImapSession, type ImapOptions } from "@retinue/assistant/imap/imap-session";
import { sendBySmtp } from "@retinue/assistant/imap/smtp";
import type { MailProvider, OutgoingMail } from "@retinue/assistant/mail/mail-provider";
import { ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasProgram } from "../fixtures/local-service.ts";
import { PASSWORD, startCutter, startDovecot, startSmtp } from "../fixtures/mail-servers.ts";

const NOW = Date.UTC(2026, 10, 16, 9);
const signal = new AbortController().signal;
let users = 0;

function mailTo(to: readonly string[], more: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    messageId: `<retinue-${++users}@retinue.example>`,
    to,
    cc: [],
    bcc: [],
    subject: "The Q3 budget",
    text: "Grüße, the numbers are attached.",
    ...more,
  };
}

/** What a call fails with. */
async function fault(call: Promise<unknown>): Promise<ToolFault> {
  const error = await call.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ToolFault) return error;
  throw error;
}

describe.skipIf(!hasProgram("dovecot", "--version"))("a mailbox on dovecot", () => {
  let dovecot: Awaited<ReturnType<typeof startDovecot>>;
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  const open: MailProvider[] = [];
  let options: ImapOptions;
  let mailbox: MailProvider;

  beforeAll(async () => {
    [dovecot, smtp] = await Promise.all([startDovecot(), startSmtp()]);
  });
  afterAll(async () => {
    await Promise.all(open.map((provider) => provider.close?.()));
    await Promise.all([dovecot?.stop(), smtp?.stop()]);
  });
  beforeEach(() => {
    smtp.taken.length = 0;
    options = optionsFor({});
    mailbox = opened(options);
  });

  function optionsFor(more: Partial<ImapOptions>): ImapOptions {
    return {
      address: "alex@retinue.example",
      name: "Alex Kim",
      user: `user${++users}`,
      password: PASSWORD,
      imap: { host: "127.0.0.1", port: dovecot.port, secure: false },
      smtp: { host: "127.0.0.1", port: smtp.port, secure: false },
      now: () => NOW,
      ...more,
    };
  }

  function opened(some: ImapOptions): MailProvider {
    const provider = openImap(some);
    open.push(provider);
    return provider;
  }

  /** Lays a message into a folder, as another program would. */
  async function arrives(source: string, flags: string[] = [], folder = "INBOX", at = NOW): Promise<void> {
    const session = createImapSession(options);
    const text = source.replace(/\r?\n/g, "\r\n");
    await session.run(signal, (client) => client.append(folder, text, flags, new Date(at)));
    await session.close();
  }

  const mail = (subject: string, more = "", body = "Hello Alex") =>
    `From: Dana Ortiz <dana.ortiz@acme.example>\nTo: alex@retinue.example\nSubject: ${subject}\nDate: Sun, 15 Nov 2026 10:00:00 +0100\nMessage-ID: <${subject.replace(/\W/g, "")}@acme.example>\n${more}\n${body}\n`;

  test("a message is found by its words, sender, age and whether it was read, the newest first", async () => {
    await arrives(mail("Invoice 7"), ["\\Seen"], "INBOX", NOW - 3 * 86_400_000);
    await arrives(mail("Invoice 8"), [], "Archive", NOW - 86_400_000);
    await arrives(mail("Lunch"), [], "INBOX", NOW);
    const found = async (query: object) =>
      (await mailbox.search({ limit: 10, ...query }, signal)).messages.map(({ subject }) => subject);
    expect(await found({})).toEqual(["Lunch", "Invoice 8", "Invoice 7"]);
    expect(await found({ subject: "invoice" })).toEqual(["Invoice 8", "Invoice 7"]);
    expect(await found({ from: "dana", subject: "invoice", unread: true })).toEqual(["Invoice 8"]);
    expect(await found({ after: new Date(NOW - 2 * 86_400_000).toISOString() })).toEqual([
      "Lunch",
      "Invoice 8",
    ]);
    expect(await found({ before: new Date(NOW - 2 * 86_400_000).toISOString() })).toEqual(["Invoice 7"]);
    expect(await found({ text: "alex hello nowhere" })).toEqual([]);
    expect(await found({ text: 'a" OR ALL\r\nX LOGOUT' })).toEqual([]);
    const limited = await mailbox.search({ limit: 1 }, signal);
    expect([limited.messages.length, limited.total]).toEqual([1, 3]);
  });

  test("attachments are told apart and named, and HTML becomes text", async () => {
    const parts =
      'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/html\n\n<p>See <b>this</b></p>\n--b\nContent-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="a.pdf"\nContent-Transfer-Encoding: base64\n\nUERG\n--b--';
    await arrives(mail("With", parts, ""));
    await arrives(mail("Without"));
    const { messages } = await mailbox.search({ hasAttachment: true, limit: 10 }, signal);
    expect(messages.map(({ subject }) => subject)).toEqual(["With"]);
    const message = await mailbox.get(messages[0]?.id ?? "", signal);
    expect(message.text).toContain("See");
    expect(message.text).not.toContain("<p>");
    expect(message.attachments).toEqual([{ name: "a.pdf", type: "application/pdf", bytes: 3 }]);
    expect(message.id).toMatch(/^INBOX:/);
    expect(message.from).toEqual({ name: "Dana Ortiz", address: "dana.ortiz@acme.example" });
  });

  test("an id that names nothing is a fault of the call, not of the service", async () => {
    for (const id of ["nonsense", "INBOX:1:1", "Nowhere:1:1", "INBOX:999999:1"])
      expect((await fault(mailbox.get(id, signal))).type).toBe("params");
  });

  test("a message is sent once under its own Message-ID and its copy is found again", async () => {
    const outgoing = mailTo(["sarah@client.com"], { cc: ["john@company.com"], bcc: ["hidden@client.com"] });
    expect(await mailbox.findByMessageId(outgoing.messageId, "sent", signal)).toBeNull();
    const sent = await mailbox.send(outgoing, signal);
    expect(sent.delivery).toEqual({
      status: "sent",
      recipients: ["sarah@client.com", "john@company.com", "hidden@client.com"].map((address) => ({
        address,
        status: "sent",
      })),
      timestamp: "2026-11-16T09:00:00.000Z",
    });
    expect(smtp.taken).toHaveLength(1);
    expect(smtp.taken[0]?.to).toEqual(["sarah@client.com", "john@company.com", "hidden@client.com"]);
    expect(smtp.taken[0]?.source).toContain(`Message-ID: ${outgoing.messageId}`);
    expect(smtp.taken[0]?.source).not.toContain("hidden@client.com");
    const found = await mailbox.findByMessageId(outgoing.messageId, "sent", signal);
    expect(found?.id).toBe(sent.id);
    expect(await mailbox.delivery(sent.id, signal)).toEqual(sent.delivery);
    expect((await mailbox.get(sent.id, signal)).bcc).toEqual([{ address: "hidden@client.com" }]);
    expect(
      await mailbox.findByMessageId(outgoing.messageId.replace("retinue-", "etinue-"), "sent", signal),
    ).toBeNull();
  });

  test("recipients the server refuses are rejected with its words, the others are sent to", async () => {
    const sent = await mailbox.send(mailTo(["sarah@client.com", "ghost@no.example"]), signal);
    expect(sent.delivery.status).toBe("rejected");
    expect(sent.delivery.recipients).toEqual([
      { address: "sarah@client.com", status: "sent" },
      {
        address: "ghost@no.example",
        status: "rejected",
        detail: expect.stringContaining("5.1.1 no such user"),
      },
    ]);
    expect(smtp.taken[0]?.to).toEqual(["sarah@client.com"]);
    expect(await mailbox.delivery(sent.id, signal)).toEqual(sent.delivery);
  });

  test("if all recipients are refused nothing is sent and no copy stays", async () => {
    const never = mailTo(["ghost@no.example"]);
    expect(await fault(mailbox.send(never, signal))).toMatchObject({
      type: "params",
      message: expect.stringContaining("ghost@no.example: 550 5.1.1 no such user"),
    });
    expect((await fault(mailbox.send(mailTo(["busy@later.example"]), signal))).type).toBe("network");
    expect(await mailbox.findByMessageId(never.messageId, "sent", signal)).toBeNull();
    expect(smtp.taken).toEqual([]);
  });

  test("a refused password is a fault of its own on both servers", async () => {
    const wrong = opened(optionsFor({ password: "wrong" }));
    expect((await fault(wrong.search({ limit: 1 }, signal))).type).toBe("auth");
    const strict = await startSmtp({ password: "another" });
    const half = opened(optionsFor({ smtp: { host: "127.0.0.1", port: strict.port, secure: false } }));
    const outgoing = mailTo(["sarah@client.com"]);
    expect(await fault(half.send(outgoing, signal))).toMatchObject({
      type: "auth",
      message: expect.stringContaining("535"),
    });
    await strict.stop();
    expect((await fault(half.send(outgoing, signal))).type).toBe("network");
    expect(await half.findByMessageId(outgoing.messageId, "sent", signal)).toBeNull();
  });

  test("a password goes to no server that cannot protect it", async () => {
    const imap = await startCutter(dovecot.port);
    const outbox = await startCutter(smtp.port);
    const tls = { ca: "-----BEGIN CERTIFICATE-----" };
    const at = (port: number) => ({ host: "127.0.0.1", port, secure: false });
    const guarded = opened(optionsFor({ tls, imap: at(imap.port), smtp: at(outbox.port) }));
    expect((await fault(guarded.search({ limit: 1 }, signal))).recoverable).toBe(false);
    expect(imap.heard()).not.toBe("");
    expect(imap.heard()).not.toMatch(/LOGIN|AUTHENTICATE/);
    const sending = sendBySmtp(
      { ...options, tls, smtp: at(outbox.port) },
      { from: "a@b.example", to: ["c@d.example"], bytes: Buffer.from("Subject: x\r\n\r\n") },
      signal,
    );
    expect(await fault(sending)).toMatchObject({ type: "tool_error" });
    expect(outbox.heard()).toContain("STARTTLS");
    expect(outbox.heard()).not.toContain("AUTH");
    await Promise.all([imap.stop(), outbox.stop()]);
  });

  test("a draft is kept and found, and is not a sent message", async () => {
    const draft = mailTo(["sarah@client.com"]);
    const { id } = await mailbox.draft(draft, signal);
    expect((await mailbox.findByMessageId(draft.messageId, "draft", signal))?.id).toBe(id);
    expect(await mailbox.findByMessageId(draft.messageId, "sent", signal)).toBeNull();
    expect((await mailbox.get(id, signal)).id).toMatch(/^Drafts:/);
    expect(smtp.taken).toEqual([]);
  });

  test.each([
    ["before the server has the message", false, 0],
    ["after the server has it", true, 1],
  ])("a connection lost %s leaves a send that is said to be unknown", async (_, passOn, taken) => {
    const cutter = await startCutter(smtp.port);
    const shaky = opened(optionsFor({ smtp: { host: "127.0.0.1", port: cutter.port, secure: false } }));
    cutter.cut = { at: /\r\n\.\r\n/, passOn };
    const outgoing = mailTo(["sarah@client.com"]);
    const first = await fault(shaky.send(outgoing, signal));
    expect([first.type, first.recoverable]).toEqual(["tool_error", false]);
    expect(first.message).toContain("not known");
    const look = await fault(shaky.findByMessageId(outgoing.messageId, "sent", signal));
    expect(look.message).toContain("not known");
    expect(smtp.taken).toHaveLength(taken);
    await cutter.stop();
  });

  test("a connection lost before the message is on its way leaves nothing behind", async () => {
    const cutter = await startCutter(smtp.port);
    const shaky = opened(optionsFor({ smtp: { host: "127.0.0.1", port: cutter.port, secure: false } }));
    cutter.cut = { at: /RCPT TO/, passOn: false };
    const outgoing = mailTo(["sarah@client.com"]);
    expect((await fault(shaky.send(outgoing, signal))).type).toBe("network");
    expect(await shaky.findByMessageId(outgoing.messageId, "sent", signal)).toBeNull();
    cutter.cut = undefined;
    expect((await shaky.send(outgoing, signal)).delivery.status).toBe("sent");
    expect(smtp.taken).toHaveLength(1);
    await cutter.stop();
  });

  test("a connection to the mailbox lost while the copy is laid aside leaves no doubt: nothing was sent", async () => {
    const cutter = await startCutter(dovecot.port);
    const shaky = opened(optionsFor({ imap: { host: "127.0.0.1", port: cutter.port, secure: false } }));
    cutter.cut = { at: /numbers are attached/, passOn: true };
    const outgoing = mailTo(["sarah@client.com"]);
    expect((await fault(shaky.send(outgoing, signal))).type).toBe("network");
    expect(await shaky.findByMessageId(outgoing.messageId, "sent", signal)).toBeNull();
    expect(smtp.taken).toEqual([]);
    cutter.cut = undefined;
    expect((await shaky.send(outgoing, signal)).delivery.status).toBe("sent");
    expect(smtp.taken).toHaveLength(1);
    await cutter.stop();
  });

  test("a bounce in the inbox makes its recipient bounced, with the report's words", async () => {
    const outgoing = mailTo(["sarah@client.com", "gone@client.com"]);
    const sent = await mailbox.send(outgoing, signal);
    await arrives(
      `From: MAILER-DAEMON@client.com\nTo: alex@retinue.example\nSubject: Undelivered\nDate: Mon, 16 Nov 2026 10:05:00 +0100\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary="r"\n\n--r\nContent-Type: text/plain\n\nSorry.\n--r\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; client.com\n\nFinal-Recipient: rfc822; gone@client.com\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 mailbox unknown\n\n--r\nContent-Type: message/rfc822\n\nFrom: alex@retinue.example\nMessage-ID: ${outgoing.messageId}\nSubject: The Q3 budget\n\nHi\n--r--\n`,
    );
    const delivery = await mailbox.delivery(sent.id, signal);
    expect(delivery.status).toBe("bounced");
    expect(delivery.recipients).toEqual([
      { address: "sarah@client.com", status: "sent" },
      { address: "gone@client.com", status: "bounced", detail: "550 5.1.1 mailbox unknown" },
    ]);
  });

  test("a lost connection to the mailbox is a network fault, and the next call connects anew", async () => {
    const cutter = await startCutter(dovecot.port);
    const shaky = opened({ ...options, imap: { host: "127.0.0.1", port: cutter.port, secure: false } });
    await arrives(mail("Still here"));
    await shaky.search({ limit: 1 }, signal);
    cutter.cut = { at: /SEARCH/, passOn: false };
    expect((await fault(shaky.search({ limit: 1 }, signal))).type).toBe("network");
    cutter.cut = undefined;
    expect((await shaky.search({ limit: 1 }, signal)).total).toBe(1);
    await cutter.stop();
  });

  test("a stopped call ends at once and the mailbox stays usable", async () => {
    const controller = new AbortController();
    const call = mailbox.search({ limit: 5 }, controller.signal);
    controller.abort();
    expect(await fault(call)).toBeInstanceOf(ToolFault);
    expect((await mailbox.search({ limit: 5 }, signal)).total).toBe(0);
  });

  test("line breaks in a subject do not become a header, and a bad address is refused", async () => {
    await mailbox.send(mailTo(["sarah@client.com"], { subject: "Hi\r\nBcc: x@evil.example" }), signal);
    expect(smtp.taken[0]?.to).toEqual(["sarah@client.com"]);
    expect(smtp.taken[0]?.source).not.toMatch(/^Bcc:/m);
    expect((await fault(mailbox.send(mailTo(["a@b.example>\r\nRCPT TO:<c@d"]), signal))).type).toBe("params");
    expect((await fault(mailbox.send(mailTo([]), signal))).type).toBe("params");
  });
});
