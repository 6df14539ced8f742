import { dirname } from "node:path";
import { createStore, type Store } from "../record/create-store.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import type { Host, Session } from "../run/run.ts";
import { RetinueError } from "../schema/error.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import { createApprovals } from "../session/approvals.ts";
import { createHost } from "../session/create-host.ts";
import { assembleSession, type Terms } from "../session/open-session.ts";
import { beginRoot } from "../session/root-run.ts";
import type { RuntimeOptions } from "../session/runtime.ts";
import { compareTrees } from "./compare-trees.ts";
import type { Divergence } from "./divergence.ts";
import { Playback } from "./playback.ts";
import { approvalsIn, flagsOf, readRootRequest } from "./recorded-request.ts";
import { RecordedSession } from "./recorded-session.ts";
import { replayClock } from "./replay-clock.ts";

/** What came of a replay. */
export type ReplayReport = {
  sessionId: string;
  identical: boolean;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  /** The first place where now is not as recorded. */
  divergence: Divergence | null;
};

/**
 * Runs a recorded session again, with the agents and rights of now and the replies, results, ids and times of then.
 * Nothing outside is called and nothing is written; the tree that comes out is held against the recorded one.
 */
export async function replaySession(
  options: RuntimeOptions,
  store: Store,
  sessionId: string,
): Promise<ReplayReport> {
  const row = store.findSession(sessionId);
  const roots = store.tree(row.session_id);
  if (roots.length === 0) throw new RetinueError("input", `session ${row.session_id} has no run to replay`);
  const recorded = new RecordedSession(roots, (id) => store.prompt(id));
  const playback = new Playback(recorded);
  const terms = JSON.parse(row.metadata_json ?? "{}") as Partial<Terms>;
  const copy = createStore({ path: ":memory:" });
  for (const runId of recorded.runs.keys()) {
    const worktree = store.worktree(runId);
    if (worktree) copy.saveWorktree(worktree);
  }
  const control = createHost(
    {
      ...options,
      settings: { ...options.settings, ...(terms.maxDepth !== undefined && { maxDepth: terms.maxDepth }) },
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
      store: copy,
      clock: replayClock(row.created_at),
      resolveModel: async (name) => ({ ...MODEL, id: name }),
    },
  );
  const host: Host = {
    ...playback.takeOver(control.host),
    approve: createApprovals({
      mode: control.host.mode,
      allowedTools: options.allowedTools ?? [],
      approver: approvalsIn(roots),
      answered: copy.answerTo,
    }),
  };
  try {
    const session = openCopy(host, row, terms);
    await Promise.all(roots.map((root) => playRoot(session, root, recorded)));
    await copy.committed();
    const now = new RecordedSession(copy.tree(row.session_id), (id) => copy.prompt(id));
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

/** The session once more, under its own id and on its own paths, but in a record of its own that nobody keeps. */
function openCopy(host: Host, row: SessionRow, kept: Partial<Terms>): Session {
  const { session_id: id, title, project: projectDir, workspace: workspaceDir } = row;
  const terms: Terms = { maxDepth: host.settings.maxDepth, readOnly: false, ...kept, limits: {} };
  host.store.startSession({
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
