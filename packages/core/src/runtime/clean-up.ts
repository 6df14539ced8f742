import { type Dirent, existsSync, readdirSync } from "node:fs";
import { lstat, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { shadowDir } from "../changes/shadow.ts";
import type { Record } from "../record/record.ts";
import type { StorageView } from "../schema/api/session.ts";
import { messageOf } from "../schema/error.ts";
import type { SessionRow } from "../schema/record.ts";

/** What is cleaned up: the record, and the folder that it lies in. */
export type CleanUpParts = { record: Record; dataDir: string };

/** One session that would go. */
export type Removable = { session: SessionRow; bytes: number };

/** What would go, and which of those that were named stay. */
export type CleanUpPlan = {
  removable: readonly Removable[];
  kept: readonly { sessionId: string; why: string }[];
  bytes: number;
};

/** What went, and what became free by it. */
export type CleanUpReport = {
  sessions: number;
  workspaces: number;
  contents: number;
  shadows: number;
  freedBytes: number;
};

/** What is younger may belong to something that is just beginning. */
const YOUNG_MS = 3_600_000;

/** Finds out what the removal of these sessions would free; nothing is changed. */
export async function planCleanUp(
  { record, dataDir }: CleanUpParts,
  sessions: readonly SessionRow[],
): Promise<CleanUpPlan> {
  const removable: Removable[] = [];
  const kept: { sessionId: string; why: string }[] = [];
  for (const session of sessions) {
    const id = session.session_id;
    const why = await record.whyKept(id);
    if (why !== null) kept.push({ sessionId: id, why });
    else {
      const sizes = await Promise.all(listFolders(dataDir, id).map(sizeBelow));
      const own = await record.measureSession(id);
      removable.push({ session, bytes: sizes.reduce((sum, size) => sum + size, own) });
    }
  }
  return { removable, kept, bytes: removable.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * Removes sessions, then everything that none of those that stay needs. The record goes first, in one transaction for each
 * session, so that a crash leaves at most files that nothing names, and the next call removes those.
 */
export async function cleanUp(parts: CleanUpParts, sessionIds: readonly string[]): Promise<CleanUpReport> {
  const { record } = parts;
  await record.written();
  const removed = new Set<string>();
  for (const id of sessionIds) {
    if (await record.deleteSession(id)) removed.add(id);
    // A server answers meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const workspaces = await removeWorkspaces(parts, removed);
  const contents = await removeContents(parts);
  const shadows = await removeShadows(parts);
  const all = [workspaces, contents, shadows];
  return {
    sessions: removed.size,
    workspaces: workspaces.count,
    contents: contents.count,
    shadows: shadows.count,
    freedBytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Gives the unused part of the database file back; says why if that is not possible now. */
export async function compactRecord({ record }: CleanUpParts): Promise<string | null> {
  try {
    await record.compact();
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Measures the data folder. */
export async function measureStorage({ record, dataDir }: CleanUpParts): Promise<StorageView> {
  const [workspaceBytes, contentBytes, shadowBytes] = await Promise.all(
    ["sessions", "blobs", "shadow"].map((name) => sizeBelow(join(dataDir, name))),
  );
  const { bytes: databaseBytes, freeBytes } = await record.measure();
  return {
    databaseBytes,
    freeBytes,
    workspaceBytes: workspaceBytes ?? 0,
    contentBytes: contentBytes ?? 0,
    shadowBytes: shadowBytes ?? 0,
  };
}

type Freed = { count: number; bytes: number };

/** The folder of a session, and that of its runs which have one of their own. */
function listFolders(dataDir: string, sessionId: string): string[] {
  const folder = join(dataDir, "sessions", sessionId);
  return [folder, `${folder}-runs`];
}

/** Folders of sessions that are gone, and empty ones of sessions that have ended. */
async function removeWorkspaces(
  { record, dataDir }: CleanUpParts,
  removed: ReadonlySet<string>,
): Promise<Freed> {
  const freed = { count: 0, bytes: 0 };
  for (const entry of entriesIn(join(dataDir, "sessions"))) {
    if (!entry.isDirectory() || !/^ses_[\w-]+$/.test(entry.name)) continue;
    const folder = join(dataDir, "sessions", entry.name);
    const id = entry.name.replace(/-runs$/, "");
    if (await record.readSession(id)) {
      const isIdle = (await record.whyKept(id)) === null;
      // An empty folder is made again when its session is resumed.
      if (isIdle && (await rmdir(folder).then(isTrue, isFalse))) freed.count++;
    } else if (removed.has(id) || (await isOld(folder))) {
      freed.bytes += await sizeBelow(folder);
      await rm(folder, { recursive: true, force: true });
      freed.count++;
    }
  }
  return freed;
}

/** Kept contents of files that no change of the record names any more. */
async function removeContents({ record, dataDir }: CleanUpParts): Promise<Freed> {
  const needed = await record.listContents();
  const freed = { count: 0, bytes: 0 };
  for (const { name: head } of entriesIn(join(dataDir, "blobs"))) {
    const folder = join(dataDir, "blobs", head);
    for (const { name } of entriesIn(folder)) {
      const file = join(folder, name);
      const isContent = /^[0-9a-f]{64}$/.test(head + name);
      if ((!isContent && !name.endsWith(".tmp")) || needed.has(head + name) || !(await isOld(file))) continue;
      const { size } = await stat(file);
      await unlink(file);
      freed.count++;
      freed.bytes += size;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return freed;
}

/**
 * Shadows are made again from the files themselves when they are next needed, and what they hold besides is kept among the
 * contents, too. Only one that something works with stays.
 */
async function removeShadows({ record, dataDir }: CleanUpParts): Promise<Freed> {
  const { sessions } = await record.listSessions({ status: "running", limit: -1 });
  const copies = (await record.listWorktrees()).flatMap(({ path, into }) => [path, into]);
  const roots = [...sessions.map(({ project }) => project), ...copies];
  const needed = new Set(roots.map((root) => shadowDir(dataDir, root)));
  const freed = { count: 0, bytes: 0 };
  for (const { name } of entriesIn(join(dataDir, "shadow"))) {
    const folder = join(dataDir, "shadow", name);
    if (needed.has(folder) || isInUse(folder)) continue;
    freed.bytes += await sizeBelow(folder);
    // Renamed first, so that nobody finds half of one.
    const aside = /\.gone$/.test(name) ? folder : `${folder}.gone`;
    if (aside !== folder) await rename(folder, aside);
    await rm(aside, { recursive: true, force: true });
    freed.count++;
  }
  return freed;
}

/** Whether a living process has it open: each works on an index of its own, named after the process. */
function isInUse(folder: string): boolean {
  return entriesIn(folder).some(({ name }) => {
    const pid = /^index-(\d+)-/.exec(name)?.[1];
    return pid !== undefined && existsSync(`/proc/${pid}`);
  });
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function isOld(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && Math.abs(Date.now() - stats.mtimeMs) > YOUNG_MS;
}

async function sizeBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries)
    if (entry.isFile())
      bytes += await lstat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      );
  return bytes;
}

const isTrue = () => true;
const isFalse = () => false;
