// Where an import reads from, and the report of what it did.

import { dirname, join, resolve } from "node:path";
import { listInside, openForReading } from "@retinue/core/files/open-inside";
import { messageOf } from "@retinue/core/schema/error";

/** How many of each there are. */
export type Counts = { mails: number; events: number; contacts: number; channels: number; messages: number };

/** What an import did. */
export type ImportReport = {
  /** What is new in the store. */
  readonly counts: Counts;
  /** How many the store had already. */
  skipped: number;
  /** What could not be read; everything else was imported. */
  readonly problems: { readonly file: string; readonly message: string }[];
};

const MOST_PROBLEMS = 500;
const MAX_DEPTH = 6;
const MAX_FILES = 50_000;
/** The largest file that is read. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;

/** Creates an empty report. */
export function createReport(): ImportReport {
  return { counts: { mails: 0, events: 0, contacts: 0, channels: 0, messages: 0 }, skipped: 0, problems: [] };
}

/** Counts one item as new or as known. */
export function count(report: ImportReport, kind: keyof Counts, isNew: boolean): void {
  if (isNew) report.counts[kind]++;
  else report.skipped++;
}

/** Notes what is wrong with a file; hostile files cannot make the list endless. */
export function addProblem(report: ImportReport, file: string, thrown: unknown): void {
  if (report.problems.length >= MOST_PROBLEMS) return;
  report.problems.push({ file, message: messageOf(thrown).slice(0, 500) });
}

/** The bytes of a regular file, which is never a link; an error says why not. */
export async function readBounded(root: string, path: string, maxBytes = MAX_FILE_BYTES): Promise<Buffer> {
  const handle = await openForReading(root, resolve(root, path));
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new RangeError(`it is larger than ${Math.floor(maxBytes / 1024 / 1024)} MB`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** A folder's files below `root` by their relative path, in order; links are not followed. */
export async function listFilesBelow(root: string): Promise<{ files: string[]; isCut: boolean }> {
  const files: string[] = [];
  const folders: { path: string; depth: number }[] = [{ path: "", depth: 0 }];
  for (let folder = folders.shift(); folder; folder = folders.shift()) {
    const entries = await listInside(root, resolve(root, folder.path));
    for (const { name, isFolder } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (name.startsWith(".")) continue;
      const path = join(folder.path, name);
      if (files.length >= MAX_FILES) return { files, isCut: true };
      if (!isFolder) files.push(path);
      else if (folder.depth < MAX_DEPTH) folders.push({ path, depth: folder.depth + 1 });
    }
  }
  return { files, isCut: false };
}

/** The folder of a relative path; empty for the root itself. */
export function findParent(path: string): string {
  const folder = dirname(path);
  return folder === "." ? "" : folder;
}
