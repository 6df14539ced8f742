import { isRunRow, readTree } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import { subtreeOf } from "../run/read-row.ts";
import type { FileChange, FileState } from "../schema/change.ts";
import { RetinueError } from "../schema/error.ts";
import { listSome } from "../schema/list-some.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import { sameState } from "./state.ts";

/** What a person names when he asks for changes: a run with everything below it, a session, or an earlier act. */
export type Scope = {
  /** The full id. */
  id: string;
  kind: "run" | "session" | "act";
  session: SessionRow;
  changes: readonly FileChange[];
};

/** What a path was before everything in a scope, and after. */
export type NetChange = {
  root: string;
  path: string;
  before: FileState;
  after: FileState;
  /** False if the process ended inside the last change. */
  outcomeKnown: boolean;
  /** Somebody else changed it between two changes of the scope. */
  interrupted: boolean;
  /** When the last change was closed; null if it is open. */
  closedSeq: number | null;
};

/** Finds a run, session or act by its id or a beginning of it that fits only one. */
export async function findScope(record: Record, name: string): Promise<Scope> {
  if (name.startsWith("ses_")) return await sessionScope(record, await record.findSession(name));
  const found = await record.findRuns(name);
  const [only] = found;
  if (!only || found.length > 1)
    throw await notFound(
      name,
      found.map(({ id }) => id),
      record,
    );
  const session = await record.findSession(only.sessionId);
  const ids = only.kind === "act" ? [only.id] : await runsBelow(record, only.sessionId, only.id);
  return { id: only.id, kind: only.kind, session, changes: await changesIn(record, ids) };
}

async function sessionScope(record: Record, session: SessionRow): Promise<Scope> {
  const id = session.session_id;
  const ids = [id, ...(await record.readRows({ sessionId: id, kind: "runs" })).map((run) => run.run_id)];
  return { id, kind: "session", session, changes: await changesIn(record, ids) };
}

async function runsBelow(record: Record, sessionId: string, runId: string): Promise<string[]> {
  const ids = new Set<string>();
  const left: MessageNode[] = await readTree(record, sessionId);
  for (let node = left.pop(); node; node = left.pop()) {
    if (node.run_id === runId && isRunRow(node)) for (const row of subtreeOf(node)) ids.add(row.run_id);
    else left.push(...node.children);
  }
  return [...ids];
}

/** With the acts on these runs, and the acts on those acts. */
async function changesIn(record: Record, runIds: readonly string[]): Promise<FileChange[]> {
  const ids = new Set(runIds);
  while (true) {
    const changes = await record.listChanges({ ids: [...ids] });
    const acts = changes.map((change) => change.runId).filter((id) => isAct(id) && !ids.has(id));
    if (acts.length === 0) return changes;
    for (const id of acts) ids.add(id);
  }
}

/** Whether an id is that of a person's act rather than of a run. */
export function isAct(id: string): boolean {
  return id.startsWith("und_") || id.startsWith("mrg_");
}

/** Sums up the changes of each path; what ends as it began is left out. */
export function netChanges(changes: readonly FileChange[]): NetChange[] {
  const byPath = new Map<string, NetChange>();
  for (const change of changes) {
    if (change.note !== null) continue;
    const { root, path, before, after, closedSeq } = change;
    const outcomeKnown = change.outcomeKnown && closedSeq !== null;
    const key = `${root}\0${path}`;
    const earlier = byPath.get(key);
    const fits = !earlier?.outcomeKnown || sameState(earlier.after, before);
    byPath.set(key, {
      root,
      path,
      before: earlier ? earlier.before : before,
      after,
      outcomeKnown,
      interrupted: (earlier?.interrupted ?? false) || !fits,
      closedSeq,
    });
  }
  return [...byPath.values()].filter((net) => !net.outcomeKnown || !sameState(net.before, net.after));
}

/** What could not be kept, once per reason. */
export function unkept(changes: readonly FileChange[]): string[] {
  const texts = changes
    .filter((change) => change.note !== null)
    .map(({ path, note, runId }) => `${path === "" ? "changes of a command" : path} (${runId}): ${note}`);
  return [...new Set(texts)];
}

async function notFound(name: string, fitting: readonly string[], record: Record): Promise<RetinueError> {
  if (fitting.length > 0)
    return new RetinueError(
      "input",
      `'${name}' fits several runs: ${listSome(fitting)}`,
      "give more of the id",
    );
  const [newest] = (await record.listSessions({ limit: 1 })).sessions;
  const runs = newest
    ? (await record.readRows({ sessionId: newest.session_id, kind: "runs" })).slice(0, 5)
    : [];
  const known = newest ? [newest.session_id, ...runs.map((run) => run.run_id)].join(", ") : "none yet";
  const hint = "see runs with: retinue trace last --json";
  return new RetinueError("input", `no run or session '${name}'; the latest are: ${known}`, hint);
}
