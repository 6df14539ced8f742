import { readTree } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import { isClosed, subtreeOf } from "../run/read-row.ts";
import type { Run } from "../run/run.ts";
import { RetinueError } from "../schema/error.ts";
import type { ForkPoint, MessageNode, Past } from "../schema/record.ts";
import { restoreRun } from "./restore-run.ts";

/** The latest root run of a session as it was at a moment: its turns that were over by then, with everything below them. */
export async function pastOf(record: Record, { sessionId, seq }: ForkPoint): Promise<Past> {
  const session = await record.findSession(sessionId);
  const root = (await readTree(record, session.session_id)).findLast((node) => node.opened_seq <= seq);
  if (!root)
    throw new RetinueError(
      "input",
      `session ${session.session_id} has no run at ${seq}`,
      "see its seqs with: retinue trace ID --json",
    );
  const isOver = (turn: MessageNode) =>
    [...subtreeOf(turn)].every((row) => isClosed(row) && (row.closed_seq ?? 0) <= seq);
  const open = root.children.findIndex((turn) => !isOver(turn));
  const children = open < 0 ? root.children : root.children.slice(0, open);
  const seqs = [...subtreeOf(root)].flatMap((row) => [row.opened_seq, row.closed_seq ?? 0]);
  const latest = seqs.reduce((highest, one) => Math.max(highest, one), 0);
  // What happens in that session later is not part of this past.
  const at = { sessionId: session.session_id, seq: Math.min(seq, latest) };
  return { root: { ...root, children }, at };
}

/** Gives a new run the conversation of that moment; the new task comes after it. Counters and budget are its own. */
export async function forkRun(run: Run, past: MessageNode): Promise<void> {
  const [system, task] = run.history;
  await restoreRun(run, past, true);
  const report = run.resumption?.kind === "wrap_up" ? run.resumption.reply?.text : undefined;
  if (report) run.push({ role: "assistant", content: [{ type: "text", text: report }] });
  if (!system || !task) return;
  const asked = {
    role: "user" as const,
    content: [{ type: "text" as const, text: past.request_content ?? "" }],
  };
  const before = run.history[1] === task ? [asked, ...run.history.slice(2)] : run.history.slice(1);
  run.replaceHistory([system, ...before, task]);
  run.begunAt = run.history.length - 1;
  beginAnew(run);
}

/** Everything that counts is the new run's own. */
function beginAnew(run: Run): void {
  run.resumption = null;
  run.turn = 0;
  run.tokens = 0;
  run.costUsd = 0;
  run.toolCalls = 0;
  run.toolCounts.clear();
  run.toolsUsed.clear();
  run.overToolCalls = false;
  run.tests.clear();
  run.warnings.length = 0;
  run.warningsRecorded = 0;
  run.repetition.last = "";
  run.repetition.count = 0;
  run.compactedForOverflow = false;
  run.baseline = new Map();
  run.model = run.ownModel;
  run.fallbacks.splice(0, run.fallbacks.length, ...(run.ownModel.fallbacks ?? []));
  run.repairsLeft = run.limits.repairs;
  run.emptyReplies = 0;
  run.cutAnswer = [];
  run.sentBack = false;
  run.changes.clear();
  run.turnMessageId = run.messageId;
}
