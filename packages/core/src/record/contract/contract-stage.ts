import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import type { MessageClosing, MessageOpening, MessageRow } from "../../schema/record.ts";
import type { OnCommit, Record, RecordNotice, SessionOpening } from "../record.ts";

/** What a test gives the record that it opens. */
export type RecordPorts = { now: () => number; onNotice: (notice: RecordNotice) => void };

/**
 * Opens the record of a place. The same place opened twice is the same record for two processes, except where nothing can
 * be shared: then null.
 */
export type RecordOpener = {
  open(place: string, ports: RecordPorts): Record;
  /** False of a record that only its one handle can see. */
  isShared: boolean;
};

/** The record that a test works with, and what the record told. */
export type Stage = {
  readonly record: Record;
  readonly notices: RecordNotice[];
  readonly isShared: boolean;
  /** The time that records of this test are told. */
  readonly clock: { nowMs: number };
  /** Another handle on the same record, as another process has one. */
  openAnother(): Record;
  /** Closes the record and opens it again. */
  reopen(): Promise<Record>;
};

/** Gives each test of the surrounding suite a record of its own, which is closed when the test is over. */
export function setStage({ open, isShared }: RecordOpener): Stage {
  let place = "";
  let handles: Record[] = [];
  const notices: RecordNotice[] = [];
  const clock = { nowMs: 0 };
  function openAnother(): Record {
    const record = open(place, { now: () => clock.nowMs, onNotice: (notice) => notices.push(notice) });
    handles.push(record);
    return record;
  }
  function readFirst(): Record {
    const [first] = handles;
    if (!first) throw new Error("the record is not open yet");
    return first;
  }
  beforeEach(() => {
    place = randomUUID();
    handles = [];
    notices.splice(0);
    clock.nowMs = 5_000;
    openAnother();
  });
  afterEach(async () => {
    for (const record of handles) await record.close();
  });
  return {
    get record() {
      return readFirst();
    },
    notices,
    isShared,
    clock,
    openAnother,
    async reopen() {
      await readFirst().close();
      handles.shift();
      return openAnother();
    },
  };
}

/** Starts a session and waits until it is kept. */
export async function beginSession(
  record: Record,
  sessionId = "ses_1",
  more: Partial<SessionOpening> = {},
): Promise<string> {
  await record.startSession({
    sessionId,
    title: "A title",
    project: "/project",
    workspace: "/workspace",
    ...more,
  });
  return sessionId;
}

/** A row of the run `run_1` in the session `ses_1`, unless said otherwise. */
export function makeOpening(more: Partial<MessageOpening> = {}): MessageOpening {
  return {
    sessionId: "ses_1",
    parentId: null,
    runId: "run_1",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1_000,
    ...more,
  };
}

/** A closing that says that all went well. */
export function makeClosing(more: Partial<MessageClosing> = {}): MessageClosing {
  return { status: "completed", completedAtMs: 2_000, durationMs: 1_000, ...more };
}

/** Opens a row and waits until it is kept; gives its id. */
export async function openRow(
  record: Record,
  more: Partial<MessageOpening> = {},
  onCommit?: OnCommit,
): Promise<number> {
  const id = await record.reserveRowIds(1);
  await record.write({ kind: "row.open", id, row: makeOpening(more), onCommit });
  return id;
}

/** Closes a row and waits until that is kept. */
export function closeRow(
  record: Record,
  id: number,
  more: Partial<MessageClosing> = {},
  sessionId = "ses_1",
): Promise<void> {
  return record.write({ kind: "row.close", id, sessionId, row: makeClosing(more) });
}

/** Ends a session as completed. */
export function endSession(record: Record, sessionId = "ses_1"): Promise<void> {
  return record.write({ kind: "session.update", sessionId, change: { status: "completed" } });
}

/** The row of an id, which must be there. */
export async function requireRow(record: Record, id: number): Promise<MessageRow> {
  const row = await record.readRow(id);
  expect(row).toBeDefined();
  if (!row) throw new Error(`no row ${id}`);
  return row;
}
