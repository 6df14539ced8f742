import type { DatabaseSync } from "node:sqlite";
import { CLOSE_CHANGE, INSERT_CHANGE } from "./checkpoints/change-table.ts";
import { SAVE_WORKTREE } from "./checkpoints/worktree-table.ts";
import { type RecordOp, readSessionId } from "./record-op.ts";
import { INSERT_OPENED, INSERT_WHOLE, UPDATE_CLOSED, wholeValues } from "./rows/message-columns.ts";
import type { MessageIds } from "./rows/message-ids.ts";
import { INSERT_SESSION, UPDATE_SESSION } from "./session-table.ts";

type Opening = Extract<RecordOp, { kind: "open" }>;
type Closing = Extract<RecordOp, { kind: "close" }>;

/**
 * Returns the function that writes a batch in one transaction, or throws and leaves no trace. Operations of sessions
 * that may not be written any more are left out; `mayWrite` is asked inside the transaction, so nothing slips between.
 */
export function createRecordWriter(
  db: DatabaseSync,
  ids: MessageIds,
  mayWrite: (sessionId: string) => boolean,
): (ops: readonly RecordOp[]) => void {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const statements = {
    open: db.prepare(INSERT_OPENED),
    whole: db.prepare(INSERT_WHOLE),
    close: db.prepare(UPDATE_CLOSED),
    startSession: db.prepare(INSERT_SESSION),
    updateSession: db.prepare(UPDATE_SESSION),
    savePrompt: db.prepare("INSERT OR IGNORE INTO prompts (prompt_id, content) VALUES (?, ?)"),
    usePrompt: db.prepare("INSERT OR IGNORE INTO prompt_uses (session_id, prompt_id) VALUES (?, ?)"),
    openChange: db.prepare(INSERT_CHANGE),
    closeChange: db.prepare(CLOSE_CHANGE),
    saveWorktree: db.prepare(SAVE_WORKTREE),
  };

  function writeOp(op: RecordOp, closings: ReadonlyMap<number, Closing>): void {
    if (op.kind === "open") {
      for (const { id, content } of op.named) {
        // What the session used before is there for as long as the session is.
        const isFirst = statements.usePrompt.run(op.sessionId, id).changes === 1;
        if (isFirst && content !== null) statements.savePrompt.run(id, content);
      }
      const closing = closings.get(op.id);
      if (closing) statements.whole.run(...wholeValues(op.values, closing.values));
      else statements.open.run(...op.values.own, ...op.values.shared);
    } else if (op.kind === "close") {
      if (closings.has(op.id)) return;
      const { changes } = statements.close.run(...op.values.own, ...op.values.shared, op.id);
      if (changes !== 1) throw new RangeError(`row ${op.id} is not open`);
    } else statements[op.kind].run(...op.values);
  }

  return (all) => {
    begin.run();
    try {
      const ops = writable(all, mayWrite);
      const closings = closedAtOnce(ops);
      for (const op of ops) writeOp(op, closings);
      ids.reserve();
      commit.run();
      ids.adopt();
    } catch (thrown) {
      ids.discard();
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  };
}

function writable(ops: readonly RecordOp[], mayWrite: (sessionId: string) => boolean): readonly RecordOp[] {
  const refused = new Set(ops.map(readSessionId));
  for (const sessionId of refused) if (sessionId === null || mayWrite(sessionId)) refused.delete(sessionId);
  return refused.size === 0 ? ops : ops.filter((op) => !refused.has(readSessionId(op)));
}

/** Closings whose opening is in the same batch: both become one insert, in the place of the opening. */
function closedAtOnce(ops: readonly RecordOp[]): ReadonlyMap<number, Closing> {
  const opened = new Set<Opening["id"]>();
  const closings = new Map<number, Closing>();
  for (const op of ops) {
    if (op.kind === "open") opened.add(op.id);
    else if (op.kind === "close" && opened.has(op.id)) closings.set(op.id, op);
  }
  return closings;
}
