import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";

/** Keeps two processes off one session. */
export type SessionLeases = {
  /**
   * Takes a session for this handle; returns how to give it back. Throws if another living process has it. `onLost` is
   * called, in a later microtask, when it turns out that somebody else has taken the session over.
   */
  takeLease(sessionId: string, onLost?: () => void): () => void;
  /**
   * Leaves a session as it is on disk, for another process to go on with: what this handle still writes of it goes
   * nowhere. To be called when everything of it is committed.
   */
  letGo(sessionId: string): void;
  /** The living process that has a session, as people name it; null if none has. */
  holderOf(sessionId: string): string | null;
  /** Whether a session that this handle had is known to be somebody else's now. */
  isLost(sessionId: string): boolean;
  /** Asks the database whether a session may still be written; to be called inside the transaction that writes. */
  mayWrite(sessionId: string): boolean;
  /** Gives everything back and stops renewing. */
  releaseAll(): void;
};

/** So long a holder that nobody can look at may be silent. */
export const LEASE_MS = 15_000;
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
export function createSessionLeases(db: DatabaseSync, { now, monotonicMs }: LeaseClock): SessionLeases {
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
    holderOf(sessionId) {
      const holder = livingHolder(sessionId);
      return holder && nameOf(holder);
    },
    takeLease(sessionId, onLost = () => {}) {
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
      return () => release(sessionId);
    },
    letGo(sessionId) {
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

/** A session cannot be had, because a living process works on it. */
export class SessionTaken extends RetinueError {
  /** That process, as people name it. */
  readonly holder: string;
  /** Only its silence will tell whether that process still lives. */
  readonly isElsewhere: boolean;

  constructor(sessionId: string, holder: string, isElsewhere = false) {
    const hint = `wait for it, or end it first with: retinue cancel ${sessionId}`;
    super("input", `session ${sessionId} is being worked on by ${holder}`, hint);
    this.holder = holder;
    this.isElsewhere = isElsewhere;
  }
}

function taken(sessionId: string, owner: string): SessionTaken {
  return new SessionTaken(sessionId, nameOf(owner), looksAlive(owner) === null);
}

function nameOf(owner: string): string {
  const [host, pid] = owner.split("/");
  return `process ${pid} on ${host}`;
}

/** Host, process id and its start, because ids are used again. */
function processName(pid: number): string {
  return `${hostname()}/${pid}/${startOf(pid)}`;
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
  return start === "" ? null : start === startOf(Number(pid));
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
