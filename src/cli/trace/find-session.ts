import { RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";

/** The session that a person names: by its id, the beginning of it, or `last` for the newest. */
export function findSession(store: Store, id: string): SessionRow {
  if (id !== "last") return store.findSession(id);
  const [newest] = store.sessions({ limit: 1 });
  if (newest) return newest;
  throw noSessions(id);
}

/** What to say of a named session when nothing was ever recorded. */
export function noSessions(id: string): RetinueError {
  return new RetinueError("input", `no session '${id}'; there are none yet`, "start one with: retinue run");
}
