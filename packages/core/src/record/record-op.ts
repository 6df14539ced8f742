import type { SQLInputValue } from "node:sqlite";
import type { Values } from "./rows/message-columns.ts";

/** One change of the record, ready to be written. */
export type RecordOp =
  | (RowChange & { kind: "open"; named: readonly NamedText[] })
  | (RowChange & { kind: "close" })
  | {
      kind: "startSession" | "updateSession" | "savePrompt" | KeptChange;
      name: string;
      values: SQLInputValue[];
    };

/** What is kept of changes on disk, which stays true no matter which process has the session by now. */
type KeptChange = "openChange" | "closeChange" | "saveWorktree";

type RowChange = {
  id: number;
  sessionId: string;
  seq: number;
  values: Values;
  onCommit: ((seq: number) => void) | undefined;
};
/** A text that a row names; null if this process has not saved it itself. */
export type NamedText = { id: string; content: string | null };

/** The session that an operation changes; texts and facts about the disk belong to none. */
export function readSessionId(op: RecordOp): string | null {
  if (op.kind === "open" || op.kind === "close") return op.sessionId;
  return op.kind === "startSession" || op.kind === "updateSession" ? op.name : null;
}

/** Names an operation for a person. */
export function describeOp(op: RecordOp): string {
  if (op.kind === "open" || op.kind === "close") return `${op.kind} of row ${op.id}`;
  return `${op.kind} ${op.name}`;
}
