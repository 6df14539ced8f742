import type {
  Address,
  MailProvider,
  MailQuery,
  MailSummary,
  OutgoingMail,
  SentMail,
} from "../mail/mail-provider.ts";
import { mapLimited } from "../service-tools/bounded-requests.ts";
import { isServiceFault, raiseFaults, ToolFault } from "../service-tools/tool-fault.ts";
import { addReports, fetchMetadata, findDraftId, findMessage, readSentDelivery } from "./gmail-lookup.ts";
import {
  buildGmailQuery,
  composeRaw,
  isWithinQuery,
  readGmailDate,
  readGmailMessage,
  readGmailSummary,
  SUMMARY_HEADERS,
} from "./gmail-message.ts";
import type { GoogleApi } from "./google-api.ts";

type Api = GoogleApi<"gmail">;

const AT_ONCE = 5;
const PAGE = 100;
const MOST_PAGES = 20;

/** A mailbox at Gmail. */
export function createGmail(api: Api, address: string | undefined): MailProvider {
  let owner: Address | undefined = address ? { address } : undefined;

  const self = async (signal: AbortSignal): Promise<Address> => {
    if (!owner) {
      const profile = await api.request("the mailbox's owner", signal, (gmail, options) =>
        gmail.users.getProfile({ userId: "me" }, options),
      );
      if (!profile.emailAddress)
        throw new ToolFault("tool_error", "Gmail did not tell the mailbox's address");
      owner = { address: profile.emailAddress };
    }
    return owner;
  };

  return {
    kind: "google",
    self,
    refresh: api.refresh,
    search: (query, signal) => raiseFaults("the search could not be read", () => search(api, query, signal)),
    get: (id, signal) =>
      raiseFaults(`message '${id}' could not be read`, async () => {
        const raw = await api.request(`message '${id}'`, signal, (gmail, options) =>
          gmail.users.messages.get({ userId: "me", id: checkId(id), format: "raw" }, options),
        );
        return await readGmailMessage(raw);
      }),
    send: (mail, signal) =>
      raiseFaults("the message could not be read", async () =>
        send(api, mail, (await self(signal)).address, signal),
      ),
    draft: (mail, signal) =>
      raiseFaults("the draft could not be read", async () =>
        draft(api, mail, (await self(signal)).address, signal),
      ),
    findByMessageId: (messageId, kind, signal) =>
      raiseFaults(`message '${messageId}' could not be read`, async () => {
        if (kind === "draft") return await findDraft(api, messageId, signal);
        return await findSent(api, messageId, (await self(signal)).address, signal);
      }),
    delivery: (id, signal) =>
      raiseFaults(`message '${id}' could not be read`, async () => {
        const message = await fetchMetadata(api, checkId(id), ["Message-ID"], signal);
        if (!message.labelIds?.includes("SENT")) {
          throw new ToolFault("params", `message '${id}' was not sent from this mailbox`);
        }
        const delivery = await readSentDelivery(message, (await self(signal)).address);
        return await addReports(api, message, delivery, signal);
      }),
  };
}

async function send(api: Api, mail: OutgoingMail, own: string, signal: AbortSignal): Promise<SentMail> {
  const requestBody = await buildBody(mail, own);
  const sent = await api.request("the message to be sent", signal, (gmail, options) =>
    gmail.users.messages.send({ userId: "me", requestBody }, options),
  );
  if (!sent.id) throw new ToolFault("tool_error", "Gmail did not say which message it sent");
  const headers = [{ name: "To", value: [...mail.to, ...mail.cc, ...mail.bcc].join(", ") }];
  const { labelIds = [], internalDate = String(Date.now()) } = sent;
  const delivery = await readSentDelivery({ labelIds, internalDate, payload: { headers } }, own);
  return { id: sent.id, threadId: sent.threadId ?? "", delivery };
}

async function draft(
  api: Api,
  mail: OutgoingMail,
  own: string,
  signal: AbortSignal,
): Promise<{ id: string; messageId: string }> {
  const message = await buildBody(mail, own);
  const kept = await api.request("the draft", signal, (gmail, options) =>
    gmail.users.drafts.create({ userId: "me", requestBody: { message } }, options),
  );
  if (!kept.id) throw new ToolFault("tool_error", "Gmail did not say which draft it keeps");
  return { id: kept.id, messageId: mail.messageId };
}

async function findSent(
  api: Api,
  messageId: string,
  own: string,
  signal: AbortSignal,
): Promise<SentMail | null> {
  const found = await findMessage(api, messageId, "SENT", signal);
  if (!found?.id) return null;
  return { id: found.id, threadId: found.threadId ?? "", delivery: await readSentDelivery(found, own) };
}

/** A draft goes by an id of its own, not by that of its message. */
async function findDraft(api: Api, messageId: string, signal: AbortSignal): Promise<SentMail | null> {
  const found = await findMessage(api, messageId, "DRAFT", signal);
  const id = found?.id ? await findDraftId(api, messageId, found.id, signal) : null;
  if (!found || !id) return null;
  const delivery = { status: "unknown", recipients: [], timestamp: readGmailDate(found) } as const;
  return { id, threadId: found.threadId ?? "", delivery };
}

async function search(
  api: Api,
  query: MailQuery,
  signal: AbortSignal,
): Promise<{ messages: MailSummary[]; total: number }> {
  const { ids, estimate } = await listIds(api, query, signal);
  const read = await mapLimited(ids, AT_ONCE, (id) => readIfThere(api, id, signal));
  const messages = read.filter((one) => one !== null).filter((one) => isWithinQuery(one.date, query));
  messages.sort((one, other) => Date.parse(other.date) - Date.parse(one.date));
  return { messages, total: Math.max(messages.length, estimate) };
}

/** Gmail only estimates how many there are in all; where it has told them all, they are counted. */
async function listIds(
  api: Api,
  query: MailQuery,
  signal: AbortSignal,
): Promise<{ ids: string[]; estimate: number }> {
  const ids: string[] = [];
  const q = buildGmailQuery(query);
  let pageToken: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const maxResults = Math.min(PAGE, query.limit - ids.length);
    const page = await api.request("the search", signal, (gmail, options) =>
      gmail.users.messages.list(
        { userId: "me", maxResults, ...(q ? { q } : {}), ...(pageToken ? { pageToken } : {}) },
        options,
      ),
    );
    ids.push(...(page.messages ?? []).map(({ id }) => id ?? "").filter(Boolean));
    pageToken = page.nextPageToken ?? undefined;
    if (!pageToken) break;
    if (ids.length >= query.limit) {
      return { ids: ids.slice(0, query.limit), estimate: page.resultSizeEstimate ?? 0 };
    }
  }
  return { ids, estimate: 0 };
}

/** A message may be deleted between the list and its reading. */
async function readIfThere(api: Api, id: string, signal: AbortSignal): Promise<MailSummary | null> {
  try {
    return await readGmailSummary(await fetchMetadata(api, id, SUMMARY_HEADERS, signal));
  } catch (thrown) {
    if (isServiceFault(thrown, "params")) return null;
    throw thrown;
  }
}

async function buildBody(mail: OutgoingMail, from: string): Promise<{ raw: string; threadId?: string }> {
  const raw = await composeRaw(mail, from);
  return mail.threadId ? { raw, threadId: mail.threadId } : { raw };
}

function checkId(id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw new ToolFault("params", `'${id}' is no id of a message at Gmail`);
}
