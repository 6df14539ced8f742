import type { gmail_v1 } from "@googleapis/gmail";
import { ToolFault } from "../errors/tool-fault.ts";
import { ORIGINAL_ID_HEADER } from "./gmail-compose.ts";
import { headerOf } from "./gmail-message.ts";
import { type GoogleApi, mapLimited } from "./google-api.ts";

const ID_HEADERS: readonly string[] = ["Message-ID", ORIGINAL_ID_HEADER, "X-Google-Original-Message-ID"];
const ADDRESS_HEADERS: readonly string[] = ["To", "Cc", "Bcc", "Date"];
/** Only a call that was interrupted looks for its message, so it is among the newest. */
const NEWEST = 25;
const AT_ONCE = 5;

/**
 * The message that carries this Message-ID and label. Gmail's index is asked first; as it lags behind by moments and knows
 * only the Message-ID that Gmail let stand, the newest messages of the label are read as well.
 */
export async function findMessage(
  api: GoogleApi<"gmail">,
  messageId: string,
  label: "SENT" | "DRAFT",
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message | null> {
  if (!/^<[^\s<>"]+>$/.test(messageId)) {
    throw new ToolFault("params", `'${messageId}' is no Message-ID with its angle brackets`);
  }
  const indexed = await list(api, { q: `rfc822msgid:${messageId.slice(1, -1)}`, maxResults: 5 }, signal);
  const found = await firstMatch(api, indexed, { messageId, label }, signal);
  if (found) return found;
  const newest = await list(api, { labelIds: [label], maxResults: NEWEST }, signal);
  return await firstMatch(api, newest, { messageId, label }, signal);
}

/** Gmail's id of the draft that holds a message; null if it is no draft any more. */
export async function findDraftId(
  api: GoogleApi<"gmail">,
  messageId: string,
  gmailId: string,
  signal: AbortSignal,
): Promise<string | null> {
  const queries = [{ q: `rfc822msgid:${messageId.slice(1, -1)}` }, { maxResults: 100 }];
  for (const query of queries) {
    const { drafts = [] } = await api.request("the drafts", signal, (gmail, options) =>
      gmail.users.drafts.list({ userId: "me", ...query }, options),
    );
    const draft = drafts.find((one) => one.message?.id === gmailId);
    if (draft?.id) return draft.id;
  }
  return null;
}

async function list(
  api: GoogleApi<"gmail">,
  query: { q?: string; labelIds?: string[]; maxResults: number },
  signal: AbortSignal,
): Promise<string[]> {
  const { messages = [] } = await api.request("the mailbox", signal, (gmail, options) =>
    gmail.users.messages.list({ userId: "me", includeSpamTrash: true, ...query }, options),
  );
  return messages.map(({ id }) => id ?? "").filter(Boolean);
}

async function firstMatch(
  api: GoogleApi<"gmail">,
  ids: readonly string[],
  wanted: { readonly messageId: string; readonly label: string },
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message | null> {
  const messages = await mapLimited(ids, AT_ONCE, (id) => readMetadata(api, id, ID_HEADERS, signal));
  const isWanted = (message: gmail_v1.Schema$Message) =>
    message.labelIds?.includes(wanted.label) &&
    ID_HEADERS.some((name) => headerOf(message, name).trim() === wanted.messageId);
  return messages.find(isWanted) ?? null;
}

/** A message's labels and some headers, those of its recipients among them. */
export async function readMetadata(
  api: GoogleApi<"gmail">,
  id: string,
  headers: readonly string[],
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message> {
  const metadataHeaders = [...new Set([...headers, ...ADDRESS_HEADERS])];
  return await api.request(`message '${id}'`, signal, (gmail, options) =>
    gmail.users.messages.get({ userId: "me", id, format: "metadata", metadataHeaders }, options),
  );
}
