import type { MailProvider } from "../mail/mail-provider.ts";
import { mailDelivery } from "./delivery.ts";
import type { ImapOptions } from "./imap-options.ts";
import { createImapSession } from "./imap-session.ts";
import { atMessage } from "./mail-place.ts";
import { fetchMail, messageOf } from "./read-message.ts";
import { searchMail } from "./search-mail.ts";
import { findCopy, keepDraft, sendMail } from "./send-mail.ts";

/** A mailbox on an IMAP server that sends by SMTP. Nothing is connected or loaded before the first call. */
export function openImap(options: ImapOptions): MailProvider {
  const session = createImapSession(options);
  const sender = () => ({ session, options, nowMs: options.now?.() ?? Date.now() });
  return {
    kind: "imap",
    async self() {
      return { address: options.address, ...(options.name && { name: options.name }) };
    },
    search: (query, signal) => session.run(signal, (client) => searchMail(client, query)),
    get: (id, signal) =>
      session.run(signal, (client) =>
        atMessage(client, id, async (place) => messageOf(await fetchMail(client, place, "whole"))),
      ),
    send: (mail, signal) => sendMail(sender(), mail, signal),
    draft: (mail, signal) => keepDraft(sender(), mail, signal),
    findByMessageId: (messageId, kind, signal) =>
      session.run(signal, (client) => findCopy(client, messageId, kind)),
    delivery: (id, signal) => session.run(signal, (client) => mailDelivery(client, id)),
    close: () => session.close(),
  };
}
