import { statusLabel } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRecord } from "./open-record.ts";

/** Options of `retinue sessions`. */
export type SessionsOptions = CommonOptions & { limit: number; search?: string };

/** `retinue sessions`. */
export async function listSessions(options: SessionsOptions, terminal: Terminal): Promise<void> {
  const { limit, search } = options;
  const sessions =
    (await withRecord(terminal, (store) => store.sessions({ limit, ...(search && { search }) }))) ?? [];
  if (options.json) return terminal.print(JSON.stringify(sessions, null, 2));
  if (sessions.length === 0)
    return terminal.print(search ? `no session with '${search}'` : "no sessions yet");
  const rows = sessions.map((row) => [
    row.session_id,
    row.created_at.slice(0, 16).replace("T", " "),
    statusLabel(row.status),
    plainLine(row.project, 40),
    plainLine(row.title, 60),
  ]);
  terminal.print(table([["SESSION", "STARTED (UTC)", "STATUS", "PROJECT", "TASK"], ...rows]).join("\n"));
}
