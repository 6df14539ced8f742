import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { childOf, lastPart, openFolder, PathRefused } from "@retinue/core/files/open-inside";
import type { FileFacts, RemoteFile } from "./workbench.ts";

const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The name under which the parts of one content for one file are collected, the same in every process. */
export function namePart({ session, path }: RemoteFile, { size, sha256 }: FileFacts): string {
  return hashBytes(JSON.stringify([session, path, size, sha256])).slice(0, 40);
}

/** Opens a file that collects parts, made if it is missing; never through a link. */
export async function openPart(root: string, path: string): Promise<FileHandle> {
  await using folder = await openFolder(root, dirname(join(root, path)), true);
  const flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const handle = await open(childOf(folder, lastPart(path)), flags, 0o600);
  const stats = await handle.stat();
  if (stats.isFile() && stats.nlink <= 1) return handle;
  await handle.close();
  throw new PathRefused(`${path} is not a file of its own`);
}

/** Removes a file that collected parts; one that is gone is no matter. */
export async function removePart(root: string, path: string): Promise<void> {
  await using folder = await openFolder(root, dirname(join(root, path)), true);
  await unlink(childOf(folder, lastPart(path))).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
  });
}

const PIECE_BYTES = 256 * 1024;

/** The SHA-256 of some bytes, in hex. */
export function hashBytes(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The bytes of an open file from its beginning, in pieces, so that memory stays bounded. */
async function* readPieces(handle: FileHandle, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ; ) {
    signal?.throwIfAborted();
    const bytes = await readAt(handle, offset, PIECE_BYTES);
    if (bytes.length === 0) return;
    yield bytes;
    offset += bytes.length;
  }
}

/** The bytes of an open file at a place; fewer only where it ends. */
export async function readAt(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Size and checksum of an open file. */
export async function measureFile(handle: FileHandle, signal?: AbortSignal): Promise<FileFacts> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const bytes of readPieces(handle, signal)) {
    hash.update(bytes);
    size += bytes.length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** The bytes of an open file, failing at their end if they are not what they must be. */
export async function* readChecked(
  handle: FileHandle,
  { size, sha256 }: FileFacts,
  onWrong: () => Error,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let seen = 0;
  for await (const bytes of readPieces(handle)) {
    hash.update(bytes);
    seen += bytes.length;
    yield bytes;
  }
  if (seen !== size || hash.digest("hex") !== sha256) throw onWrong();
}
