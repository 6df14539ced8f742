import type { DatabaseSync } from "node:sqlite";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { MessageOpening } from "../../schema/record.ts";
import { encodeText } from "../lossless-text.ts";
import type { RecordNotice, RecordWrite, SessionOpening, WritePort } from "../record.ts";
import { listTextIds } from "../record-journal.ts";
import { changeValues, stateValues, worktreeValues } from "./changes.ts";
import { closingValues, mergeMetadata, openingValues } from "./message-columns.ts";
import { sessionChangeValues, sessionValues } from "./sessions.ts";
import { storeJson } from "./sql.ts";
import {
  type BatchWriter,
  createBatchWriter,
  describeOp,
  type NamedText,
  type RecordOp,
} from "./write-batch.ts";
import { type QueuePorts, WriteQueue } from "./write-queue.ts";

/** What tests replace to bring about faults. */
export type SqliteRecordPorts = {
  /** Runs the writing of one batch. */
  execute(write: () => void, db: DatabaseSync): void;
  /** Runs a function later; the answer cancels it. */
  schedule: QueuePorts<RecordOp>["schedule"];
};

/** What writing needs from outside. */
export type RecordWriterParts = SqliteRecordPorts & {
  path: string;
  now(): number;
  onNotice(notice: RecordNotice): void;
  /** Whether a session that this handle had is known to be somebody else's now. */
  isLost(sessionId: string): boolean;
  /** Asks the database whether a session may still be written. */
  mayWrite(sessionId: string): boolean;
};

/** Writes to the record, and starts sessions in order with their rows. */
export type RecordWriter = Omit<WritePort, "reserveRowIds"> &
  Pick<BatchWriter, "forgetSeq"> & {
    startSession(row: SessionOpening): Promise<void>;
    /** Writes the rest and accepts nothing more; rejects, naming what is lost, if the disk refuses. */
    end(): Promise<void>;
    /** Throws once the record is closed. */
    mustBeOpen(): void;
  };

/** Creates the one writer of a database. */
export function createRecordWriter(db: DatabaseSync, parts: RecordWriterParts): RecordWriter {
  const { path, execute, schedule, onNotice, isLost } = parts;
  const batches = createBatchWriter(db, parts.mayWrite);
  const toOp = createTranslator(parts.now);
  const queue = new WriteQueue<RecordOp>({
    path,
    schedule,
    onNotice,
    write: (ops) => execute(() => batches.write(ops), db),
    onWritten(op) {
      if (op.kind === "row.close" && op.isLate) onNotice({ level: "warning", message: describeLate(op) });
      else if ("seq" in op && op.seq > 0) op.onCommit?.(op.seq);
    },
    describe: describeOp,
  });
  const known = db.prepare("SELECT 1 FROM sessions WHERE session_id = ?");
  let ended: Promise<void> | undefined;

  function mustBeOpen(): void {
    if (ended) throw new RetinueError("store", `the record ${path} is already closed`);
  }
  function push(op: RecordOp): void {
    mustBeOpen();
    if (op.sessionId === null || !isLost(op.sessionId)) queue.push(op);
  }
  return {
    append(write) {
      try {
        push(toOp(write));
      } catch (thrown) {
        onNotice({ level: "error", message: `Cannot write to the record: ${messageOf(thrown)}` });
      }
    },
    async write(write) {
      push(toOp(write));
      await queue.committed();
    },
    async startSession(row) {
      mustBeOpen();
      if (known.get(row.sessionId) !== undefined)
        throw new RetinueError("store", `session '${row.sessionId}' exists already`);
      const { sessionId } = row;
      const values = sessionValues(row, parts.now());
      push({ kind: "session.start", name: sessionId, sessionId, values });
      await queue.committed();
    },
    committed: () => queue.committed(),
    written: () => queue.written(),
    writeProblem: async () => queue.problem(),
    mustBeOpen,
    forgetSeq: batches.forgetSeq,
    end: () => (ended ??= queue.end()),
  };
}

function describeLate({ id, sessionId, status }: Extract<RecordOp, { kind: "row.close" }>): string {
  return `Row ${id} of session ${sessionId} is already closed; its late outcome '${status}' is not recorded.`;
}

/** Far more than the agents of a process; only a caller that makes up texts without end reaches it. */
const MOST_REMEMBERED = 1000;

/**
 * Turns writes into what is stored, at once, so that the caller may change its objects afterwards. It remembers the metadata
 * of rows until they close, and texts: a row is written together with the texts it names, because between a text and
 * the first row that names it another process may have removed the last session that needed the text.
 */
function createTranslator(now: () => number): (write: RecordWrite) => RecordOp {
  const texts = new Map<string, string>();
  const opened = new Map<number, { sessionId: string; metadata: string | null }>();

  function findNamed({ systemPromptId, metadata }: MessageOpening): NamedText[] {
    const ids = listTextIds(systemPromptId ?? null, metadata ?? {});
    return ids.map((id) => ({ id, content: texts.get(id) ?? null }));
  }
  function toRowOp(write: Extract<RecordWrite, { kind: "row.open" | "row.close" }>): RecordOp {
    const { id, onCommit } = write;
    if (write.kind === "row.open") {
      const { sessionId } = write.row;
      const metadata = storeJson(write.row.metadata);
      const values = openingValues(id, write.row, metadata);
      opened.set(id, { sessionId, metadata });
      return { kind: "row.open", id, sessionId, seq: 0, values, onCommit, named: findNamed(write.row) };
    }
    const { sessionId, row } = write;
    const before = opened.get(id);
    const isMerged = before?.sessionId === sessionId;
    if (isMerged) opened.delete(id);
    const metadata = isMerged ? mergeMetadata(before.metadata, row.metadata) : storeJson(row.metadata);
    const values = closingValues(row, metadata);
    const { status } = row;
    return { kind: "row.close", id, sessionId, seq: 0, values, onCommit, status, isMerged, isLate: false };
  }
  function remember(id: string, content: string): void {
    if (texts.size >= MOST_REMEMBERED) texts.clear();
    texts.set(id, content);
  }
  return (write) => {
    switch (write.kind) {
      case "row.open":
      case "row.close":
        return toRowOp(write);
      case "session.update": {
        const { sessionId } = write;
        const values = sessionChangeValues(sessionId, write.change, now());
        return { kind: "session.update", name: sessionId, sessionId, values };
      }
      case "text.save": {
        const content = encodeText(write.text);
        remember(write.id, content);
        return { kind: "text.save", name: write.id, sessionId: null, values: [write.id, content] };
      }
      case "change.open": {
        const values = changeValues(write.change, now());
        return { kind: "change.open", name: write.change.path, sessionId: null, values };
      }
      case "change.close": {
        const values = [...stateValues(write.after), write.changeId];
        return { kind: "change.close", name: write.changeId, sessionId: null, values };
      }
      case "worktree.save":
        return {
          kind: "worktree.save",
          name: write.row.runId,
          sessionId: null,
          values: worktreeValues(write.row),
        };
    }
  };
}
