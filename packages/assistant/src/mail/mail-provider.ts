// A mailbox: its messages, and the interface of what serves it.

import type { ServiceProvider } from "../service-tools/tool-fault.ts";

/** A person or list as mail names it. */
export type Address = { readonly name?: string; readonly address: string };

/** A message to be sent or kept as a draft. Addresses are checked and canonical. */
export type OutgoingMail = {
  /** The Message-ID header, with its angle brackets; made from the tool call, so that a send can be found again. */
  readonly messageId: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Set for a reply: header values with angle brackets, and the thread at the provider. */
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly threadId?: string;
};

/** One message in a list. */
export type MailSummary = {
  /** The provider's own id. */
  readonly id: string;
  readonly threadId: string;
  readonly from: Address;
  readonly to: readonly Address[];
  readonly subject: string;
  /** ISO 8601 in UTC. */
  readonly date: string;
  readonly snippet: string;
  readonly unread: boolean;
};

/** What a message itself says. */
export type MailContent = {
  /** The Message-ID header, with its angle brackets; empty if it has none. */
  readonly messageId: string;
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly replyTo: readonly Address[];
  readonly subject: string;
  /** Message-IDs that it answers, the oldest first. */
  readonly references: readonly string[];
  /** Plain text; made from the HTML part if there is no other. */
  readonly text: string;
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
};

/** One message in full. */
export type MailMessage = MailSummary & MailContent;

/** What to look for; all given fields must match. */
export type MailQuery = {
  readonly text?: string;
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  /** ISO 8601; from this moment on. */
  readonly after?: string;
  /** ISO 8601; before this moment. */
  readonly before?: string;
  readonly unread?: boolean;
  readonly hasAttachment?: boolean;
  readonly limit: number;
};

type DeliveryStatus = "delivered" | "sent" | "queued" | "rejected" | "bounced" | "unknown";

/** How far a message has come to one recipient. */
export type RecipientStatus = {
  readonly address: string;
  readonly status: DeliveryStatus;
  /** The server's words, if it said any. */
  readonly detail?: string;
};

/** How far a message has come. */
export type Delivery = {
  /** The worst of its recipients' if they differ. */
  readonly status: DeliveryStatus;
  readonly recipients: readonly RecipientStatus[];
  /** ISO 8601 in UTC; when the message was handed over. */
  readonly timestamp: string;
};

/** A message that was handed over. */
export type SentMail = { readonly id: string; readonly threadId: string; readonly delivery: Delivery };

/** A mailbox. */
export type MailProvider = ServiceProvider<"embedded" | "google" | "imap"> & {
  /** The owner's address. */
  self(signal: AbortSignal): Promise<Address>;
  /** Newest first. */
  search(
    query: MailQuery,
    signal: AbortSignal,
  ): Promise<{ readonly messages: readonly MailSummary[]; readonly total: number }>;
  get(id: string, signal: AbortSignal): Promise<MailMessage>;
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SentMail>;
  /** Keeps a draft; sends nothing. */
  draft(mail: OutgoingMail, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** A message that was handed over, or a draft that was kept, under this Message-ID; null if there is none. */
  findByMessageId(messageId: string, kind: "sent" | "draft", signal: AbortSignal): Promise<SentMail | null>;
  delivery(id: string, signal: AbortSignal): Promise<Delivery>;
};

const WORST_FIRST: readonly DeliveryStatus[] = [
  "rejected",
  "bounced",
  "unknown",
  "queued",
  "sent",
  "delivered",
];

/** The delivery to these addresses, each judged once; its status is the worst of theirs, and `unknown` of none. */
export function describeDelivery(
  addresses: readonly string[],
  timestamp: string,
  judge: (address: string) => Omit<RecipientStatus, "address">,
): Delivery {
  const recipients = [...new Set(addresses)].map((address) => ({ address, ...judge(address) }));
  const worst = WORST_FIRST.find((each) => recipients.some(({ status }) => status === each));
  return { status: worst ?? "unknown", recipients, timestamp };
}

/** What a delivery report says of a recipient, if one of these does. */
export function findBounce(
  reports: readonly { readonly address: string; readonly detail: string }[],
  address: string,
): { readonly status: "bounced"; readonly detail?: string } | undefined {
  const bounce = reports.find((each) => each.address.toLowerCase() === address.toLowerCase());
  return bounce && { status: "bounced", detail: bounce.detail || undefined };
}
