import { realpathSync } from "node:fs";
import { RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import { openWorkingProject, projectDirOf } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRecord } from "../trace/open-record.ts";
import type { RunOptions } from "./run-options.ts";
import { conduct } from "./run-task.ts";

/** `retinue resume`: goes on with a session that a crash or a kill ended, in its own project, and returns the exit code. */
export async function resumeTask(
  id: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<number> {
  const session = await findOpen(id, options, terminal);
  const project = await openWorkingProject({ ...options, cwd: session.project }, terminal);
  if (!options.print) terminal.tell(`resuming ${session.session_id}: ${plainLine(session.title, 120)}`);
  return conduct(project, options, terminal, (runtime) => runtime.resume(session.session_id));
}

async function findOpen(
  id: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<SessionRow> {
  const project = realpathSync(projectDirOf(options, terminal));
  const found = await withRecord(terminal, (store) => {
    if (id !== undefined && id !== "last") return store.findSession(id);
    const open = store.sessions({ project, status: "running", limit: -1 });
    // What another process is at work on was not interrupted.
    return open.find((session) => !store.holderOf(session.session_id)) ?? open[0];
  });
  if (found) return found;
  throw new RetinueError(
    "input",
    `no session of ${project} is open; there is nothing to resume`,
    "see those of all projects with: retinue sessions",
  );
}
