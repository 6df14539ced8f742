import type { ImapFlow, SearchObject } from "imapflow";
import { type Delivery, worstStatus } from "../mail/mail-provider.ts";
import { type Bounce, oneLine } from "../mail/read-mail.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import {
  atMessage,
  type Fetched,
  fetchMail,
  findFolderFor,
  inFolder,
  type MailPlace,
  readArrival,
} from "./mailbox.ts";

/** Keeps, in the sender's own copy, whom the server refused and with which words. */
const REJECTED_HEADER = "X-Retinue-Rejected";
const MAX_REPORTS = 30;
const DAY_MS = 86_400_000;

type Rejected = { readonly address: string; readonly detail: string };

/** The delivery of a message that was just handed over. */
export function describeHandover(
  recipients: readonly string[],
  rejected: readonly Rejected[],
  atMs: number,
): Delivery {
  return judgeRecipients(recipients, { rejected, bounces: [], isPending: false, atMs });
}

/** The sender's copy with what the server refused; the header is a line of plain characters. */
export function withRejections(bytes: Uint8Array, rejected: readonly Rejected[]): Uint8Array {
  const lines = rejected.map(({ address, detail }) => {
    const text = oneLine(`${address} ${detail}`).replace(/[^ -~]/g, "?");
    return `${REJECTED_HEADER}: ${text.slice(0, 900)}\r\n`;
  });
  return Buffer.concat([Buffer.from(lines.join("")), bytes]);
}

function readRejections(source: Uint8Array): Rejected[] {
  const head =
    Buffer.from(source.subarray(0, 64_000))
      .toString("latin1")
      .split(/\r?\n\r?\n/, 1)[0] ?? "";
  const lines = head.matchAll(new RegExp(`^${REJECTED_HEADER}: (\\S+) ?([^\\r\\n]*)$`, "gim"));
  return [...lines].map(([, address = "", detail = ""]) => ({ address, detail }));
}

/** What the mailbox knows of a sent message: its copy, and the reports that came back. */
export async function fetchDelivery(client: ImapFlow, id: string): Promise<Delivery> {
  const sent = await findFolderFor(client, "sent");
  const copy = await atMessage(client, id, (place) => {
    if (place.folder !== sent)
      throw new ToolFault("params", `the message '${id}' was not sent from this mailbox`);
    return fetchMail(client, place, "head");
  });
  return readCopyDelivery(copy, await fetchBounces(client, copy));
}

/** The delivery that a copy in the folder of sent mail stands for. */
export function readCopyDelivery({ raw, mail }: Fetched, bounces: readonly Bounce[] = []): Delivery {
  const recipients = [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
  return judgeRecipients(recipients, {
    rejected: readRejections(raw.source ?? new Uint8Array()),
    bounces,
    isPending: isPending(raw.flags),
    atMs: mail.dateMs ?? readArrival(raw),
  });
}

/** Whether a copy was put aside before its message was handed over, and nobody has noted since that it was. */
export function isPending(flags: ReadonlySet<string> | undefined): boolean {
  return flags?.has("\\Draft") ?? false;
}

type Known = {
  readonly rejected: readonly Rejected[];
  readonly bounces: readonly Rejected[];
  readonly isPending: boolean;
  readonly atMs: number;
};

function judgeRecipients(addresses: readonly string[], known: Known): Delivery {
  const find = (list: readonly Rejected[], address: string) =>
    list.find((one) => one.address.toLowerCase() === address.toLowerCase());
  const recipients = [...new Set(addresses)].map((address) => {
    const rejected = find(known.rejected, address);
    if (rejected) return { address, status: "rejected" as const, detail: rejected.detail };
    const bounced = find(known.bounces, address);
    if (bounced)
      return { address, status: "bounced" as const, ...(bounced.detail && { detail: bounced.detail }) };
    if (known.isPending)
      return { address, status: "unknown" as const, detail: "it was cut off while it was being sent" };
    return { address, status: "sent" as const };
  });
  return { status: worstStatus(recipients), recipients, timestamp: new Date(known.atMs).toISOString() };
}

/** Delivery reports in the inbox that are about a message. */
async function fetchBounces(client: ImapFlow, { mail, raw }: Fetched): Promise<Bounce[]> {
  if (mail.messageId === "") return [];
  const since = new Date(readArrival(raw) - 2 * DAY_MS);
  const bare = mail.messageId.slice(1, -1);
  return inFolder(client, "INBOX", async (validity) => {
    const uids = new Set<number>();
    const about: SearchObject[] = [
      { text: bare },
      { header: { "in-reply-to": bare } },
      { header: { references: bare } },
    ];
    for (const criteria of about)
      for (const uid of (await client.search({ since, ...criteria }, { uid: true })) || []) uids.add(uid);
    const bounces: Bounce[] = [];
    for (const uid of [...uids].sort((a, b) => b - a).slice(0, MAX_REPORTS)) {
      const place: MailPlace = { folder: "INBOX", validity, uid };
      const report = await fetchMail(client, place, "whole").catch(unreadable);
      bounces.push(...(report?.mail.bounces ?? []).filter(({ messageId }) => messageId === mail.messageId));
    }
    return bounces;
  });
}

/** A report that is no readable mail says nothing; a lost connection is still a fault. */
function unreadable(error: unknown): null {
  if (error instanceof ToolFault) return null;
  throw error;
}
