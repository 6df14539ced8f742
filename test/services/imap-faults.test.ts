import { openImap } from "@retinue/assistant/imap/imap-mail";
import type { OutgoingMail } from "@retinue/assistant/mail/mail-provider";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../fixtures/local-service.ts";
import { type FakeImap, startFakeImap } from "./fake-imap.ts";

const signal = new AbortController().signal;
let server: FakeImap | undefined;
afterEach(() => server?.stop());

async function mailboxAt(port: number) {
  return openImap({
    ...{ address: "alex@retinue.example", user: "alex", password: "correct-horse" },
    imap: { host: "127.0.0.1", port, secure: false },
    smtp: { host: "127.0.0.1", port: await freePort(), secure: false },
  });
}

test("a folder that is listed but may not be opened hides no other", async () => {
  server = await startFakeImap((line, tag) => {
    if (/ SELECT .*Sent/.test(line)) return `${tag} NO [NOPERM] Permission denied\r\n`;
    return line.includes("SEARCH") ? "* SEARCH\r\n" : undefined;
  });
  const mailbox = await mailboxAt(server.port);
  expect(await mailbox.search({ limit: 5 }, signal)).toEqual({ messages: [], total: 0 });
  expect(server.heard()).toMatch(/SELECT .*INBOX/);
  await mailbox.close?.();
});

test("an inbox that may not be opened is a fault, not an empty mailbox", async () => {
  server = await startFakeImap((line, tag) =>
    / SELECT .*INBOX/.test(line) ? `${tag} NO [NOPERM] Permission denied\r\n` : undefined,
  );
  const mailbox = await mailboxAt(server.port);
  await expect(mailbox.search({ limit: 5 }, signal)).rejects.toMatchObject({ type: "permission" });
  await mailbox.close?.();
});

test("a server that does not say goodbye keeps nobody waiting", async () => {
  server = await startFakeImap((line) => {
    if (line.includes("LOGOUT")) return null;
    return line.includes("SEARCH") ? "* SEARCH\r\n" : undefined;
  });
  const mailbox = await mailboxAt(server.port);
  await mailbox.search({ limit: 1 }, signal);
  await mailbox.close?.();
  expect(server.heard()).toContain("LOGOUT");
});

test("the copy of a mail that was not sent is taken back only from the folder as it was", async () => {
  server = await startFakeImap((line) =>
    line.includes("SELECT") ? "* 1 EXISTS\r\n* OK [UIDVALIDITY 2] new\r\n* OK [UIDNEXT 9] ok\r\n" : undefined,
  );
  const mailbox = await mailboxAt(server.port);
  const mail: OutgoingMail = {
    ...{ messageId: "<k@retinue.example>", to: ["sarah@client.com"], cc: [], bcc: [] },
    ...{ subject: "Hi", text: "Hello" },
  };
  await expect(mailbox.send(mail, signal)).rejects.toMatchObject({ type: "network" });
  expect(server.heard()).toContain("SELECT");
  expect(server.heard()).not.toMatch(/STORE|EXPUNGE/);
  await mailbox.close?.();
});
