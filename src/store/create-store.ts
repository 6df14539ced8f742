import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";
import { createJournal } from "./create-journal.ts";
import { createMessageIds } from "./message-ids.ts";
import { type Database, openDatabase } from "./open-database.ts";
import { createPromptTable, type PromptTable } from "./prompt-table.ts";
import { createMessageReader, type MessageReader } from "./read-messages.ts";
import { createRecordWriter, describeOp, type RecordOp } from "./record-writer.ts";
import {
  createSessionReader,
  type SessionChange,
  type SessionOpening,
  type SessionReader,
  sessionChangeValues,
  sessionValues,
} from "./session-table.ts";
import { storeError } from "./sqlite-failure.ts";
import { STORE_MIGRATIONS } from "./store-migrations.ts";
import { createWriter, type StoreNotice } from "./writer.ts";

/** How the record is opened. */
export type StoreOptions = {
  /** The database file, or `:memory:`. */
  path: string;
  synchronous?: "NORMAL" | "FULL";
  now?: () => number;
  /** Told what a person must know; without it notices go to stderr, never nowhere. */
  onNotice?: (notice: StoreNotice) => void;
};

/** What tests replace to bring about faults. */
export type StorePorts = {
  /** Runs the writing of one batch. */
  execute(write: () => void, db: DatabaseSync): void;
  /** Runs a function later; the answer cancels it. */
  schedule(work: () => void, delayMs: number): () => void;
};

/**
 * The record of sessions and their messages. A journal for runs (start is `open`, complete is `close`), and readers that
 * see what is committed: after a write, await `committed()` before reading.
 */
export type Store = Journal &
  MessageReader &
  SessionReader &
  PromptTable & {
    /** The database file. */
    readonly path: string;
    /** Closes a row as failed now, with what was thrown. */
    fail(id: number, sessionId: string, thrown: unknown, onCommit?: (seq: number) => void): void;
    startSession(row: SessionOpening): void;
    updateSession(sessionId: string, change: SessionChange): void;
    endSession(sessionId: string, status: SessionChange["status"]): void;
    /** Writes everything and lets go of the file; rejects, naming what is lost, if the disk refuses. */
    shutdown(): Promise<void>;
  };

const REAL_PORTS: StorePorts = {
  execute: (write) => write(),
  schedule(work, delayMs) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Opens the record, making or migrating its database as needed. */
export function createStore(options: StoreOptions, ports: Partial<StorePorts> = {}): Store {
  const { path, now = Date.now, onNotice = toStderr } = options;
  const database = openDatabase(path, STORE_MIGRATIONS, {
    synchronous: options.synchronous ?? "NORMAL",
    now,
  });
  for (const message of database.notices) onNotice({ level: "warning", message });
  return assemble(database, { ...REAL_PORTS, ...ports, now, onNotice });
}

type Surroundings = StorePorts & { now: () => number; onNotice: (notice: StoreNotice) => void };

function assemble({ db, path, close: release }: Database, surroundings: Surroundings): Store {
  const { execute, schedule, now, onNotice } = surroundings;
  const ids = createMessageIds(db);
  const write = createRecordWriter(db, ids);
  const writer = createWriter<RecordOp>({
    path,
    schedule,
    onNotice,
    write: (ops) => execute(() => write(ops), db),
    onWritten: (op) => journal.written(op),
    describe: describeOp,
  });
  let ended: Promise<void> | undefined;
  function push(op: RecordOp): void {
    mustBeOpen();
    writer.push(op);
  }
  function mustBeOpen(): void {
    if (ended) throw new RetinueError("store", `the record ${path} is already closed`);
  }
  const journal = createJournal({ db, ids, push, now, onNotice });
  const sessions = createSessionReader(db);
  function updateSession(sessionId: string, change: SessionChange): void {
    push({ kind: "updateSession", name: sessionId, values: sessionChangeValues(sessionId, change, now()) });
  }
  return {
    path,
    open(row, onCommit) {
      mustBeOpen();
      return journal.open(row, onCommit);
    },
    close: journal.close,
    fail: journal.fail,
    committed: () => writer.committed(),
    startSession(row) {
      if (sessions.session(row.sessionId))
        throw new RetinueError("store", `session '${row.sessionId}' exists already`);
      push({ kind: "startSession", name: row.sessionId, values: sessionValues(row, now()) });
      journal.begin(row.sessionId);
    },
    updateSession,
    endSession: (sessionId, status) => updateSession(sessionId, { status }),
    ...createPromptTable(db, push),
    ...naming(path, sessions),
    ...naming(path, createMessageReader(db)),
    shutdown: () => (ended ??= writer.end().finally(release)),
  };
}

/** Makes what SQLite throws while reading an error for a person. */
function naming<T extends SessionReader | MessageReader>(path: string, reader: T): T {
  const named = { ...reader };
  for (const [name, read] of Object.entries(reader)) {
    Object.assign(named, {
      [name]: (...args: unknown[]) => {
        try {
          return read(...args);
        } catch (thrown) {
          throw storeError(`cannot read ${path}`, thrown);
        }
      },
    });
  }
  return named;
}

function toStderr(notice: StoreNotice): void {
  console.error(`${notice.level}: ${notice.message}`);
}
