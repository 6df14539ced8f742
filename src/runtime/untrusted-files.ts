import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { dirname, relative } from "node:path";
import type { UntrustedFiles } from "../loop/ports.ts";
import type { Run } from "../loop/run.ts";
import type { Clock } from "../scheduler/clock.ts";
import type { Store } from "../store/create-store.ts";
import type { Fingerprint } from "../store/untrusted-table.ts";

/** The times of files come from a coarser clock than ours. */
const CLOCK_MS = 100;

/** What tells which files tainted runs wrote. */
export type UntrustedParts = {
  store: Store;
  clock: Clock;
  /** Names of files may hold secrets, which must not reach the record. */
  redact: (text: string) => string;
};

/** Creates the books of what tainted runs wrote. Nothing is looked at while they are empty. */
export function createUntrustedFiles({ store, clock, redact }: UntrustedParts): UntrustedFiles {
  /** Workspaces of tainted runs which the disk refused to note. */
  const unnoted = new Set<string>();
  const authorOf = ({ spec }: Run, root: string) => ({
    root,
    sessionId: spec.sessionId,
    runId: spec.runId,
  });

  async function isUntrusted(path: string): Promise<boolean> {
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isFile()) return false;
    const folders = foldersAbove(path);
    if (folders.some((folder) => unnoted.has(folder)) || store.isSpanOver(folders, stats.ctimeMs))
      return true;
    if (!store.hasUntrustedSize(stats.size)) return false;
    const print = await fingerprintFile(path);
    return print !== null && store.hasUntrustedHash(print.hash);
  }

  async function note(run: Run, paths: Iterable<string>): Promise<void> {
    const { projectDir, workspaceDir } = run.spec;
    for (const path of new Set(paths)) {
      const print = await fingerprintFile(path);
      if (!print) continue;
      const isOwn = isBelow(path, projectDir);
      const inside = redact(relative(isOwn ? projectDir : workspaceDir, path));
      // A copy of the project is merged, or not, but what is in it belongs to the project.
      const root = isOwn ? (placesOf(run).at(-1) ?? projectDir) : workspaceDir;
      store.noteUntrusted({ ...authorOf(run, root), path: inside, ...print });
    }
  }

  return {
    note,
    async hold(paths) {
      if (unnoted.size === 0 && !store.hasUntrusted()) return false;
      for (const path of paths) if (await isUntrusted(path)) return true;
      return false;
    },
    reach: (run) => unnoted.has(run.spec.workspaceDir) || store.hasUntrusted(placesOf(run)),
    begin(run) {
      const sinceMs = clock.wallMs() - CLOCK_MS;
      const id = store.openSpan({ ...authorOf(run, run.spec.projectDir), sinceMs });
      return async (changed, isAllKnown) => {
        await note(run, changed);
        store.closeSpan(id, isAllKnown ? undefined : clock.wallMs() + CLOCK_MS);
      };
    },
    taintWorkspace(run) {
      const { workspaceDir } = run.spec;
      try {
        if (!store.isSpanOver([workspaceDir], 0))
          store.openSpan({ ...authorOf(run, workspaceDir), sinceMs: 0 });
      } catch {
        unnoted.add(workspaceDir);
      }
    },
  };
}

/** Notes that files of a tainted session's workspace were copied out of it. */
export async function noteCopies(
  store: Store,
  { folder, paths }: { folder: string; paths: readonly string[] },
  about: { project: string; sessionId: string; runId: string },
): Promise<void> {
  const { project, sessionId, runId } = about;
  const root = folder === project || isBelow(folder, project) ? project : folder;
  for (const path of paths) {
    const print = await fingerprintFile(path);
    if (print) store.noteUntrusted({ root, path: relative(root, path), sessionId, runId, ...print });
  }
}

/** Folders that the run's commands see: its own, and those that its copies were made from. */
function placesOf(run: Run): string[] {
  const places = [run.spec.workspaceDir];
  for (let at: Run | null = run; at; at = at.parent) places.push(at.spec.projectDir);
  return places;
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) folders.push(at);
  return folders;
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Size and hash of a regular file, read in pieces; null if there is none. */
export async function fingerprintFile(path: string): Promise<Fingerprint | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (!handle) return null;
  try {
    const stats: Stats = await handle.stat();
    if (!stats.isFile()) return null;
    const hash = createHash("sha256");
    let size = 0;
    for await (const piece of handle.createReadStream({ autoClose: false })) {
      hash.update(piece);
      size += piece.length;
    }
    return { size, hash: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}
