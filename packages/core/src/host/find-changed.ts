import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { statOf } from "../changes/walk.ts";

/** From when to when, both included, in milliseconds since 1970. */
export type TimeSpan = { sinceMs: number; untilMs: number };

/** Something that changed, and whether its name may be new: only then its folder changed as well. */
export type ChangedEntry = { path: string; size: number; isFile: boolean; isNamed: boolean };

/** What changed, the outermost first, and whether that is all. */
export type ChangedEntries = { entries: ChangedEntry[]; isAll: boolean };

/** More than most projects have with all that they install: 100,000 take a third of a second. */
const MOST_LOOKED = 300_000;
const STEPS_AT_ONCE = 500;

/**
 * Finds what changed below a folder in a span, by the time that the file system keeps and a program cannot set back, and at
 * most so many entries. What git keeps for itself is not listed: if that changed, the list is not all. Gives others a turn now and then.
 */
export async function findChanged(root: string, span: TimeSpan, most: number): Promise<ChangedEntries> {
  const found: ChangedEntries = { entries: [], isAll: true };
  const left = [root];
  let steps = 0;
  for (const folder of left) {
    const isOfGit = folder.includes("/.git/") || folder.endsWith("/.git");
    const isChanged = isIn(span, statOf(folder)?.ctimeMs);
    for (const entry of listFolder(folder, found)) {
      if (++steps % STEPS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      const path = join(folder, entry.name);
      const stats = statOf(path);
      if (!stats) found.isAll = false;
      if (stats?.isDirectory()) left.push(path);
      if (!stats || !isIn(span, stats.ctimeMs)) continue;
      if (isOfGit || found.entries.length === most) found.isAll = false;
      else found.entries.push({ path, size: stats.size, isFile: stats.isFile(), isNamed: isChanged });
    }
    if (steps > MOST_LOOKED) return { ...found, isAll: false };
  }
  return found;
}

/** Whether what is at this path was made or renamed in a span: that changes it and its folder. */
export function isNamedIn(span: TimeSpan, path: string, folder: string): boolean {
  return isIn(span, statOf(path)?.ctimeMs) && isIn(span, statOf(folder)?.ctimeMs);
}

function isIn({ sinceMs, untilMs }: TimeSpan, atMs: number | undefined): boolean {
  return atMs !== undefined && sinceMs <= atMs && atMs <= untilMs;
}

function listFolder(folder: string, found: ChangedEntries): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    found.isAll = false;
    return [];
  }
}
