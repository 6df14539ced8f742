import type { DAVAddressBook, DAVCalendar } from "tsdav";
import { ToolFault } from "../errors/tool-fault.ts";
import { type DavServer, davFetch, serverUrl } from "./dav-fetch.ts";

const MAX_COLLECTIONS = 20;
const WRITING: readonly string[] = ["write", "writeContent", "bind", "all"];

/** A calendar of the account. */
export type OwnCalendar = { readonly url: string; readonly isWritable: boolean };

/** The calendars of an account that hold events, those it may write first. */
export async function findCalendars(server: DavServer, signal: AbortSignal): Promise<OwnCalendar[]> {
  const { fetchCalendars } = await import("tsdav");
  const account = await findAccount(server, "caldav", signal);
  const calendars = await fetchCalendars({
    account,
    props: {
      "d:displayname": {},
      "d:resourcetype": {},
      "c:supported-calendar-component-set": {},
      "d:current-user-privilege-set": {},
    },
    projectedProps: { currentUserPrivilegeSet: true },
    fetch: davFetch(server, signal),
  });
  const own = calendars
    .filter(({ components }) => !components?.length || components.includes("VEVENT"))
    .slice(0, MAX_COLLECTIONS)
    .map((calendar) => ({ url: withSlash(calendar), isWritable: isWritable(calendar) }));
  if (own.length === 0)
    throw new ToolFault("tool_error", `there is no calendar of ${server.user} at ${server.url}`);
  return own.sort((a, b) => Number(b.isWritable) - Number(a.isWritable));
}

/** The addresses of an account's address books. */
export async function findAddressBooks(server: DavServer, signal: AbortSignal): Promise<string[]> {
  const { fetchAddressBooks } = await import("tsdav");
  const account = await findAccount(server, "carddav", signal);
  const books = await fetchAddressBooks({ account, fetch: davFetch(server, signal) });
  if (books.length === 0)
    throw new ToolFault("tool_error", `there is no address book of ${server.user} at ${server.url}`);
  return books.slice(0, MAX_COLLECTIONS).map(withSlash);
}

async function findAccount(server: DavServer, accountType: "caldav" | "carddav", signal: AbortSignal) {
  const { createAccount } = await import("tsdav");
  return await createAccount({
    account: { accountType, serverUrl: serverUrl(server.url).href },
    fetch: davFetch(server, signal),
  });
}

function withSlash({ url }: DAVCalendar | DAVAddressBook): string {
  return url.endsWith("/") ? url : `${url}/`;
}

/** A server that does not say what may be done is asked by doing it. */
function isWritable({ projectedProps }: DAVCalendar): boolean {
  const set = projectedProps?.currentUserPrivilegeSet;
  const privilege = typeof set === "object" && set !== null && "privilege" in set ? set.privilege : undefined;
  if (privilege === undefined) return true;
  return [privilege].flat().some((one) => {
    return typeof one === "object" && one !== null && Object.keys(one).some((name) => WRITING.includes(name));
  });
}
