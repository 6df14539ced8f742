import type { DatabaseSync } from "node:sqlite";
import { storeError } from "../file/sqlite-failure.ts";

/** Ids of one block; what is not used of it stays unused. */
const BLOCK = 1024;

/** Hands out ids of `messages` in memory, from blocks that no other process has. */
export type MessageIds = {
  next(): number;
  /** So many ids, one after the other; the first. */
  take(count: number): number;
  /** Takes the next block early, inside a transaction of the caller; it counts once `adopt` is called. */
  reserve(): void;
  adopt(): void;
  discard(): void;
};

/**
 * The counter is SQLite's own for AUTOINCREMENT, moved past the whole block, so that rows which other programs
 * insert without an id never meet ours.
 */
export function createMessageIds(db: DatabaseSync): MessageIds {
  const advance = db.prepare(
    "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'messages' RETURNING seq",
  );
  let next = 0;
  let end = 0;
  let reservedEnd: number | undefined;
  let spare: number | undefined;

  function take(count = BLOCK): number {
    const row = advance.get(count) ?? restart(db, count);
    return Number(row.seq);
  }
  function takeNow(count = BLOCK): number {
    try {
      return inTransaction(db, () => take(count));
    } catch (thrown) {
      throw storeError(`cannot take new row ids from ${db.location() ?? "the database"}`, thrown);
    }
  }
  function use(blockEnd: number): void {
    next = blockEnd - BLOCK + 1;
    end = blockEnd;
  }
  return {
    next() {
      if (next > end || end === 0) {
        use(spare ?? takeNow());
        spare = undefined;
      }
      return next++;
    },
    take: (count) => takeNow(count) - count + 1,
    reserve() {
      if (end > 0 && spare === undefined && end - next < BLOCK / 2) reservedEnd = take();
    },
    adopt() {
      spare ??= reservedEnd;
      reservedEnd = undefined;
    },
    discard() {
      reservedEnd = undefined;
    },
  };
}

/** Only for a database whose counter somebody removed. */
function restart(db: DatabaseSync, count: number): { seq: number } {
  const highest = Number(db.prepare("SELECT coalesce(max(id), 0) AS id FROM messages").get()?.id);
  db.prepare("INSERT INTO sqlite_sequence(name, seq) VALUES ('messages', ?)").run(highest + count);
  return { seq: highest + count };
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (thrown) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw thrown;
  }
}
