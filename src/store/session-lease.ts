import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";

/** Keeps two processes off one session. */
export type SessionLeases = {
  /** Takes a session for this process; returns how to give it back. Throws if a living process has it. */
  takeLease(sessionId: string): () => void;
  /** Gives everything back and stops renewing. */
  releaseAll(): void;
};

const LEASE_MS = 15_000;
const RENEW_MS = 5_000;

/** Leases are rows with an owner and a time; who is known to be dead, or did not renew, has lost his. */
export function createSessionLeases(db: DatabaseSync, now: () => number): SessionLeases {
  const owner = ownerOf(process.pid);
  const held = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const find = db.prepare("SELECT owner, until_ms FROM leases WHERE session_id = ?");
  const take = db.prepare(
    "INSERT INTO leases (session_id, owner, until_ms) VALUES (?1, ?2, ?3) ON CONFLICT (session_id) DO UPDATE SET owner = ?2, until_ms = ?3 WHERE owner = ?4",
  );
  const renew = db.prepare("UPDATE leases SET until_ms = ? WHERE owner = ?");
  const drop = db.prepare("DELETE FROM leases WHERE session_id = ? AND owner = ?");

  /** A database that is busy now is not busy for the length of a lease. */
  function renewAll(): void {
    try {
      renew.run(now() + LEASE_MS, owner);
    } catch {}
  }

  function release(sessionId: string): void {
    if (!held.delete(sessionId)) return;
    if (held.size === 0) clearInterval(timer);
    drop.run(sessionId, owner);
  }
  return {
    takeLease(sessionId) {
      if (held.has(sessionId)) throw taken(sessionId, owner);
      const row = find.get(sessionId);
      const other = row ? String(row.owner) : "";
      if (other && other !== owner && Number(row?.until_ms) > now() && isAlive(other))
        throw taken(sessionId, other);
      if (take.run(sessionId, owner, now() + LEASE_MS, other).changes === 0)
        throw taken(sessionId, "another/process");
      if (held.size === 0) timer = setInterval(renewAll, RENEW_MS).unref();
      held.add(sessionId);
      return () => release(sessionId);
    },
    releaseAll() {
      for (const sessionId of [...held]) release(sessionId);
    },
  };
}

function taken(sessionId: string, owner: string): RetinueError {
  const [host, pid] = owner.split("/");
  return new RetinueError(
    "input",
    `session ${sessionId} is being worked on by process ${pid} on ${host}`,
    "wait for it, or end that process first",
  );
}

/** Host, process id and its start, because ids are used again. */
function ownerOf(pid: number): string {
  return `${hostname()}/${pid}/${startOf(pid)}`;
}

function isAlive(owner: string): boolean {
  const [host, pid = "0"] = owner.split("/");
  if (host !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return ownerOf(Number(pid)) === owner;
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
