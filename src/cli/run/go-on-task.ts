import { realpathSync } from "node:fs";
import type { AgentRegistry } from "../../agents/registry.ts";
import { fanOutOf } from "../../runtime/record/root-tasks.ts";
import { RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { SessionTaken } from "../../store/session-lease.ts";
import { openWorkingProject, projectDirOf } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { findSession, noSessions } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";
import { pickAgent } from "./read-task.ts";
import { resumeTask } from "./resume-task.ts";
import type { RunOptions } from "./run-options.ts";
import { conduct, requestOf } from "./run-task.ts";

/** A session to go on with, the agent its last task went to, what it waits for, and the process that has it. */
type Earlier = {
  row: SessionRow;
  agent: string | undefined;
  waiting: string | undefined;
  holder: string | null;
};

/**
 * `retinue run --continue` and `--resume [ID]`: another task in a session that has ended, with its conversation. Without a
 * task, a session that was interrupted is finished instead.
 */
export async function goOnTask(
  argument: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<number> {
  const { id, task } = namedIn(argument, options);
  if (options.resume === true && task === undefined) return resumeTask(undefined, options, terminal);
  const earlier = await findEarlier(id, options, terminal);
  const { row, agent } = earlier;
  const isOpen = row.status === "running";
  if (isOpen && task === undefined && !options.continue) return resumeTask(row.session_id, options, terminal);
  if (isOpen) throw notEnded(earlier);
  const project = await openWorkingProject({ ...options, cwd: row.project }, terminal);
  const last = agent !== undefined && isThere(project.registry, agent) ? agent : undefined;
  const picked = pickAgent(project.registry, options.agent ?? last);
  const request = await requestOf(task, options, terminal);
  if (!options.print) terminal.tell(`going on with ${row.session_id}`);
  return conduct(project, options, terminal, (runtime) =>
    runtime.start({ ...request, agent: picked, session: row.session_id }),
  );
}

/** Whether there is an agent of this name, or what claims it but cannot be used: no other agent takes its place then. */
function isThere({ get, getBroken }: AgentRegistry, name: string): boolean {
  return (get(name) ?? getBroken(name)) !== undefined;
}

/** Of `--resume "a task"` the words are the task, because no id has a blank in it. */
function namedIn(
  argument: string | undefined,
  { resume }: RunOptions,
): { id: string | undefined; task: string | undefined } {
  if (typeof resume !== "string") return { id: undefined, task: argument };
  if (argument === undefined && /\s/.test(resume.trim())) return { id: undefined, task: resume };
  return { id: resume, task: argument };
}

async function findEarlier(
  id: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<Earlier> {
  const found = await withRecord(terminal, (store) => {
    const row =
      id === undefined
        ? newestOf(store, projectDirOf(options, terminal))
        : findSession(store, id, options, terminal);
    if (!row) return undefined;
    const [last] = store
      .runs(row.session_id)
      .filter((run) => run.agent_depth === 0)
      .slice(-1);
    const [question] = store.approvals({ sessionId: row.session_id, open: true, limit: 1 });
    const holder = store.holderOf(row.session_id);
    return { row, agent: last?.agent_role ?? undefined, waiting: question?.approvalId, holder };
  });
  if (found) return found;
  if (id !== undefined) throw noSessions(id);
  throw new RetinueError(
    "input",
    "this project has no session to go on with",
    'start one with: retinue run "…"; see those of other projects with: retinue sessions',
  );
}

/** The last session of a project that is one conversation. */
function newestOf(store: Store, projectDir: string): SessionRow | undefined {
  const project = realpathSync(projectDir);
  return store.sessions({ project, limit: -1 }).find((row) => fanOutOf(row) === undefined);
}

function notEnded({ row: { session_id: id }, waiting, holder }: Earlier): RetinueError {
  if (holder) return new SessionTaken(id, holder);
  if (waiting !== undefined)
    return new RetinueError(
      "input",
      `session ${id} waits for an approval`,
      `answer it first with: retinue approve ${waiting}`,
    );
  return new RetinueError(
    "input",
    `session ${id} has not ended`,
    `finish it first with: retinue resume ${id}, or end it with: retinue cancel ${id}`,
  );
}
