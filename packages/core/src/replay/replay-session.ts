import { dirname } from "node:path";
import type { Clock } from "../budget/clock.ts";
import { createApprovals } from "../host/approvals.ts";
import { createHost, type RuntimeOptions } from "../host/create-host.ts";
import { readNamedTexts, readTree } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import { isClosed, metadataOf, subtreeOf } from "../run/read-row.ts";
import type { Host, Session } from "../run/run.ts";
import { RetinueError } from "../schema/error.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import { assembleSession, type Terms } from "../session/open-session.ts";
import { beginRoot } from "../session/root-run.ts";
import type { Divergence } from "./divergence.ts";
import { Playback } from "./playback.ts";
import { approvalsIn, flagsOf, readRootRequest } from "./recorded-request.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { RecordedSession } from "./recorded-session.ts";

/** What came of a replay. */
export type ReplayReport = {
  sessionId: string;
  identical: boolean;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  /** The first place that is not as recorded. */
  divergence: Divergence | null;
};

/**
 * Runs a recorded session again, with the present agents and rights and the recorded replies, results, ids and times.
 * Nothing outside is called and nothing is written; the tree that comes out is compared with the recorded one.
 */
export async function replaySession(
  options: RuntimeOptions,
  record: Record,
  sessionId: string,
): Promise<ReplayReport> {
  const row = await record.findSession(sessionId);
  const roots = await readTree(record, row.session_id);
  if (roots.length === 0) throw new RetinueError("input", `session ${row.session_id} has no run to replay`);
  const recorded = await readRecorded(record, roots);
  const playback = new Playback(recorded);
  const terms = JSON.parse(row.metadata_json ?? "{}") as Partial<Terms>;
  const copy = createSqliteRecord({ path: ":memory:" });
  for (const runId of recorded.runs.keys()) {
    const worktree = await record.findWorktree({ runId });
    if (worktree) await copy.write({ kind: "worktree.save", row: worktree });
  }
  const control = createHost(
    {
      ...options,
      projectDir: row.project,
      dataDir: dirname(dirname(row.workspace)),
      permissionMode: terms.readOnly ? "plan" : (options.permissionMode ?? "default"),
      disallowedTools: [
        ...new Set([
          ...(options.disallowedTools ?? []),
          ...roots.flatMap((root) => flagsOf(root, recorded).disallowedTools),
        ]),
      ],
    },
    {
      record: copy,
      clock: createReplayClock(row.created_at),
      resolveModel: async (name) => ({ ...MODEL, id: name }),
    },
  );
  const host: Host = {
    ...playback.takeOver(control.host),
    approve: createApprovals({
      mode: control.host.mode,
      allowedTools: options.allowedTools ?? [],
      approver: approvalsIn(roots),
      answered: (request) => copy.findAnswer(request),
    }),
  };
  try {
    const projectText = terms.projectText === true && mayBeginWithProjectText(roots);
    const session = await openCopy(host, row, { ...terms, projectText });
    await Promise.all(roots.map((root) => playRoot(session, root, recorded)));
    await copy.committed();
    const played = await readTree(copy, row.session_id);
    const now = await readRecorded(copy, played);
    const divergence = recorded.divergences.first ?? compareTrees(recorded, now);
    const { modelCalls, toolCalls } = playback;
    return {
      sessionId: row.session_id,
      identical: divergence === null,
      runs: now.runs.size,
      modelCalls,
      toolCalls,
      divergence,
    };
  } finally {
    await control.close();
  }
}

async function readRecorded(record: Record, roots: readonly MessageNode[]): Promise<RecordedSession> {
  const texts = await readNamedTexts(
    record,
    roots.flatMap((root) => [...subtreeOf(root)]),
  );
  return new RecordedSession(roots, (id) => texts.get(id));
}

/** The session once more, under its own id and on its own paths, but in a record of its own that nobody keeps. */
async function openCopy(host: Host, row: SessionRow, kept: Partial<Terms>): Promise<Session> {
  const { session_id: id, title, project: projectDir, workspace: workspaceDir } = row;
  const terms: Terms = { maxDepth: host.settings.maxDepth, readOnly: false, ...kept, limits: {} };
  await host.record.startSession({
    sessionId: id,
    title,
    project: projectDir,
    workspace: workspaceDir,
    metadata: terms,
  });
  const lease = { lost: new AbortController().signal, release: () => {}, park: async () => {} };
  const place = { id, title, projectDir, workspaceDir, startedAtMs: host.clock.wallMs(), lease };
  return assembleSession(host, place, terms);
}

/**
 * Whether text of the project may have been there when a run began: that of an earlier run of the session, of what it was
 * forked from, of a plan or of reports. Otherwise the text enters a replay where it entered then, with the answer of a call.
 */
function mayBeginWithProjectText(roots: readonly MessageNode[]): boolean {
  if (roots.length > 1) return true;
  return roots
    .map(metadataOf)
    .some(({ forkedFrom, conducted, told }) => Boolean(forkedFrom ?? conducted ?? told));
}

async function playRoot(session: Session, root: MessageNode, recorded: RecordedSession): Promise<void> {
  const request = readRootRequest(root, recorded);
  try {
    const { result } = await beginRoot(session, request, { runId: root.run_id });
    await result;
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    const about = { run: request.agent, turn: 0, what: "the beginning of the run" };
    recorded.divergences.note(root.opened_seq, { ...about, recorded: "it began", now: thrown.message });
  }
}

/** No model: everything it would say is recorded. */
const MODEL: CallableModel = {
  id: "replay/recorded",
  provider: "replay",
  price: { input: 0, output: 0 },
  unmetered: true,
  model: {
    specificationVersion: "v4",
    provider: "replay",
    modelId: "recorded",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("a replay calls no model")),
    doStream: () => Promise.reject(new Error("a replay calls no model")),
  },
};

/** The clock of a replay: it shows when the session began, no time passes, and nothing has to be waited for. */
function createReplayClock(startedAt: string): Clock {
  const startedMs = Date.parse(startedAt);
  return {
    monotonicMs: () => 0,
    wallMs: () => startedMs,
    timer(_, fire) {
      const handle = setImmediate(fire);
      return () => clearImmediate(handle);
    },
  };
}

/** The first recorded run that is missing now, or ended in another way; else one that is new. */
export function compareTrees(recorded: RecordedSession, now: RecordedSession): Divergence | null {
  const then = [...recorded.runs.values()].sort((one, other) => one.node.opened_seq - other.node.opened_seq);
  for (const run of then) {
    const same = now.runs.get(run.node.run_id);
    if (!same) return differing(run, outline(run), "it is not started");
    // Where the record ends, how the run would have gone on is not known.
    if (isClosed(run.node) && outline(run) !== outline(same))
      return differing(run, outline(run), outline(same));
  }
  // Records of earlier versions have no rows for tasks that never began.
  const added = [...now.runs].find(([id, run]) => !recorded.runs.has(id) && !run.isUnstarted)?.[1];
  return added ? differing(added, "no such run", outline(added)) : null;
}

function differing({ path }: RecordedRun, recorded: string, now: string): Divergence {
  return { run: path, turn: 0, what: "the run", recorded, now };
}

function outline({ path, node }: RecordedRun): string {
  return `${path}: ${node.status} after ${node.iteration_count} turns`;
}
