import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFolderMode, isLinkMode } from "../files/entry.ts";
import type { BlobStore } from "../record/blob-store.ts";
import type { FileState } from "../schema/change.ts";
import { runShadowGit } from "./git.ts";
import type { FileStates } from "./patch.ts";

/** What becomes of one file: a new state, nothing to do, or why the two changes do not go together. */
export type Merged =
  | { kind: "take"; state: FileState }
  | { kind: "same" }
  | { kind: "conflict"; why: string };

const EXEC = 0o111;
const MOST_HUNK_CHARS = 3_000;
const MAX_MERGE_BYTES = 20_000_000;

/** Brings a change from `before` to `after` to a file that may have changed as well. */
export async function mergeFile(
  ours: FileState,
  { path, before, after }: FileStates,
  parts: { blobs: BlobStore; dataDir: string },
): Promise<Merged> {
  if (alike(ours, after)) return { kind: "same" };
  if (alike(ours, before)) return { kind: "take", state: withModeOf(ours, before, after) };
  if (ours === null) return { kind: "conflict", why: `${path} was deleted in the project and changed here` };
  if (after === null) return { kind: "conflict", why: `${path} was deleted here and changed in the project` };
  if (before === null)
    return { kind: "conflict", why: `${path} was made here and in the project, differently` };
  if (![ours, before, after].every(isPlain))
    return { kind: "conflict", why: `${path} changed on both sides and is no plain file` };
  return mergeText({ path, ours, before, after }, parts);
}

/** The modes of a copy are git's two, so only the right to execute can have changed in it. */
function alike(one: FileState, other: FileState): boolean {
  if (!one || !other) return one === other;
  if (kindOf(one.mode) !== kindOf(other.mode) || one.hash !== other.hash) return false;
  return !isPlain(one) || isExecutable(one) === isExecutable(other);
}

function withModeOf(ours: FileState, before: FileState, after: FileState): FileState {
  if (!after || !ours || !isPlain(after) || !isPlain(ours)) return after;
  return { mode: mergedMode(ours, before, after), hash: after.hash };
}

function mergedMode(ours: NonNullable<FileState>, before: FileState, after: NonNullable<FileState>): number {
  if (before && isExecutable(before) === isExecutable(after)) return ours.mode;
  return isExecutable(after) ? ours.mode | ((ours.mode & 0o444) >> 2) : ours.mode & ~EXEC;
}

type Sides = { path: string } & Record<"ours" | "before" | "after", NonNullable<FileState>>;

async function mergeText(
  { path, ours, before, after }: Sides,
  { blobs, dataDir }: { blobs: BlobStore; dataDir: string },
): Promise<Merged> {
  const [mine, base, theirs] = await Promise.all([ours, before, after].map(({ hash }) => blobs.get(hash)));
  if (!mine || !base || !theirs || [mine, base, theirs].some(isBinary))
    return { kind: "conflict", why: `${path} changed on both sides and is not text` };
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(dataDir, "merge-"));
  try {
    await writeFile(join(folder, "ours"), mine, { mode: 0o600 });
    await writeFile(join(folder, "base"), base, { mode: 0o600 });
    await writeFile(join(folder, "theirs"), theirs, { mode: 0o600 });
    const labels = ["project", "before", "here"].flatMap((label) => ["-L", label]);
    const { code, stdout } = await runShadowGit(
      ["merge-file", "-p", "-q", "--diff3", ...labels, "ours", "base", "theirs"],
      { cwd: folder, expect: (ended) => ended < 128 },
    );
    if (code > 0) return { kind: "conflict", why: conflictText(path, stdout.toString("utf8")) };
    const hash = await blobs.put(stdout, true);
    return { kind: "take", state: { mode: mergedMode(ours, before, after), hash } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function conflictText(path: string, merged: string): string {
  const hunks = merged.match(/^<{7} project$[\s\S]*?^>{7} here$/gm) ?? [];
  const text = hunks.join("\n");
  const shown = text.length > MOST_HUNK_CHARS ? `${text.slice(0, MOST_HUNK_CHARS)}\n…` : text;
  return `${path} changed in the same place on both sides:\n${shown}`;
}

function isBinary(content: Buffer): boolean {
  return content.length > MAX_MERGE_BYTES || content.subarray(0, 8_000).includes(0);
}

function isPlain(state: NonNullable<FileState>): boolean {
  return kindOf(state.mode) === "file";
}

function kindOf(mode: number): "folder" | "link" | "file" {
  if (isFolderMode(mode)) return "folder";
  return isLinkMode(mode) ? "link" : "file";
}

function isExecutable(state: NonNullable<FileState>): boolean {
  return (state.mode & 0o100) !== 0;
}
