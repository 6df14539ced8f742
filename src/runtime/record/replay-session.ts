import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallableModel } from "../../loop/run.ts";
import type { Limits } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import type { MessageNode } from "../../schema/record.ts";
import { createStore, type Store } from "../../store/create-store.ts";
import { assembleRuntime, type RuntimeOptions } from "../runtime.ts";
import { metadataOf, subtreeOf } from "./read-row.ts";
import { type Divergence, ReplaySource } from "./replay-source.ts";

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
 * Runs a recorded session again, with the agents and rights of now and the replies and results of then. Nothing
 * outside is called and nothing is written; the tree that comes out is held against the recorded one.
 */
export async function replaySession(
  options: RuntimeOptions,
  store: Store,
  sessionId: string,
): Promise<ReplayReport> {
  const session = store.findSession(sessionId);
  const roots = store.tree(session.session_id);
  const root = roots[0];
  if (!root) throw new RetinueError("input", `session ${session.session_id} has no run to replay`);
  const source = new ReplaySource(roots, (id) => store.prompt(id));
  const dataDir = await mkdtemp(join(tmpdir(), "retinue-replay-"));
  const copy = createStore({ path: ":memory:" });
  const runtime = assembleRuntime(
    { ...options, dataDir, projectDir: session.project, approve: recordedApproval(roots) },
    {
      store: copy,
      recorded: source,
      resolveModel: async () => MODEL,
      guards: { checkDeliverables: async (run) => source.verdicts(run) },
    },
  );
  const limits = metadataOf(root).limits as Limits;
  try {
    const result = await runtime.run({
      agent: root.agent_role ?? "",
      task: root.request_content ?? "",
      limits,
    });
    const replayed = copy.tree(result.session_id);
    const difference = source.divergence ?? treeDifference(roots.slice(0, 1), replayed);
    const runs = [...replayed.flatMap((node) => [...subtreeOf(node)])].filter(isRun).length;
    const { modelCalls, toolCalls } = source;
    return {
      sessionId: session.session_id,
      identical: !difference,
      runs,
      modelCalls,
      toolCalls,
      divergence: difference,
    };
  } finally {
    await runtime.close();
    await rm(dataDir, { recursive: true, force: true });
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

/** A person's word is as recorded: who approved a call then approves it now. */
function recordedApproval(roots: readonly MessageNode[]): NonNullable<RuntimeOptions["approve"]> {
  const approved = new Map<string, string>();
  for (const row of roots.flatMap((root) => [...subtreeOf(root)])) {
    const { tool, approvedBy } = metadataOf(row);
    if (typeof approvedBy === "string")
      approved.set(`${String(tool)} ${JSON.stringify(JSON.parse(row.request_content ?? "{}"))}`, approvedBy);
  }
  return async ({ tool, input }) => {
    const by = approved.get(`${tool} ${JSON.stringify(input)}`);
    return by === undefined ? { allowed: false, by: "nobody", note: "as recorded" } : { allowed: true, by };
  };
}

function isRun(row: MessageNode): boolean {
  return row.request_type === "prompt" || row.request_type === "delegation";
}

/** One line per run: where it stood, how it ended and after how many turns. */
function outline(nodes: readonly MessageNode[], path: string): string[] {
  return nodes.flatMap((node) => {
    const here = isRun(node) ? `${path} > ${node.agent_role}` : path;
    const line = isRun(node) ? [`${here}: ${node.status}, ${node.iteration_count} turns`] : [];
    return [...line, ...outline(node.children, here)];
  });
}

function treeDifference(recorded: readonly MessageNode[], now: readonly MessageNode[]): Divergence | null {
  const [then, today] = [outline(recorded, "").sort(), outline(now, "").sort()];
  const at = then.findIndex((line, index) => line !== today[index]);
  if (at < 0 && then.length === today.length) return null;
  const index = at < 0 ? then.length : at;
  return {
    run: "the tree of runs",
    turn: 0,
    what: "how a run ended",
    recorded: then[index] ?? "nothing",
    now: today[index] ?? "nothing",
  };
}
