import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";
import type { Journal } from "../schema/record.ts";
import { type ApprovalTable, createApprovalTable } from "./approval-table.ts";
import { type ChangeTable, createChangeTable } from "./checkpoints/change-table.ts";
import { createRunFinder, type RunFinder } from "./checkpoints/run-finder.ts";
import { createWorktreeTable, type WorktreeTable } from "./checkpoints/worktree-table.ts";
import { createJournal, type StoreJournal } from "./create-journal.ts";
import { createSessionDeleter, type SessionDeleter } from "./delete-session.ts";
import { type Database, openDatabase } from "./file/open-database.ts";
import { storeError } from "./file/sqlite-failure.ts";
import { STORE_MIGRATIONS } from "./file/store-migrations.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";
import { createPromptTable, type PromptTable } from "./prompt-table.ts";
import { createStatsReader, type StatsReader } from "./read-stats.ts";
import { describeOp, type RecordOp, readSessionId } from "./record-op.ts";
import { createRecordWriter } from "./record-writer.ts";
import { createMessageIds } from "./rows/message-ids.ts";
import { createOpenRows } from "./rows/open-rows.ts";
import { createMessageReader, type MessageReader } from "./rows/read-messages.ts";
import { createMomentReader, type MomentReader } from "./rows/read-moments.ts";
import { createOutlineReader, type OutlineReader } from "./rows/read-outline.ts";
import { createSessionSearch, type SessionSearch } from "./rows/search-sessions.ts";
import { createSessionLeases, type LeaseClock, type SessionLeases } from "./session-lease.ts";
import { createSessionSeqs } from "./session-seqs.ts";
import { createSessionReader, type SessionReader } from "./session-table.ts";
import { createSessionWriter, type SessionWriter } from "./session-writer.ts";
import { createStopTable, type StopTable } from "./stop-table.ts";
import { createUntrustedTable, type UntrustedTable } from "./untrusted-table.ts";
import { createWriter, type StoreNotice } from "./writer.ts";

/** How the record is opened. */
export type StoreOptions = {
  /** The database file, or `:memory:`. */
  path: string;
  synchronous?: "NORMAL" | "FULL";
  now?: () => number;
  /** A clock that never jumps; the process's own if absent. */
  monotonicMs?: () => number;
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
  StoreJournal &
  MessageReader &
  OutlineReader &
  MomentReader &
  SessionSearch &
  SessionReader &
  StatsReader &
  SessionWriter &
  PromptTable &
  PlanTable &
  ApprovalTable &
  ChangeTable &
  UntrustedTable &
  WorktreeTable &
  RunFinder &
  StopTable &
  SessionDeleter &
  Pick<SessionLeases, "takeLease" | "letGo" | "holderOf"> & {
    /** The database file. */
    readonly path: string;
    /** Like `committed`, but rejects if the disk refuses now; what was to be written is kept and tried again. */
    written(): Promise<void>;
    /** Why nothing can be written now; null as long as it can. */
    writeProblem(): RetinueError | null;
    /** Gives so many ids that nobody else has; the first. */
    reserveRowIds(count: number): number;
    /** A number that is another one once another connection has written to the file. */
    othersVersion(): number;
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
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  return assemble(database, { ...REAL_PORTS, ...ports, now, monotonicMs, onNotice });
}

type Surroundings = StorePorts & LeaseClock & { onNotice: (notice: StoreNotice) => void };

function assemble({ db, path, close: release }: Database, surroundings: Surroundings): Store {
  const { execute, schedule, now, onNotice } = surroundings;
  const ids = createMessageIds(db);
  const seqs = createSessionSeqs(db);
  const rows = createOpenRows(db);
  const leases = createSessionLeases(db, surroundings);
  const isLost = (op: RecordOp) => leases.isLost(readSessionId(op) ?? "");
  const write = createRecordWriter(db, ids, leases.mayWrite);
  const writer = createWriter<RecordOp>({
    path,
    schedule,
    onNotice,
    write: (ops) => execute(() => write(ops), db),
    onWritten(op) {
      if (op.kind === "close") rows.closed(op.id);
      if (isLost(op)) return;
      if (op.kind === "open" || op.kind === "close") op.onCommit?.(op.seq);
    },
    describe: describeOp,
  });
  let ended: Promise<void> | undefined;
  function mustBeOpen(): void {
    if (ended) throw new RetinueError("store", `the record ${path} is already closed`);
  }
  function push(op: RecordOp): void {
    mustBeOpen();
    if (!isLost(op)) writer.push(op);
  }
  const sessions = createSessionReader(db);
  const version = db.prepare("PRAGMA data_version");
  const { findNamed, ...prompts } = createPromptTable(db, push);
  const journal = createJournal({ ids, seqs, rows, findNamed, push, now, onNotice });
  return {
    path,
    reserveRowIds: ids.take,
    othersVersion: () => Number(version.get()?.data_version ?? 0),
    ...guarded(journal, { mustBeOpen, isLost: leases.isLost, nextId: ids.next }),
    committed: () => writer.committed(),
    written: () => writer.written(),
    writeProblem: () => writer.problem(),
    ...createSessionWriter({ sessions, seqs, push, now }),
    ...prompts,
    ...naming(path, createPlanTable(db)),
    ...naming(path, createApprovalTable(db)),
    ...naming(path, createChangeTable(db, push, now)),
    ...naming(path, createUntrustedTable(db, now)),
    ...naming(path, createWorktreeTable(db, push)),
    ...naming(path, createRunFinder(db)),
    ...naming(path, createStopTable(db)),
    ...naming(path, createSessionDeleter(db)),
    takeLease: leases.takeLease,
    letGo: leases.letGo,
    holderOf: leases.holderOf,
    ...naming(path, sessions),
    ...naming(path, createMessageReader(db)),
    ...naming(path, createOutlineReader(db)),
    ...naming(path, createMomentReader(db)),
    ...naming(path, createSessionSearch(db)),
    ...naming(path, createStatsReader(db)),
    shutdown: () =>
      (ended ??= writer.end().finally(() => {
        leases.releaseAll();
        release();
      })),
  };
}

/** The journal, with checks before each step: what belongs to a session that was lost goes nowhere. */
function guarded(
  journal: StoreJournal,
  checks: { mustBeOpen(): void; isLost(sessionId: string): boolean; nextId(): number },
): StoreJournal {
  const isWanted = (sessionId: string) => {
    checks.mustBeOpen();
    return !checks.isLost(sessionId);
  };
  return {
    open: (row, onCommit, id) =>
      isWanted(row.sessionId) ? journal.open(row, onCommit, id) : checks.nextId(),
    close(id, sessionId, closing, onCommit) {
      if (isWanted(sessionId)) journal.close(id, sessionId, closing, onCommit);
    },
    fail(id, sessionId, thrown, onCommit) {
      if (isWanted(sessionId)) journal.fail(id, sessionId, thrown, onCommit);
    },
  };
}

/** Makes what SQLite throws while reading an error for a person. */
function naming<
  T extends
    | SessionReader
    | UntrustedTable
    | MessageReader
    | OutlineReader
    | MomentReader
    | SessionSearch
    | StatsReader
    | PlanTable
    | ApprovalTable
    | ChangeTable
    | WorktreeTable
    | RunFinder
    | StopTable
    | SessionDeleter,
>(path: string, reader: T): T {
  const named = { ...reader };
  for (const [name, read] of Object.entries(reader)) {
    Object.assign(named, {
      [name]: (...args: unknown[]) => {
        try {
          return read(...args);
        } catch (thrown) {
          throw storeError(`cannot use ${path}`, thrown);
        }
      },
    });
  }
  return named;
}

function toStderr(notice: StoreNotice): void {
  console.error(`${notice.level}: ${notice.message}`);
}
