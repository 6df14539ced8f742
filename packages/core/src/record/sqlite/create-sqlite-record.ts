import type { StatsQuery } from "../../schema/stats.ts";
import type { Record, RecordNotice } from "../record.ts";
import { createApprovalTable } from "./approvals.ts";
import { createChangeReader } from "./changes.ts";
import { createLeases } from "./leases.ts";
import { openDatabase } from "./open-database.ts";
import { createPlanTable } from "./plans.ts";
import { RECORD_MIGRATIONS } from "./record-migrations.ts";
import { createRecordWriter, type SqliteRecordPorts } from "./record-writer.ts";
import { createRemoval } from "./removal.ts";
import { createIdReservation, createRowReader } from "./rows.ts";
import { createSessionReader } from "./sessions.ts";
import { storeError } from "./sqlite-failure.ts";
import { readStatsByDay } from "./stats.ts";
import { createStatsAside, type StatsAside } from "./stats-aside.ts";
import { createUntrustedTable } from "./untrusted.ts";

/** How the record is opened. */
export type SqliteRecordOptions = {
  /** The database file, or `:memory:`. */
  path: string;
  synchronous?: "NORMAL" | "FULL";
  now?: () => number;
  /** A clock that never jumps; the process's own if absent. */
  monotonicMs?: () => number;
  /** Told what a person must know; without it notices go to stderr, never nowhere. */
  onNotice?: (notice: RecordNotice) => void;
};

const REAL_PORTS: SqliteRecordPorts = {
  execute: (write) => write(),
  schedule(work, delayMs) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Opens the record in an SQLite file, making or migrating it as needed. */
export function createSqliteRecord(
  options: SqliteRecordOptions,
  ports: Partial<SqliteRecordPorts> = {},
): Record {
  const { synchronous = "NORMAL", now = Date.now, onNotice = tellStderr } = options;
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const { db, path, notices, ...database } = openDatabase(options.path, RECORD_MIGRATIONS, {
    synchronous,
    now,
  });
  for (const message of notices) onNotice({ level: "warning", message });
  const { isLost, mayWrite, releaseAll, ...leases } = createLeases(db, { now, monotonicMs });
  const { mustBeOpen, end, forgetSeq, ...writer } = createRecordWriter(db, {
    ...{ ...REAL_PORTS, ...ports, path, now, onNotice, isLost, mayWrite },
  });
  let statsAside: StatsAside | undefined;
  let closing: Promise<void> | undefined;
  const readers = nameFailures(path, mustBeOpen, {
    reserveRowIds: createIdReservation(db),
    ...createSessionReader(db),
    ...leases,
    async takeLease(sessionId: string, onLost?: () => void) {
      const release = await leases.takeLease(sessionId, onLost);
      forgetSeq(sessionId);
      return release;
    },
    ...createRowReader(db),
    ...createApprovalTable(db),
    ...createPlanTable(db),
    ...createChangeReader(db),
    ...createUntrustedTable(db, now),
    ...createRemoval(db),
    async readStats({ aside = false, ...query }: StatsQuery & { aside?: boolean } = {}) {
      if (!aside || path === ":memory:") return readStatsByDay(db, query);
      statsAside ??= createStatsAside(path);
      return statsAside.read(query);
    },
  });
  async function close(): Promise<void> {
    const ending = end();
    try {
      await statsAside?.close();
      await ending;
    } finally {
      releaseAll();
      database.close();
    }
  }
  return { ...writer, ...readers, close: () => (closing ??= close()) };
}

/** Makes what SQLite throws an error for a person, which names the database. */
function nameFailures<Part extends object>(path: string, mustBeOpen: () => void, part: Part): Part {
  const named = { ...part };
  for (const [name, method] of Object.entries(part)) {
    Object.assign(named, {
      async [name](...args: unknown[]) {
        mustBeOpen();
        try {
          return await method(...args);
        } catch (thrown) {
          throw storeError(`cannot use ${path}`, thrown);
        }
      },
    });
  }
  return named;
}

function tellStderr(notice: RecordNotice): void {
  console.error(`${notice.level}: ${notice.message}`);
}
