import { dirname } from "node:path";
import { beginRoot } from "../delegate/root-run.ts";
import { createStore, type Store } from "../record/create-store.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import { RetinueError } from "../schema/error.ts";
import type { MessageNode, SessionRow } from "../schema/record.ts";
import { createMaker } from "../session/create-maker.ts";
import type { Session } from "../session/host.ts";
import { assembleSession, type SessionMaker, type Terms } from "../session/open-session.ts";
import type { RuntimeOptions } from "../session/runtime.ts";
import { compareTrees } from "./compare-trees.ts";
import type { Divergence } from "./divergence.ts";
import { approvalsIn, flagsOf, readRootRequest } from "./recorded-request.ts";
import { RecordedSession } from "./recorded-session.ts";
import { replayClock } from "./replay-clock.ts";
import { ReplaySource } from "./replay-source.ts";

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
  const source = new ReplaySource(recorded);
  const copy = createStore({ path: ":memory:" });
  for (const runId of recorded.runs.keys()) {
    const worktree = store.worktree(runId);
    if (worktree) copy.saveWorktree(worktree);
  }
  const maker = replayMaker(options, { row, roots, recorded, source, copy });
  try {
    const session = await openCopy(maker, row);
    await Promise.all(roots.map((root) => playRoot(maker, session, root, recorded)));
    await copy.committed();
    const now = new RecordedSession(copy.tree(row.session_id), (id) => copy.prompt(id));
    const divergence = recorded.divergences.first ?? compareTrees(recorded, now);
    const { modelCalls, toolCalls } = source;
    return {
      sessionId: row.session_id,
      identical: divergence === null,
      runs: now.runs.size,
      modelCalls,
      toolCalls,
      divergence,
    };
  } finally {
    await maker.host.changes.close();
    await copy.shutdown();
    maker.closeModels();
  }
}

/** What a replay is made of. */
type Parts = {
  row: SessionRow;
  roots: readonly MessageNode[];
  recorded: RecordedSession;
  source: ReplaySource;
  copy: Store;
};

function replayMaker(options: RuntimeOptions, { row, roots, recorded, source, copy }: Parts) {
  const { maxDepth, readOnly } = termsOf(row);
  const disallowedTools = roots.flatMap((root) => flagsOf(root, recorded).disallowedTools);
  return createMaker(
    {
      ...options,
      settings: { ...options.settings, ...(maxDepth !== undefined && { maxDepth }) },
      projectDir: row.project,
      dataDir: dirname(dirname(row.workspace)),
      permissionMode: readOnly ? "plan" : (options.permissionMode ?? "default"),
      disallowedTools: [...new Set([...(options.disallowedTools ?? []), ...disallowedTools])],
      approve: approvalsIn(roots),
    },
    {
      store: copy,
      recorded: source,
      clock: replayClock(row.created_at),
      resolveModel: async (name) => ({ ...MODEL, id: name }),
      guards: { checkDeliverables: async (run) => source.verdicts(run) },
    },
  );
}

function termsOf(row: SessionRow): Partial<Terms> {
  return JSON.parse(row.metadata_json ?? "{}") as Partial<Terms>;
}

/** The session once more, under its own id and on its own paths, but in a record of its own that nobody keeps. */
function openCopy(maker: SessionMaker, row: SessionRow): Promise<Session> {
  const { session_id: sessionId, title, project, workspace } = row;
  const terms: Terms = {
    limits: {},
    maxDepth: maker.host.settings.maxDepth,
    readOnly: false,
    ...termsOf(row),
  };
  maker.host.store.startSession({ sessionId, title, project, workspace, metadata: terms });
  const lease = { lost: new AbortController().signal, release: () => {}, park: async () => {} };
  const startedAtMs = maker.clock.wallMs();
  const place = { id: sessionId, title, projectDir: project, workspaceDir: workspace, startedAtMs, lease };
  return assembleSession(maker, place, terms);
}

async function playRoot(
  maker: SessionMaker,
  session: Session,
  root: MessageNode,
  recorded: RecordedSession,
): Promise<void> {
  const request = readRootRequest(root, recorded);
  try {
    const { result } = await beginRoot(maker, session, request, { runId: root.run_id });
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
