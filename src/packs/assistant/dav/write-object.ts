import { ToolFault } from "../errors/tool-fault.ts";
import { calendarText, type Series } from "../ical/parse-calendar.ts";
import { type DavServer, davFetch } from "./dav-fetch.ts";

const CHANGED = "the event has changed since it was read; read it again and decide anew";

/** Puts a new event into a calendar; `params` if there is one of this id already. */
export async function createFile(
  server: DavServer,
  { calendar, id, series }: { readonly calendar: string; readonly id: string; readonly series: Series },
  signal: AbortSignal,
): Promise<void> {
  const { createObject } = await import("tsdav");
  const response = await createObject({
    url: new URL(`${encodeURIComponent(id)}.ics`, calendar).href,
    data: await calendarText([series]),
    headers: { "content-type": "text/calendar; charset=utf-8", "If-None-Match": "*" },
    fetch: davFetch(server, signal),
  });
  if (response.status === 412 || response.status === 409)
    throw new ToolFault("params", `there is an event '${id}' already`);
  check(response);
}

/** Replaces a file that is in the state of the etag; `params` if it has changed. */
export async function replaceFile(
  server: DavServer,
  file: { readonly url: string; readonly etag: string; readonly series: readonly Series[] },
  signal: AbortSignal,
): Promise<void> {
  refuseStateless(file);
  const { updateObject } = await import("tsdav");
  const response = await updateObject({
    url: file.url,
    etag: file.etag,
    data: await calendarText(file.series),
    headers: { "content-type": "text/calendar; charset=utf-8" },
    fetch: davFetch(server, signal),
  });
  if (response.status === 412) throw new ToolFault("params", CHANGED);
  check(response);
}

/** Deletes a file that is in the state of the etag; `params` if it has changed. */
export async function deleteFile(
  server: DavServer,
  file: { readonly url: string; readonly etag: string },
  signal: AbortSignal,
): Promise<void> {
  refuseStateless(file);
  const { deleteObject } = await import("tsdav");
  const response = await deleteObject({ ...file, fetch: davFetch(server, signal) });
  if (response.status === 412) throw new ToolFault("params", CHANGED);
  check(response);
}

/** Without an etag the request would carry no condition, and undo what others did meanwhile. */
function refuseStateless({ etag }: { readonly etag: string }): void {
  if (etag !== "") return;
  throw new ToolFault("tool_error", "the server does not tell the event's state, so it is not changed");
}

function check(response: Response): void {
  if (response.ok) return;
  const said = `the calendar server answered ${response.status} ${response.statusText}`.trim();
  throw new ToolFault(response.status === 404 ? "params" : "tool_error", said);
}
