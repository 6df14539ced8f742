import type { MailProvider } from "../mail/mail-provider.ts";
import { fetchDelivery } from "./delivery.ts";
import { createImapSession, type ImapOptions } from "./imap-session.ts";
import { atMessage, fetchMail, readFetchedMail } from "./mailbox.ts";
import { searchMail } from "./search-mail.ts";
import { findCopy, saveDraft, sendMail } from "./send-mail.ts";

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
        atMessage(client, id, async (place) => readFetchedMail(await fetchMail(client, place, "whole"))),
      ),
    send: (mail, signal) => sendMail(sender(), mail, signal),
    draft: (mail, signal) => saveDraft(sender(), mail, signal),
    findByMessageId: (messageId, kind, signal) =>
      session.run(signal, (client) => findCopy(client, messageId, kind)),
    delivery: (id, signal) => session.run(signal, (client) => fetchDelivery(client, id)),
    close: () => session.close(),
  };
}
