import type { Stats } from "node:fs";
import { relative, sep } from "node:path";
import { openForReading } from "@retinue/core/files/open-inside";
import type { Target } from "@retinue/core/schema/rights";
import { findJudgedPath } from "@retinue/core/tools/judged-path";
import type { ToolContext } from "@retinue/core/tools/tool";

/** A canonical path, the root folder it lies in, and whether another name of the same file may be read. */
export type FilePlace = { path: string; root: string; mayRead?: (path: string) => boolean };

/** The file or folder that was judged; refuses what lies outside. */
export function findFilePlace(
  context: Pick<ToolContext, "targets" | "projectDir" | "workspaceDir" | "maySee">,
): FilePlace {
  const { target, root } = findJudgedPath(context);
  return {
    path: target.path,
    root,
    mayRead: (path) => context.maySee(toReadTarget(path, { root }, context)),
  };
}

/** The permission target of a file found below a place. */
export function toReadTarget(
  path: string,
  { root }: Pick<FilePlace, "root">,
  { projectDir }: Pick<ToolContext, "projectDir">,
): Target {
  return {
    kind: "path",
    path,
    root: root === projectDir ? "project" : "workspace",
    relative: relative(root, path).replaceAll(sep, "/"),
    mode: "read",
  };
}

/** What a file holds, and the metadata it had when it was opened. */
type FileContent = { bytes: Buffer; state: string };

/** Files larger than this are not read whole. */
const MAX_READ_BYTES = 20 * 1024 * 1024;

/** A file that has more bytes than were to be read. */
export class FileTooLarge extends Error {
  override name = "FileTooLarge";
}

/** Reads a whole regular file of the place. */
export async function readWhole(
  { root, path, mayRead }: FilePlace,
  maxBytes = MAX_READ_BYTES,
): Promise<FileContent> {
  await using handle = await openForReading(root, path, mayRead);
  const stats = await handle.stat();
  if (stats.size > maxBytes)
    throw new FileTooLarge(`it has ${stats.size} bytes; at most ${maxBytes} can be read`);
  return { bytes: await handle.readFile(), state: describeState(stats) };
}

/** Metadata that change when the content does. */
export function describeState({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Whether these bytes are no text. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
