import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { tryTo } from "../../schema/error.ts";
import { LEASE_MS, type LeasePort, SessionTaken } from "../record.ts";

/** Leases and stops of one handle on the database. */
export type Leases = LeasePort & {
  /** Whether a session that this handle had is known to be somebody else's now. */
  isLost(sessionId: string): boolean;
  /** Asks the database whether a session may still be written; to be called inside the transaction that writes. */
  mayWrite(sessionId: string): boolean;
  /** Gives everything back and stops renewing. */
  releaseAll(): void;
};

const RENEW_MS = 5_000;

/** What leases are told the time by: the wall's for the record, and one that never jumps for waiting. */
export type LeaseClock = { now(): number; monotonicMs(): number };

/**
 * Leases are rows with an owner and a heartbeat. A process of this machine that lives keeps its lease, whatever any clock
 * says, and one that is dead has lost it. Whether a holder on another machine lives is not known: it has lost its lease once
 * its heartbeat did not change for so long of the time that passed here, which does not pass while this machine sleeps.
 * The owner is one handle of one process, so that a process which stood still finds out that it was replaced. Handles of
 * one process may replace each other.
 */
export function createLeases(db: DatabaseSync, { now, monotonicMs }: LeaseClock): Leases {
  const self = processName(process.pid);
  const owner = `${self}/${randomBytes(6).toString("hex")}`;
  const held = new Map<string, () => void>();
  const lost = new Set<string>();
  /** Given back, which the disk has not taken yet. */
  const undropped = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const find = db.prepare("SELECT owner, until_ms FROM leases WHERE session_id = ?");
  const take =
    db.prepare(`INSERT INTO leases (session_id, owner, until_ms) VALUES (?1, ?2, ?3) ON CONFLICT (session_id)
    DO UPDATE SET owner = ?2, until_ms = ?3 WHERE owner = ?4 AND until_ms = ?5`);
  const renew = db.prepare("UPDATE leases SET until_ms = max(until_ms + 1, ?) WHERE owner = ?");
  /** The last heartbeat that was seen of a holder elsewhere, and since when. */
  const seen = new Map<string, { beat: string; sinceMs: number }>();
  const drop = db.prepare("DELETE FROM leases WHERE session_id = ? AND owner = ?");

  function forget(sessionId: string): void {
    held.delete(sessionId);
    if (held.size + undropped.size === 0) clearInterval(timer);
  }
  function stillOwns(sessionId: string): boolean {
    if (find.get(sessionId)?.owner === owner) return true;
    const onLost = held.get(sessionId);
    forget(sessionId);
    lost.add(sessionId);
    if (onLost) queueMicrotask(onLost);
    return false;
  }
  function renewAll(): void {
    try {
      for (const sessionId of [...undropped]) {
        drop.run(sessionId, owner);
        undropped.delete(sessionId);
        forget(sessionId);
      }
      if (renew.run(now() + LEASE_MS, owner).changes === held.size) return;
      for (const sessionId of [...held.keys()]) stillOwns(sessionId);
    } catch {
      // A database that is busy now is not busy for the length of a lease, and no write goes by unchecked.
    }
  }
  function release(sessionId: string): void {
    if (!held.has(sessionId)) return;
    undropped.add(sessionId);
    held.delete(sessionId);
    try {
      drop.run(sessionId, owner);
      undropped.delete(sessionId);
      forget(sessionId);
    } catch {
      // A disk that is full now takes it at a later renewal; nobody else waits for it but by looking.
    }
  }
  function livingHolder(sessionId: string): string | null {
    const row = find.get(sessionId);
    if (!row) return null;
    const other = String(row.owner);
    const isAlive = looksAlive(other) ?? beats(sessionId, `${other} ${row.until_ms}`);
    if (!isAlive) return null;
    return other;
  }
  /** Whether a heartbeat is new, or was not yet seen for too long. */
  function beats(sessionId: string, beat: string): boolean {
    const last = seen.get(sessionId);
    if (last?.beat === beat) return monotonicMs() - last.sinceMs < LEASE_MS;
    seen.set(sessionId, { beat, sinceMs: monotonicMs() });
    return true;
  }
  return {
    ...createStops(db),
    async findHolder(sessionId) {
      const holder = livingHolder(sessionId);
      return holder && nameHolder(holder);
    },
    async takeLease(sessionId, onLost = () => {}) {
      if (held.has(sessionId)) throw taken(sessionId, owner);
      const row = find.get(sessionId);
      const other = row ? String(row.owner) : "";
      const untilMs = Number(row?.until_ms ?? 0);
      if (other && !other.startsWith(`${self}/`) && livingHolder(sessionId)) throw taken(sessionId, other);
      seen.delete(sessionId);
      if (take.run(sessionId, owner, now() + LEASE_MS, other, untilMs).changes === 0)
        throw taken(sessionId, "another/process");
      undropped.delete(sessionId);
      if (held.size + undropped.size === 0) {
        clearInterval(timer);
        timer = setInterval(renewAll, RENEW_MS).unref();
      }
      held.set(sessionId, onLost);
      lost.delete(sessionId);
      return async () => release(sessionId);
    },
    async letGo(sessionId) {
      release(sessionId);
      lost.add(sessionId);
    },
    isLost: (sessionId) => lost.has(sessionId),
    mayWrite: (sessionId) => !lost.has(sessionId) && (!held.has(sessionId) || stillOwns(sessionId)),
    releaseAll() {
      for (const sessionId of [...held.keys()]) release(sessionId);
      clearInterval(timer);
    },
  };
}

/** Wishes to stop, left for the process that has a session. */
function createStops(db: DatabaseSync): Pick<LeasePort, "askToStop" | "listStops" | "forgetStops"> {
  const insert = db.prepare("INSERT OR IGNORE INTO stop_requests (session_id, id) VALUES (?, ?)");
  const list = db.prepare("SELECT session_id, id FROM stop_requests WHERE ?1 IS NULL OR session_id = ?1");
  const drop = db.prepare("DELETE FROM stop_requests WHERE session_id = ?");
  return {
    async askToStop({ sessionId, id }) {
      insert.run(sessionId, id);
    },
    listStops: async (sessionId) =>
      list.all(sessionId ?? null).map((row) => ({ sessionId: String(row.session_id), id: String(row.id) })),
    async forgetStops(sessionId) {
      // A look costs nothing; a deletion of nothing would still wait for other writers.
      if (list.get(sessionId)) drop.run(sessionId);
    },
  };
}

function taken(sessionId: string, owner: string): SessionTaken {
  return new SessionTaken(sessionId, nameHolder(owner), looksAlive(owner) === null);
}

function nameHolder(owner: string): string {
  const [host, pid] = owner.split("/");
  return `process ${pid} on ${host}`;
}

/** Host, process id and its start, because ids are used again. */
function processName(pid: number): string {
  return `${hostname()}/${pid}/${readStart(pid)}`;
}

/** Whether the process of an owner lives; null if that cannot be seen from here. */
function looksAlive(owner: string): boolean | null {
  const [host, pid = "0", start = ""] = owner.split("/");
  if (host !== hostname()) return null;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  // Without its start another process may have got the same id.
  return start === "" ? null : start === readStart(Number(pid));
}

function readStart(pid: number): string {
  const stat = tryTo(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
