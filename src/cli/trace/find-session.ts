import { realpathSync } from "node:fs";
import { RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { type CommonOptions, projectDirOf } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";

/** The session that a person names: by its id, the beginning of it, or `last` for the last one of this project. */
export function findSession(
  store: Store,
  id: string,
  options: CommonOptions,
  terminal: Terminal,
): SessionRow {
  if (id !== "last") return store.findSession(id);
  const project = realpathSync(projectDirOf(options, terminal));
  const [last] = store.sessions({ project, limit: 1 });
  if (last) return last;
  throw new RetinueError(
    "input",
    `no session of ${project} is recorded`,
    "see them all with: retinue sessions",
  );
}

/** What to say of a named session when nothing was ever recorded. */
export function noSessions(id: string): RetinueError {
  return new RetinueError("input", `no session '${id}'; there are none yet`, "start one with: retinue run");
}
