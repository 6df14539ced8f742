import type { ImapFlow } from "imapflow";
import { ToolFault } from "../errors/tool-fault.ts";

/** Where a message lies; its id is `folder:uidvalidity:uid`. */
export type MailPlace = { readonly folder: string; readonly validity: string; readonly uid: number };

/** The id of a message. */
export function mailId({ folder, validity, uid }: MailPlace): string {
  return `${folder}:${validity}:${uid}`;
}

/** Where an id says that a message lies; `params` if it is no id of this mailbox. */
function parseMailId(id: string): MailPlace {
  const [, folder, validity, uid] = /^(.+):(\d{1,20}):(\d{1,10})$/s.exec(id) ?? [];
  if (folder === undefined || validity === undefined) throw noMessage(id);
  return { folder, validity, uid: Number(uid) };
}

/** The fault for an id that names nothing. */
export function noMessage(id: string): ToolFault {
  return new ToolFault("params", `there is no message '${id.slice(0, 200)}' in this mailbox`);
}

/** Does work in a folder; the folder is not changed by another caller meanwhile. */
export async function inFolder<Value>(
  client: ImapFlow,
  folder: string,
  work: (validity: string) => Promise<Value>,
): Promise<Value> {
  const lock = await client.getMailboxLock(folder);
  try {
    return await work(client.mailbox ? String(client.mailbox.uidValidity) : "0");
  } finally {
    lock.release();
  }
}

/** Does work on one message; `params` if its folder is gone or was numbered anew. */
export async function atMessage<Value>(
  client: ImapFlow,
  id: string,
  work: (place: MailPlace) => Promise<Value>,
): Promise<Value> {
  const place = parseMailId(id);
  const folders = await client.list();
  if (!folders.some(({ path }) => path === place.folder)) throw noMessage(id);
  return inFolder(client, place.folder, (validity) => {
    if (validity !== place.validity) throw noMessage(id);
    return work(place);
  });
}
