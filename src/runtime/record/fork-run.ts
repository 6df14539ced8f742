import type { Run } from "../../loop/run.ts";
import { RetinueError } from "../../schema/error.ts";
import type { MessageNode } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { isClosed, subtreeOf } from "./read-row.ts";
import { type RestorePorts, restoreRun } from "./restore-run.ts";

/** A moment of a recorded session: its id and a seq of its record. */
export type ForkPoint = { sessionId: string; seq: number };

/** The root run of a session as it was at a moment: its turns that were over by then, with everything below them. */
export function pastOf(store: Store, { sessionId, seq }: ForkPoint): MessageNode {
  const session = store.findSession(sessionId);
  const root = store.tree(session.session_id).find((node) => node.opened_seq <= seq);
  if (!root)
    throw new RetinueError(
      "input",
      `session ${session.session_id} has no run at ${seq}`,
      "see its seqs with: retinue trace ID --json",
    );
  const isOver = (turn: MessageNode) =>
    [...subtreeOf(turn)].every((row) => isClosed(row) && (row.closed_seq ?? 0) <= seq);
  return { ...root, children: root.children.filter(isOver) };
}

/** Gives a new run the conversation of that moment; the new task comes after it. Counters and budget are its own. */
export function forkRun(run: Run, past: MessageNode, ports: RestorePorts): void {
  const [system, task] = run.history;
  restoreRun(run, past, ports);
  if (run.resumption?.kind === "calls") run.history.pop();
  if (run.resumption?.kind === "wrap_up" && run.resumption.text) {
    run.push({ role: "assistant", content: [{ type: "text", text: run.resumption.text }] });
  }
  if (!system || !task) return;
  const asked = {
    role: "user" as const,
    content: [{ type: "text" as const, text: past.request_content ?? "" }],
  };
  const before = run.history[1] === task ? [asked, ...run.history.slice(2)] : run.history.slice(1);
  run.replaceHistory([system, ...before, task]);
  run.resumption = null;
  run.turn = 0;
  run.tokens = 0;
  run.costUsd = 0;
  run.toolCalls = 0;
  run.toolCounts.clear();
  run.toolsUsed.clear();
  run.repairsLeft = run.spec.limits.repairs;
  run.emptyReplies = 0;
  run.changes.clear();
  run.turnMessageId = run.spec.messageId;
}
