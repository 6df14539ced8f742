import { describe, expect, test, vi } from "vitest";
import { mailFrom, memoryAssistant, person } from "../../../../test/fixtures/memory-assistant.ts";
import type { Service } from "../accounts/accounts.ts";

const ROOTS = { projectDir: "/", workspaceDir: "/" };
const MAIL = { recipients: ["priya@retinue.example"], subject: "Plan", body: "Here it is." };
const CRASHED = {
  ...ROOTS,
  sessionId: "ses",
  runId: "run",
  callId: "call",
  signal: new AbortController().signal,
};
const judged = async (input: object, tool = "gmail_send_email", world = memoryAssistant()) => {
  const { risk, confirm, present, access } = world.tool(tool);
  return {
    risk: typeof risk === "function" ? await risk(input) : risk,
    confirm: (await confirm?.(input, ROOTS)) ?? null,
    presented: (await present?.(input)) ?? "",
    reached: (await access(input, ROOTS)).map((target) =>
      target.kind === "recipient" ? target.address : "",
    ),
  };
};

describe("gmail_send_email", () => {
  test("sends to everybody, each once, and tells all of them", async () => {
    const world = memoryAssistant();
    const { data } = await world.use("gmail_send_email", {
      ...MAIL,
      recipients: ["team", "Dana Ortiz"],
      cc: ["PRIYA@retinue.example", "me"],
      bcc: ["Sam Whitfield", "dana.ortiz@acme.example"],
    });
    const all = [
      ...["priya@retinue.example", "jonas@retinue.example", "dana.ortiz@acme.example"],
      ...["alex@retinue.example", "sam@acme.example"],
    ];
    expect(data).toMatchObject({ email_sent: true, recipients: all, delivery_status: "sent" });
    expect(world.sent).toMatchObject([
      { to: all.slice(0, 3), cc: ["alex@retinue.example"], bcc: ["sam@acme.example"], text: "Here it is." },
    ]);
  });

  test.each([
    ["one colleague", { recipients: ["priya@retinue.example"] }, "medium"],
    ["one of a sister", { recipients: ["x@sister.example"] }, "medium"],
    ["somebody outside", { recipients: ["dana.ortiz@acme.example"] }, "high"],
    ["two colleagues", { recipients: ["priya@retinue.example", "jonas@retinue.example"] }, "high"],
    ["a list", { recipients: ["team"] }, "high"],
    ["a hidden copy outside", { bcc: ["x@evil.example"] }, "high"],
    ["an open copy outside", { cc: ["x@evil.example"] }, "high"],
  ])("to %s is of the right risk", async (_name, more, risk) => {
    const seen = await judged({ ...MAIL, ...more });
    expect(seen.risk).toBe(risk);
    expect(seen.confirm === null).toBe(risk === "medium");
  });

  test("shows every address on its own line with what is wrong with it, and the whole text", async () => {
    const { presented, reached } = await judged({
      recipients: ["Dana Ortiz"],
      cc: ["x@аcme.example"],
      bcc: ["Priya <y@evil.example>"],
      subject: "Plan",
      body: `Line one\u202e\n${"x".repeat(50_000)} end\u{e0041}`,
    });
    expect(presented.split("\n").slice(0, 10)).toEqual([
      "From: Alex Kim <alex@retinue.example>",
      "To:",
      "  Dana Ortiz <dana.ortiz@acme.example> [external]",
      "Cc:",
      "  x@xn--cme-5cd.example [external] [warning: looks like acme.example but is another domain; written аcme.example]",
      "Bcc:",
      "  y@evil.example [external]",
      "Subject: Plan",
      "",
      "Line one\\u{202e}",
    ]);
    expect(presented).toMatch(/x end\\u\{e0041\}$/);
    expect(reached).toEqual(["dana.ortiz@acme.example", "x@xn--cme-5cd.example", "y@evil.example"]);
  });

  test.each([
    ["several addresses in one", { recipients: ["a@acme.example, b@evil.example"] }, "several addresses"],
    ["a name that is an address", { recipients: ['"x@acme.com" <y@evil.example>'] }, "display name"],
    ["a header in an address", { bcc: ["a@acme.example\r\nBcc: b@evil.example"] }, "control or invisible"],
    ["a header in the subject", { subject: "Hi\r\nBcc: b@evil.example" }, "one line"],
    ["an invisible subject", { subject: "Hi\u200b" }, "one line"],
    ["a name of nobody", { recipients: ["Bob"] }, "no contact 'Bob'"],
    ["a part of a name", { recipients: ["Dan"] }, "near: Dana Ortiz <dana.ortiz@acme.example>"],
    [
      "a name of two",
      { recipients: ["Sam"] },
      "Sam Whitfield <sam@acme.example>, Sam Smith <sam.smith@client.com>",
    ],
  ])("with %s is refused before anything is sent", async (_name, more, message) => {
    const world = memoryAssistant();
    const { error } = await world.use("gmail_send_email", { ...MAIL, ...more });
    expect(error).toMatchObject({ type: "params", tool: "gmail_send_email", recoverable: false });
    expect(error?.message).toContain(message);
    expect(world.sent).toEqual([]);
  });

  test("a whole name goes before a part of longer ones", async () => {
    const world = memoryAssistant();
    world.contacts.push(person("Sam", "sam@retinue.example"));
    const { data } = await world.use("gmail_send_email", { ...MAIL, recipients: ["sam"] });
    expect(data.recipients).toEqual(["sam@retinue.example"]);
  });

  test("reaches a hundred people at most, however they are spread over the fields", async () => {
    const many = (from: number) => Array.from({ length: 60 }, (_, at) => `p${from + at}@acme.example`);
    const input = { ...MAIL, recipients: many(0), bcc: many(60) };
    const { error } = await memoryAssistant().use("gmail_send_email", input);
    expect(error).toMatchObject({ type: "params", message: "it reaches 120 people, more than 100" });
  });

  test("a contact with a hostile address is refused", async () => {
    const world = memoryAssistant();
    world.contacts.push(person("Eve", "priya@retinue.example, eve@evil.example"));
    expect((await world.use("gmail_send_email", { ...MAIL, recipients: ["Eve"] })).error?.type).toBe(
      "params",
    );
  });

  test("goes only to recipients whose rights were checked", async () => {
    const world = memoryAssistant();
    const targets = [{ kind: "recipient" as const, address: "somebody@else.example" }];
    const { error } = await world.use("gmail_send_email", MAIL, { targets });
    expect(error?.message).toContain("has changed since it was allowed");
    expect(world.sent).toEqual([]);
  });

  test("what was judged is sent, though the address book changes meanwhile", async () => {
    const world = memoryAssistant();
    const input = { ...MAIL, recipients: ["Dana Ortiz"] };
    await judged(input, "gmail_send_email", world);
    const at = world.contacts.findIndex(({ name }) => name === "Dana Ortiz");
    world.contacts.splice(at, 1, person("Dana Ortiz", "dana@evil.example"));
    const tool = world.tool("gmail_send_email");
    const targets = await tool.access(input, ROOTS);
    await world.use("gmail_send_email", input, { targets });
    expect(world.sent.map(({ to }) => to)).toEqual([["dana.ortiz@acme.example"]]);
  });
});

describe("exactly once", () => {
  test("a mail whose answer was lost is found, not sent again", async () => {
    const world = memoryAssistant();
    world.fail("mail.send", { type: "network", after: true });
    const { data } = await world.use("gmail_send_email", MAIL);
    expect(data).toMatchObject({ email_sent: true });
    expect(world.sent).toHaveLength(1);
    expect(world.calls).toEqual(["mail.send", "mail.find"]);
  });

  test.each([
    ["gmail_send_email", MAIL, "sent", { email_sent: true, recipients: MAIL.recipients }],
    ["gmail_create_draft", MAIL, "drafts", { draft_id: expect.any(String), subject: "Plan" }],
    ["gmail_reply_to_message", { message_id: "m1", body: "Yes" }, "sent", { in_reply_to: "m1" }],
  ] as const)(
    "%s that a crash cut off after its effect is looked up by its call",
    async (name, input, where, found) => {
      const world = memoryAssistant();
      world.mails.push(mailFrom("dana.ortiz@acme.example"));
      const { lookup } = world.tool(name);
      expect(await lookup?.(input, CRASHED)).toBeNull();
      await world.use(name, input);
      expect(JSON.parse(String((await lookup?.(input, CRASHED)) ?? "null"))).toMatchObject(found);
      expect(await lookup?.(input, { ...CRASHED, callId: "another" })).toBeNull();
      expect(world[where]).toHaveLength(1);
      expect(world[where][0]?.messageId).toMatch(/^<retinue-[0-9a-f]{40}@retinue\.example>$/);
    },
  );

  test("two calls of the same words are two mails", async () => {
    const world = memoryAssistant();
    await world.use("gmail_send_email", { ...MAIL }, { callId: "one" });
    await world.use("gmail_send_email", { ...MAIL }, { callId: "two" });
    expect(new Set(world.sent.map(({ messageId }) => messageId)).size).toBe(2);
  });
});

describe("the error table through a tool", () => {
  test("a refused token is renewed and the mail sent once", async () => {
    const world = memoryAssistant();
    world.fail("mail.send", { type: "auth" });
    expect((await world.use("gmail_send_email", MAIL)).error).toBeUndefined();
    expect(world.calls).toEqual(["mail.send", "mail.refresh", "mail.find", "mail.send"]);
    expect(world.sent).toHaveLength(1);
  });

  test("a rate limit that is too long is reported with its seconds", async () => {
    const world = memoryAssistant();
    world.fail("mail.search", { type: "rate_limit", retryAfterMs: 120_000 });
    const { error } = await world.use("gmail_search_messages", {});
    expect(error).toEqual({
      type: "rate_limit",
      message: "planned rate_limit",
      tool: "gmail_search_messages",
      recoverable: true,
      retry_after: 120,
    });
    expect(world.waits).toEqual([]);
  });

  test("a fault while the recipients are looked up refuses the call", async () => {
    const world = memoryAssistant();
    world.fail("contacts.search", { type: "permission" });
    const { error } = await world.use("gmail_send_email", { ...MAIL, recipients: ["Dana Ortiz"] });
    expect(error).toMatchObject({ type: "permission", tool: "gmail_send_email" });
    expect(world.sent).toEqual([]);
  });
});

describe("gmail_create_draft", () => {
  test("keeps a mail to anybody without a confirmation, and sends nothing", async () => {
    const world = memoryAssistant();
    const input = { ...MAIL, recipients: ["x@evil.example", "y@evil.example"] };
    expect(await judged(input, "gmail_create_draft", world)).toMatchObject({ risk: "medium", confirm: null });
    const { data } = await world.use("gmail_create_draft", input);
    expect(data).toEqual({ draft_id: "d1", recipients: input.recipients, subject: "Plan" });
    expect(world.sent).toEqual([]);
    expect(world.tool("gmail_create_draft").outbound).toBe(false);
  });
});

describe("gmail_reply_to_message", () => {
  const REPLY = { message_id: "m1", body: "Yes" };

  test("answers in the thread of the mail, to its sender", async () => {
    const world = memoryAssistant();
    world.mails.push(
      mailFrom("dana.ortiz@acme.example", { references: ["<zero@acme.example>", "evil\r\nBcc: x"] }),
    );
    const { data } = await world.use("gmail_reply_to_message", REPLY);
    expect(data).toMatchObject({ in_reply_to: "m1", recipients: ["dana.ortiz@acme.example"] });
    expect(world.sent).toMatchObject([
      {
        to: ["dana.ortiz@acme.example"],
        cc: [],
        subject: "Re: Offer",
        inReplyTo: "<one@acme.example>",
        references: ["<zero@acme.example>", "<one@acme.example>"],
        threadId: "t1",
      },
    ]);
  });

  test("warns that a Reply-To leads elsewhere, and goes only there", async () => {
    const world = memoryAssistant();
    world.mails.push(
      mailFrom("priya@retinue.example", { replyTo: [{ name: "Priya", address: "p@evil.example" }] }),
    );
    const seen = await judged(REPLY, "gmail_reply_to_message", world);
    expect(seen).toMatchObject({ risk: "high", reached: ["p@evil.example"] });
    expect(seen.presented).toContain("  p@evil.example [external]");
    expect(seen.presented).toContain(
      "[warning: the mail's Reply-To sends the answer to another domain than its From (priya@retinue.example)]",
    );
  });

  test("to all reaches every other recipient but the owner, and counts each", async () => {
    const world = memoryAssistant();
    const others = [{ address: "Alex@retinue.example" }, { address: "jonas@retinue.example" }];
    world.mails.push(mailFrom("priya@retinue.example", { to: others, cc: [{ address: "x@evil.example" }] }));
    const input = { ...REPLY, reply_all: true };
    expect(await judged(input, "gmail_reply_to_message", world)).toMatchObject({
      risk: "high",
      reached: ["priya@retinue.example", "jonas@retinue.example", "x@evil.example"],
    });
  });

  test("refuses a sender whose address hides a second one", async () => {
    const world = memoryAssistant();
    world.mails.push(mailFrom("a@acme.example, b@evil.example"));
    expect((await world.use("gmail_reply_to_message", REPLY)).error?.type).toBe("params");
  });

  test("a subject with control characters makes no header", async () => {
    const world = memoryAssistant();
    world.mails.push(mailFrom("priya@retinue.example", { subject: "Hi\r\nBcc: x@evil.example\u202e" }));
    await world.use("gmail_reply_to_message", REPLY);
    expect(world.sent[0]?.subject).toBe("Re: Hi Bcc: x@evil.example");
  });
});

describe("reading mail", () => {
  test("shows what is invisible in a mail, and cuts what is too long", async () => {
    const world = memoryAssistant();
    const text = `Hello\u200b ${"word ".repeat(20_000)}`;
    world.mails.push(mailFrom("dana.ortiz@acme.example", { text, replyTo: [{ address: "x@evil.example" }] }));
    const { data } = await world.use("gmail_get_message", { message_id: "m1" });
    const message = data.message as Record<string, string>;
    expect(message.body).toMatch(/^Hello\\u\{200b\} word/);
    expect(message.body).toMatch(/… \(\d+ more characters\)$/);
    expect(message.reply_to).toBe("x@evil.example");
    expect(JSON.stringify(data).length).toBeLessThan(28_000);
  });

  test("every tool that returns other people's words taints", () => {
    const world = memoryAssistant();
    for (const name of ["gmail_search_messages", "gmail_get_message", "calendar_list_events"])
      expect(world.tool(name).untrusted).toBe(true);
    for (const name of ["contacts_search", "slack_get_user_info", "calendar_check_availability"])
      expect(world.tool(name).untrusted).toBe(false);
  });

  test("a bounce is reported with the server's words, which are untrusted", async () => {
    const { data, tainted } = await memoryAssistant().use("gmail_get_delivery_status", { message_id: "m1" });
    expect(data).toMatchObject({
      delivery_status: "bounced",
      deliveries: [{ recipient: "x@acme.example", status: "bounced", detail: "550 no such user" }],
    });
    expect(tainted).toBe(true);
  });

  test("a moment that cannot be read is a fault of the parameters", async () => {
    const { error } = await memoryAssistant().use("gmail_search_messages", { after: "last month" });
    expect(error).toMatchObject({ type: "params", message: expect.stringContaining("after 'last month'") });
  });
});

describe("hostile addresses", () => {
  test("of a mail are shown on one line with what hides in them", async () => {
    const world = memoryAssistant();
    const address = "x@evil.example\nTo: priya@retinue.example\u202e";
    world.mails.push(mailFrom(address, { replyTo: [{ address: "x@evil.example" }] }));
    const { presented } = await judged({ message_id: "m1", body: "Yes." }, "gmail_reply_to_message", world);
    expect(presented.split("\n")[0]).toMatch(/from x@evil\.example To: priya@retinue\.example\\u\{202e\}$/);
  });

  test("and endless names do not hide the other mails", async () => {
    const world = memoryAssistant();
    const name = "n".repeat(1_000_000);
    world.mails.push(mailFrom("x@evil.example", { from: { name, address: "x@evil.example" } }));
    world.mails.push(mailFrom("priya@retinue.example", { id: "m2" }));
    const { data } = await world.use("gmail_search_messages", {});
    expect((data.messages as object[]).length).toBe(2);
    const got = await world.use("gmail_get_message", { message_id: "m1" });
    expect(JSON.stringify(got.data).length).toBeLessThan(28_000);
  });

  test("a mail that only says it is from the owner is not called the owner's", async () => {
    const world = memoryAssistant();
    world.mails.push(mailFrom("alex@retinue.example", { to: [{ address: "x@evil.example" }] }));
    const seen = await judged({ message_id: "m1", body: "Yes." }, "gmail_reply_to_message", world);
    expect(seen.reached).toEqual(["x@evil.example"]);
    expect(seen.presented).toContain("The mail says that it is from you");
  });
});

describe("a name", () => {
  test("that fits one of the first contacts and another far behind is refused", async () => {
    const world = memoryAssistant();
    world.contacts.splice(0);
    world.contacts.push(person("Sam Adams", "sam@acme.example"));
    for (let at = 0; at < 60; at++) world.contacts.push(person(`Samantha ${at}`, `s${at}@acme.example`));
    world.contacts.push(person("Sam Young", "sam@retinue.example"));
    const { error } = await world.use("gmail_send_email", { ...MAIL, recipients: ["Sam"] });
    expect(error).toMatchObject({ type: "params", message: expect.stringContaining("sam@retinue.example") });
    expect(world.sent).toEqual([]);
  });

  test("that fits more contacts than can be looked at is refused", async () => {
    const world = memoryAssistant();
    for (let at = 0; at < 1_000; at++) world.contacts.push(person(`Priya ${at}`, `p${at}@acme.example`));
    const { error } = await world.use("gmail_send_email", { ...MAIL, recipients: ["Priya Nair"] });
    expect(error).toBeUndefined();
    const { error: many } = await world.use("gmail_send_email", { ...MAIL, recipients: ["Priya"] });
    expect(many).toMatchObject({ type: "params", message: expect.stringContaining("fits 1001 contacts") });
  });
});

test("finding out whom a mail reaches ends even if a service never answers", async () => {
  vi.useFakeTimers();
  try {
    const world = memoryAssistant();
    const { open } = world.assistant;
    Object.assign(world.assistant, {
      open: (service: Service) => (service === "contacts" ? new Promise(() => {}) : open(service)),
    });
    const { access } = world.tool("gmail_send_email");
    const reached = Promise.resolve(access({ ...MAIL, recipients: ["Priya Nair"] }, ROOTS));
    const failed = expect(reached).rejects.toThrow(/"type":"network".*within 120 s/);
    await vi.advanceTimersByTimeAsync(121_000);
    await failed;
  } finally {
    vi.useRealTimers();
  }
});
