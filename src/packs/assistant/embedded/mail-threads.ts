import { createHash } from "node:crypto";
import type { Database } from "../../../store/file/open-database.ts";

/**
 * The thread of a message and of those it refers to; the message itself stands last. Threads that turn out to be one
 * are joined, so that the order in which messages come in does not matter.
 */
export function joinThread(db: Database["db"], messageIds: readonly string[], wanted?: string): string {
  const select = db.prepare("SELECT thread_id FROM thread_ids WHERE message_id = ?");
  const threads = new Set<string>();
  const isKnown =
    wanted !== undefined && db.prepare("SELECT 1 FROM thread_ids WHERE thread_id = ?").get(wanted);
  if (wanted !== undefined && isKnown) threads.add(wanted);
  for (const id of messageIds) {
    const row = select.get(id);
    if (row) threads.add(String(row.thread_id));
  }
  const [thread = threadOf(messageIds[0] ?? ""), ...others] = threads;
  for (const other of others) {
    db.prepare("UPDATE thread_ids SET thread_id = ? WHERE thread_id = ?").run(thread, other);
    db.prepare("UPDATE mails SET thread_id = ? WHERE thread_id = ?").run(thread, other);
  }
  const insert = db.prepare("INSERT OR IGNORE INTO thread_ids (message_id, thread_id) VALUES (?, ?)");
  for (const id of messageIds) insert.run(id, thread);
  return thread;
}

function threadOf(messageId: string): string {
  return `thread-${createHash("sha256").update(messageId).digest("hex").slice(0, 16)}`;
}
