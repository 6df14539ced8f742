import { isFolderMode, isLinkMode } from "../files/entry.ts";
import type { BlobStore } from "../record/blob-store.ts";
import type { FileState } from "../schema/change.ts";
import type { ChangedFile } from "../schema/result.ts";
import { entryOf, nameChange } from "./state.ts";

/** A path with two of its states. */
export type FileStates = { path: string; before: FileState; after: FileState };

/** The difference of one file, for a person and as counts. */
export type FilePatch = ChangedFile & { text: string };

const MAX_TEXT_BYTES = 5_000_000;
/** Beyond this many different lines a file counts as replaced as a whole: finding the least difference takes too long. */
const MAX_EDITS = 5_000;

/** The unified difference of each file, in git's form; what is not text is only named. Folders are left out. */
export async function createPatches(changed: readonly FileStates[], blobs: BlobStore): Promise<FilePatch[]> {
  const files = changed.filter(({ before, after }) => !isOnlyFolder(before) || !isOnlyFolder(after));
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const patches: FilePatch[] = [];
  for (const file of files) patches.push(await createPatch(withoutFolders(file), blobs));
  return patches;
}

async function createPatch({ path, before, after }: FileStates, blobs: BlobStore): Promise<FilePatch> {
  const kind = nameChange(before, after);
  const [old, now] = await Promise.all([textOf(before, blobs), textOf(after, blobs)]);
  const head = headOf(path, before, after);
  if (old === null || now === null) {
    const differs = before?.hash !== after?.hash;
    const text = [...head, ...(differs ? [`Binary files differ: ${path}`] : [])].join("\n");
    return { path, kind, added: null, removed: null, text };
  }
  const hunks = old === now ? [] : await hunksOf(old, now);
  const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"];
  const body = hunks.length > 0 ? [`--- ${names[0]}`, `+++ ${names[1]}`, ...hunks] : [];
  return {
    path,
    kind,
    added: hunks.filter((line) => line.startsWith("+")).length,
    removed: hunks.filter((line) => line.startsWith("-")).length,
    text: [...head, ...body].join("\n"),
  };
}

/** The difference of two texts in unified form. A name is `/dev/null` where there is no file. */
export async function writeUnifiedDiff(
  { from, to }: { from: string; to: string },
  before: string,
  after: string,
): Promise<string> {
  return [`--- ${from}`, `+++ ${to}`, ...(await hunksOf(before, after)), ""].join("\n");
}

function headOf(path: string, before: FileState, after: FileState): string[] {
  const head = [`diff --git a/${path} b/${path}`];
  if (!before && after) head.push(`new file mode ${octal(after.mode)}`);
  else if (before && !after) head.push(`deleted file mode ${octal(before.mode)}`);
  else if (before && after && before.mode !== after.mode)
    head.push(`old mode ${octal(before.mode)}`, `new mode ${octal(after.mode)}`);
  return head;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(6, "0");
}

async function hunksOf(old: string, now: string): Promise<string[]> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("a", "b", old, now, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  if (!patch) return replaced(old, now);
  return patch.hunks.flatMap((hunk) => [
    `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
    ...hunk.lines,
  ]);
}

function replaced(old: string, now: string): string[] {
  const [olds, nows] = [linesOf(old), linesOf(now)];
  return [
    `@@ -${range(1, olds.length)} +${range(1, nows.length)} @@`,
    ...olds.map((line) => `-${line}`),
    ...nows.map((line) => `+${line}`),
  ];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** An empty side begins before its first line. */
function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${count === 0 ? Math.max(0, start - 1) : start},${count}`;
}

/** Null for what is no text. Nothing is an empty text. */
async function textOf(state: FileState, blobs: BlobStore): Promise<string | null> {
  if (!state) return "";
  const { content } = await entryOf(state, blobs);
  if (content.length > MAX_TEXT_BYTES || content.subarray(0, 8_000).includes(0)) return null;
  const text = content.toString("utf8");
  return isLinkMode(state.mode) || Buffer.from(text, "utf8").equals(content) ? text : null;
}

function isOnlyFolder(state: FileState): boolean {
  return state === null || isFolderMode(state.mode);
}

function withoutFolders({ path, before, after }: FileStates): FileStates {
  return { path, before: isOnlyFolder(before) ? null : before, after: isOnlyFolder(after) ? null : after };
}
