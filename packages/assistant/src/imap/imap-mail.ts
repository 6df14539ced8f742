// A mailbox that is read by IMAP and sends by SMTP, each message at most once.

import type { ImapFlow } from "imapflow";
import { writeMail } from "../mail/mail-format.ts";
import type { Address, MailProvider, OutgoingMail, SentMail } from "../mail/mail-provider.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import {
  addRejections,
  atMessage,
  buildMailId,
  fetchDelivery,
  fetchMail,
  findFolderFor,
  findThread,
  inFolder,
  isPending,
  judgeRecipients,
  type MailPlace,
  readCopyDelivery,
  readFetchedMail,
  refuseUnknownMail,
  searchMail,
} from "./imap-mailbox.ts";
import { createImapSession, type ImapOptions, type ImapSession } from "./imap-session.ts";
import { type Accepted, SendUnknown, sendBySmtp } from "./smtp.ts";

/** A mailbox on an IMAP server that sends by SMTP. Nothing is connected or loaded before the first call. */
export function openImap(options: ImapOptions): MailProvider {
  const session = createImapSession(options);
  const sender = () => ({ session, options, nowMs: options.now?.() ?? Date.now() });
  return {
    kind: "imap",
    self: async () => readOwner(options),
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

function readOwner({ address, name }: ImapOptions): Address {
  return { address, name: name || undefined };
}

/** What sending needs: the mailbox, its settings, and the time. */
type Sender = {
  readonly session: ImapSession;
  readonly options: ImapOptions;
  readonly nowMs: number;
};

/**
 * Sends a message at most once, and records whether it was sent. SMTP cannot be asked later, so a copy
 * marked \Draft goes to the folder of sent mail first and loses its mark once the server has taken the message:
 * a copy without the mark was sent; with the mark it is unknown; without a copy nothing was sent.
 */
async function sendMail(sender: Sender, mail: OutgoingMail, signal: AbortSignal): Promise<SentMail> {
  const { session, options, nowMs } = sender;
  const from = readOwner(options);
  const date = new Date(nowMs);
  const recipients = [...new Set([...mail.to, ...mail.cc, ...mail.bcc])];
  if (recipients.length === 0) throw new ToolFault("params", "the message has no recipient");
  const bytes = await writeMail(mail, { copy: "received", from, date });
  const own = await writeMail(mail, { copy: "own", from, date });
  const pending = await layAside(session, { bytes: own, use: "sent", mail, date }, signal);
  let accepted: Accepted;
  try {
    accepted = await sendBySmtp(options, { from: options.address, to: recipients, bytes }, signal);
  } catch (error) {
    // A copy that cannot be removed stays pending: the next look-up then says "not known", never "sent".
    if (!(error instanceof SendUnknown))
      await session
        .run(AbortSignal.timeout(20_000), (client) => removeCopy(client, pending))
        .catch(() => undefined);
    throw error;
  }
  const place = await session
    .run(AbortSignal.timeout(20_000), (client) => settleCopy(client, pending, { accepted, own, mail, date }))
    .catch(() => pending);
  return {
    id: buildMailId(place),
    threadId: findThread({ references: listAnswered(mail), messageId: mail.messageId }),
    delivery: judgeRecipients(recipients, { atMs: nowMs, rejected: accepted.rejected }),
  };
}

function listAnswered(mail: OutgoingMail): readonly string[] {
  return mail.references ?? (mail.inReplyTo ? [mail.inReplyTo] : []);
}

/** Keeps a draft where the mailbox keeps them. */
async function saveDraft(
  { session, options, nowMs }: Sender,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<{ readonly id: string }> {
  const date = new Date(nowMs);
  const bytes = await writeMail(mail, { copy: "draft", from: readOwner(options), date });
  const place = await session.run(signal, (client) => keepCopy(client, { bytes, use: "drafts", mail, date }));
  return { id: buildMailId(place) };
}

type Copy = {
  readonly bytes: Uint8Array;
  readonly use: "sent" | "drafts";
  readonly mail: OutgoingMail;
  readonly date: Date;
};

async function keepCopy(client: ImapFlow, copy: Copy, flags = ["\\Draft", "\\Seen"]): Promise<MailPlace> {
  const folder = await findFolderFor(client, copy.use);
  const added = await client.append(folder, Buffer.from(copy.bytes), flags, copy.date);
  if (!added) throw new ToolFault("tool_error", `the mail server keeps no message in '${folder}'`);
  if (added.uid !== undefined && added.uidValidity !== undefined)
    return { folder, validity: String(added.uidValidity), uid: added.uid };
  const [last] = (await findCopies(client, folder, copy.mail.messageId)).slice(-1);
  if (!last) throw new ToolFault("tool_error", `the copy in '${folder}' is not found again`);
  return last;
}

/** A folder that was renumbered has another message under the number: that one is not touched. */
async function inOwnFolder(client: ImapFlow, place: MailPlace, work: () => Promise<unknown>): Promise<void> {
  await inFolder(client, place.folder, (validity) => {
    if (validity !== place.validity) throw refuseUnknownMail(buildMailId(place));
    return work();
  });
}

async function removeCopy(client: ImapFlow, place: MailPlace): Promise<void> {
  await inOwnFolder(client, place, () => client.messageDelete(String(place.uid), { uid: true }));
}

/** Stores the marked copy. If the answer is lost the copy may exist: nothing was sent yet, so it is removed. */
async function layAside(session: ImapSession, copy: Copy, signal: AbortSignal): Promise<MailPlace> {
  let isBegun = false;
  try {
    return await session.run(signal, (client) => {
      isBegun = true;
      return keepCopy(client, copy);
    });
  } catch (error) {
    if (isBegun)
      await session
        .run(AbortSignal.timeout(20_000), (client) => removePending(client, copy.mail.messageId))
        .catch(() => undefined);
    throw error;
  }
}

async function removePending(client: ImapFlow, messageId: string): Promise<void> {
  for (const place of await findCopies(client, await findFolderFor(client, "sent"), messageId)) {
    const { mail, raw } = await inFolder(client, place.folder, () => fetchMail(client, place, "head"));
    if (mail.messageId === messageId && isPending(raw.flags)) await removeCopy(client, place);
  }
}

/** Records that a message was sent: removes the mark, or stores a copy that says whom the server refused. */
async function settleCopy(
  client: ImapFlow,
  pending: MailPlace,
  { accepted, own, ...rest }: { accepted: Accepted; own: Uint8Array; mail: OutgoingMail; date: Date },
): Promise<MailPlace> {
  if (accepted.rejected.length === 0) {
    await inOwnFolder(client, pending, () =>
      client.messageFlagsRemove(String(pending.uid), ["\\Draft"], { uid: true }),
    );
    return pending;
  }
  const bytes = addRejections(own, accepted.rejected);
  const place = await keepCopy(client, { bytes, use: "sent", ...rest }, ["\\Seen"]);
  await removeCopy(client, pending);
  return place;
}

async function findCopies(client: ImapFlow, folder: string, messageId: string): Promise<MailPlace[]> {
  return inFolder(client, folder, async (validity) => {
    const header = { "message-id": messageId };
    const uids = (await client.search({ header, deleted: false }, { uid: true })) || [];
    return uids.sort((a, b) => a - b).map((uid) => ({ folder, validity, uid }));
  });
}

/** The sent message or the draft with this Message-ID; a fault if a send was cut off and its outcome is unknown. */
async function findCopy(
  client: ImapFlow,
  messageId: string,
  kind: "sent" | "draft",
): Promise<SentMail | null> {
  const folder = await findFolderFor(client, kind === "sent" ? "sent" : "drafts");
  const places = await findCopies(client, folder, messageId);
  let pending = false;
  for (const place of places.slice(-20)) {
    const copy = await inFolder(client, folder, () => fetchMail(client, place, "head"));
    // Servers match parts of a header, so the ids are compared here.
    if (copy.mail.messageId !== messageId) continue;
    if (kind === "sent" && isPending(copy.raw.flags)) pending = true;
    else return { id: buildMailId(place), threadId: findThread(copy.mail), delivery: readCopyDelivery(copy) };
  }
  if (!pending) return null;
  throw new ToolFault(
    "tool_error",
    `it is not known whether the message ${messageId} was sent: its sending was cut off; ask its recipients, or look at the mail server, before it is sent again`,
  );
}
