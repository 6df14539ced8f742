import { RetinueError } from "../schema/error.ts";
import type { SessionRow } from "../schema/record.ts";
import type { SessionChange, SessionOpening } from "./record.ts";
import type { RecordOp } from "./record-op.ts";
import type { SessionSeqs } from "./session-seqs.ts";
import { type SessionReader, sessionChangeValues, sessionValues } from "./session-table.ts";

/** Starts and changes sessions, in order with their rows. */
export type SessionWriter = {
  startSession(row: SessionOpening): void;
  updateSession(sessionId: string, change: SessionChange): void;
  endSession(sessionId: string, status: SessionRow["status"]): void;
};

/** What it needs from outside. */
export type SessionWriterPorts = {
  sessions: SessionReader;
  seqs: SessionSeqs;
  push(op: RecordOp): void;
  now(): number;
};

/** Creates the writer of sessions. */
export function createSessionWriter({ sessions, seqs, push, now }: SessionWriterPorts): SessionWriter {
  function updateSession(sessionId: string, change: SessionChange): void {
    push({ kind: "updateSession", name: sessionId, values: sessionChangeValues(sessionId, change, now()) });
  }
  return {
    startSession(row) {
      if (sessions.session(row.sessionId))
        throw new RetinueError("store", `session '${row.sessionId}' exists already`);
      push({ kind: "startSession", name: row.sessionId, values: sessionValues(row, now()) });
      seqs.begin(row.sessionId);
    },
    updateSession,
    endSession: (sessionId, status) => updateSession(sessionId, { status }),
  };
}
