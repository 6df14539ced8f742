import type { AgentRegistry } from "@retinue/core/agents/registry";
import type { Record } from "@retinue/core/record/record";
import { SessionTaken } from "@retinue/core/record/record";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { fanOutOf } from "@retinue/core/session/root-tasks";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { findRealProject, openWorkingProject } from "../open-project.ts";
import { createNoneYetError, findSession, withRecord } from "../open-record.ts";
import { OUTCOME, SHOWING } from "../options.ts";
import { type Cli, changeOptions } from "../terminal.ts";
import { pickAgent, type RunOptions } from "../work/run-options.ts";
import { readTaskRequest, watchTask } from "../work/run-task.ts";

/** Declares `retinue resume`. */
export default function registerResume(command: CliCommand): void {
  command
    .description(
      "go on with a session that a crash or a kill ended; this project's latest open one by default",
    )
    .argument("[id]", "a session's id or the beginning of it; `last` for this project's latest open one")
    .shares(...SHOWING, ...OUTCOME)
    .examples("retinue resume", "retinue resume ses_abc --on-ask park")
    .performs(resumeTask);
}

/** `retinue resume`: continues a session that a crash or a kill ended, in its own project, and returns the exit code. */
export async function resumeTask(id: string | undefined, cli: Cli<RunOptions>): Promise<number> {
  const session = await findOpen(id, cli);
  const project = await openWorkingProject(changeOptions(cli, { cwd: session.project }));
  if (!cli.options.print) cli.tell(`resuming ${session.session_id}: ${cutToLine(session.title, 120)}`);
  return watchTask(project, cli, (runtime) => runtime.resume(session.session_id));
}

async function findOpen(id: string | undefined, cli: Cli<RunOptions>): Promise<SessionRow> {
  const project = findRealProject(cli);
  const found = await withRecord(cli, async (record) => {
    if (id !== undefined && id !== "last") return await record.findSession(id);
    const open = (await record.listSessions({ project, status: "running", limit: -1 })).sessions;
    // What another process is at work on was not interrupted.
    for (const session of open) if (!(await record.findHolder(session.session_id))) return session;
    return open[0];
  });
  if (found) return found;
  throw new RetinueError(
    "input",
    `no session of ${project} is open; there is nothing to resume`,
    "see those of all projects with: retinue sessions",
  );
}

/** A session to continue, the agent its last task went to, what it waits for, and the process that has it. */
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
export async function goOnTask(argument: string | undefined, cli: Cli<RunOptions>): Promise<number> {
  const { id, task } = namedIn(argument, cli.options);
  if (cli.options.resume === true && task === undefined) return resumeTask(undefined, cli);
  const earlier = await findEarlier(id, cli);
  const { row, agent } = earlier;
  const isOpen = row.status === "running";
  if (isOpen && task === undefined && !cli.options.continue) return resumeTask(row.session_id, cli);
  if (isOpen) throw notEnded(earlier);
  const project = await openWorkingProject(changeOptions(cli, { cwd: row.project }));
  const last = agent !== undefined && isThere(project.registry, agent) ? agent : undefined;
  const picked = pickAgent(project.registry, cli.options.agent ?? last);
  const request = await readTaskRequest(task, cli);
  if (!cli.options.print) cli.tell(`going on with ${row.session_id}`);
  return watchTask(project, cli, (runtime) =>
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

async function findEarlier(id: string | undefined, cli: Cli<RunOptions>): Promise<Earlier> {
  const found = await withRecord(cli, async (record) => {
    const row = id === undefined ? await findNewest(record, cli) : await findSession(record, id, cli);
    if (!row) return undefined;
    const [last] = (await record.readRows({ sessionId: row.session_id, kind: "runs" }))
      .filter((run) => run.agent_depth === 0)
      .slice(-1);
    const [question] = await record.listApprovals({ sessionId: row.session_id, state: "waiting", limit: 1 });
    const holder = await record.findHolder(row.session_id);
    return { row, agent: last?.agent_role ?? undefined, waiting: question?.approvalId, holder };
  });
  if (found) return found;
  if (id !== undefined) throw createNoneYetError(`session '${id}'`);
  throw new RetinueError(
    "input",
    "this project has no session to go on with",
    'start one with: retinue run "…"; see those of other projects with: retinue sessions',
  );
}

/** The last session of a project that is one conversation. */
async function findNewest(record: Record, cli: Cli): Promise<SessionRow | undefined> {
  const project = findRealProject(cli);
  return (await record.listSessions({ project, limit: -1 })).sessions.find(
    (row) => fanOutOf(row) === undefined,
  );
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
