import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { childOf, nameOf, openFolder, PathRefused } from "../../../files/open-inside.ts";
import { sha256Of } from "./checksum.ts";
import type { FileFacts, RemoteFile } from "./workbench.ts";

const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The name under which the parts of one content for one file are collected, the same in every process. */
export function partName({ session, path }: RemoteFile, { size, sha256 }: FileFacts): string {
  return sha256Of(JSON.stringify([session, path, size, sha256])).slice(0, 40);
}

/** Opens a file that collects parts, made if it is missing; never through a link. */
export async function openPart(root: string, path: string): Promise<FileHandle> {
  const folder = await openFolder(root, dirname(join(root, path)), true);
  try {
    const flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    const handle = await open(childOf(folder, nameOf(path)), flags, 0o600);
    const stats = await handle.stat();
    if (stats.isFile() && stats.nlink <= 1) return handle;
    await handle.close();
    throw new PathRefused(`${path} is not a file of its own`);
  } finally {
    await folder.close();
  }
}

/** Removes a file that collected parts; one that is gone is no matter. */
export async function removePart(root: string, path: string): Promise<void> {
  const folder = await openFolder(root, dirname(join(root, path)), true);
  try {
    await unlink(childOf(folder, nameOf(path))).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOENT") throw thrown;
    });
  } finally {
    await folder.close();
  }
}
