import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";
import type { Clock } from "../budget/clock.ts";
import type { Fingerprint, Record, UntrustedAuthor } from "../record/record.ts";
import type { Run, UntrustedFiles } from "../run/run.ts";
import { type ChangedEntry, findChanged, isNamedIn, type TimeSpan } from "./find-changed.ts";

/** The times of files come from a coarser clock than ours. */
const CLOCK_MS = 100;
/**
 * Contents below this size, such as none, `{}` or `1`, are the same in files of every project and say nothing; to
 * say something in such pieces takes hundreds of them.
 */
const LEAST_BYTES = 4;
/** One short word: half the folders of any project are called so, and it says nothing to do. */
const SHORT_WORD = /^[\w.-]{1,15}$/;
/** Entries that are noted one by one after a command, and bytes that are read for it: about a second. */
const MOST_NOTED = 5_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** What tells which files tainted runs wrote. */
export type UntrustedParts = {
  record: Record;
  clock: Clock;
  /** Names of files may hold secrets, which must not reach the record. */
  redact: (text: string) => string;
};

/** A folder on the disk, and in whose name it is noted what lies in it. */
type Place = { folder: string; author: UntrustedAuthor };
type Entry = Pick<ChangedEntry, "path" | "isNamed">;

/** Creates the books of what tainted runs wrote. Nothing is looked at while they are empty. */
export function createUntrustedFiles({ record, clock, redact }: UntrustedParts): UntrustedFiles {
  /** Workspaces of tainted runs which the disk refused to note. */
  const unnoted = new Set<string>();
  const authorOf = (run: Run, root: string) => ({
    root,
    sessionId: run.session.id,
    runId: run.runId,
  });
  /** A copy of the project is merged, or not, but what is in it belongs to the project. */
  const projectOf = (run: Run): Place => ({
    folder: run.projectDir,
    author: authorOf(run, placesOf(run).at(-1) ?? run.projectDir),
  });

  async function isUntrusted(path: string): Promise<boolean> {
    const stats = await lstat(path).catch(() => null);
    if (!stats || !holdsText(stats)) return false;
    const folders = foldersAbove(path);
    if (
      folders.some((folder) => unnoted.has(folder)) ||
      (await record.isUntrusted({ roots: folders, atMs: stats.ctimeMs }))
    )
      return true;
    if (!(await record.isUntrusted({ size: stats.size }))) return false;
    const print = await fingerprintFile(path);
    return print !== null && (await record.isUntrusted({ hash: print.hash }));
  }

  /** Whether a tainted run gave this its name, as far as that is not known by what it holds. */
  async function isNameUntrusted(path: string): Promise<boolean> {
    const name = basename(path);
    if (SHORT_WORD.test(name)) return false;
    const folders = foldersAbove(path);
    if (await record.isUntrusted({ names: [hashName(name)], roots: folders })) return true;
    const [own, folder] = await Promise.all([path, dirname(path)].map((at) => lstat(at).catch(() => null)));
    if (!own || !folder || holdsText(own)) return false;
    return (
      (await record.isUntrusted({ roots: folders, atMs: own.ctimeMs })) &&
      (await record.isUntrusted({ roots: folders, atMs: folder.ctimeMs }))
    );
  }

  /** Notes what something holds, or else its name if that is new; gives what was read of it. */
  async function noteEntry({ folder, author }: Place, { path, isNamed }: Entry): Promise<Fingerprint | null> {
    const about = { ...author, path: redact(relative(folder, path)) };
    const print = await fingerprintFile(path);
    if (print && print.size >= LEAST_BYTES) await record.noteUntrusted({ ...about, ...print });
    else if (isNamed && !SHORT_WORD.test(basename(path)))
      await record.noteUntrusted({ ...about, hash: hashName(basename(path)) });
    return print;
  }

  async function note(run: Run, paths: Iterable<string>, span?: TimeSpan): Promise<void> {
    const { projectDir, workspaceDir } = run;
    const isNamed = (path: string) => span !== undefined && isNamedIn(span, path, dirname(path));
    const folders = new Set<string>();
    for (const path of new Set(paths)) {
      const isOwn = isBelow(path, projectDir);
      const place = isOwn ? projectOf(run) : { folder: workspaceDir, author: authorOf(run, workspaceDir) };
      await noteEntry(place, { path, isNamed: isNamed(path) });
      if (isOwn) for (const folder of foldersAbove(path, projectDir)) folders.add(folder);
    }
    for (const path of folders) await noteEntry(projectOf(run), { path, isNamed: isNamed(path) });
  }

  /** Notes what changed in a folder in a span, and says whether that is all. */
  async function noteChanged(place: Place, span: TimeSpan): Promise<boolean> {
    const { entries, isAll } = await findChanged(place.folder, span, MOST_NOTED);
    let left = MOST_BYTES;
    let isNoted = isAll;
    for (const entry of entries) {
      const isRead = entry.size <= left && (await noteEntry(place, entry)) !== null;
      if (isRead) left -= entry.size;
      else if (entry.isFile || entry.size > left) isNoted = false;
    }
    return isNoted;
  }

  return {
    note: (run, paths) => note(run, paths),
    async hold(paths) {
      if (isNone(paths)) return false;
      if (unnoted.size === 0 && !(await record.hasUntrusted())) return false;
      for (const path of paths) if (await isUntrusted(path)) return true;
      return false;
    },
    async show(run, paths) {
      if (isNone(paths)) return false;
      if (unnoted.size === 0 && !(await record.hasUntrusted())) return false;
      const { projectDir, workspaceDir } = run;
      const names = new Set<string>();
      for (const path of paths) {
        if (await isUntrusted(path)) return true;
        const base = isBelow(path, workspaceDir) ? workspaceDir : projectDir;
        for (const each of [path, ...foldersAbove(path, base)]) names.add(each);
      }
      for (const path of names) if (await isNameUntrusted(path)) return true;
      return false;
    },
    reach: async (run) => unnoted.has(run.workspaceDir) || (await record.hasUntrusted(placesOf(run))),
    async begin(run) {
      const sinceMs = clock.wallMs() - CLOCK_MS;
      const id = await record.openSpan({ ...authorOf(run, run.projectDir), sinceMs });
      return async (changed, isAllKnown) => {
        const span = { sinceMs, untilMs: clock.wallMs() + CLOCK_MS };
        await note(run, changed, span);
        const isNoted = isAllKnown || (await noteChanged(projectOf(run), span));
        await record.closeSpan(id, isNoted ? undefined : span.untilMs);
      };
    },
    async closeLeft(sessionId) {
      for (const { id, root, runId, sinceMs } of await record.listUntrusted({ openIn: sessionId })) {
        const span = { sinceMs: sinceMs ?? 0, untilMs: clock.wallMs() + CLOCK_MS };
        const isNoted = await noteChanged({ folder: root, author: { root, sessionId, runId } }, span);
        await record.closeSpan(id, isNoted ? undefined : span.untilMs);
      }
    },
    async taintWorkspace(run) {
      const { workspaceDir } = run;
      try {
        if (!(await record.isUntrusted({ roots: [workspaceDir], atMs: 0 })))
          await record.openSpan({ ...authorOf(run, workspaceDir), sinceMs: 0 });
      } catch {
        unnoted.add(workspaceDir);
      }
    },
  };
}

/** Most calls name no file at all, and then nothing is asked of the record. */
function isNone(paths: Iterable<string>): boolean {
  for (const _ of paths) return false;
  return true;
}

/** Notes that files of a tainted session's workspace were copied out of it. */
export async function noteCopies(
  record: Record,
  { folder, paths }: { folder: string; paths: readonly string[] },
  about: { project: string; sessionId: string; runId: string },
): Promise<void> {
  const { project, sessionId, runId } = about;
  const root = folder === project || isBelow(folder, project) ? project : folder;
  for (const path of paths) {
    const print = await fingerprintFile(path);
    if (print && print.size >= LEAST_BYTES)
      await record.noteUntrusted({ root, path: relative(root, path), sessionId, runId, ...print });
  }
}

/** Folders that the run's commands see: its own, and those that its copies were made from. */
function placesOf(run: Run): string[] {
  const places = [run.workspaceDir];
  for (let at: Run | null = run; at; at = at.parent) places.push(at.projectDir);
  return places;
}

/** The folders around a path, the innermost first; if one is given, only those below it. */
function foldersAbove(path: string, below = ""): string[] {
  const folders: string[] = [];
  for (let at = dirname(path); at !== dirname(at) && isBelow(at, below); at = dirname(at)) folders.push(at);
  return folders;
}

/** Whether it is something whose content is noted: a file, or a link, which holds where it leads to. */
function holdsText(stats: Stats): boolean {
  return (stats.isFile() || stats.isSymbolicLink()) && stats.size >= LEAST_BYTES;
}

function hashName(name: string): string {
  return createHash("sha256").update("name\0").update(name).digest("hex");
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Size and hash of a regular file, read in pieces, or of where a link leads to; null if there is neither. */
export async function fingerprintFile(path: string): Promise<Fingerprint | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (!handle) return fingerprintLink(path);
  try {
    const stats: Stats = await handle.stat();
    if (!stats.isFile()) return null;
    const hash = createHash("sha256");
    let size = 0;
    const piece = Buffer.allocUnsafe(Math.min(Math.max(stats.size + 1, 4_096), 65_536));
    for (;;) {
      const { bytesRead } = await handle.read(piece);
      if (bytesRead === 0) break;
      hash.update(piece.subarray(0, bytesRead));
      size += bytesRead;
    }
    return { size, hash: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

async function fingerprintLink(path: string): Promise<Fingerprint | null> {
  const target = await readlink(path, "buffer").catch(() => null);
  return target && { size: target.length, hash: createHash("sha256").update(target).digest("hex") };
}
