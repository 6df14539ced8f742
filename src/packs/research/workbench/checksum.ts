import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { FileFacts } from "./workbench.ts";

const PIECE_BYTES = 256 * 1024;

/** The SHA-256 of some bytes, in hex. */
export function sha256Of(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The bytes of an open file from its beginning, in pieces, so that memory stays bounded. */
export async function* piecesOf(handle: FileHandle, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
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
export async function factsOf(handle: FileHandle, signal?: AbortSignal): Promise<FileFacts> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const bytes of piecesOf(handle, signal)) {
    hash.update(bytes);
    size += bytes.length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** The bytes of an open file, failing at their end if they are not what they must be. */
export async function* checkedPieces(
  handle: FileHandle,
  { size, sha256 }: FileFacts,
  onWrong: () => Error,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let seen = 0;
  for await (const bytes of piecesOf(handle)) {
    hash.update(bytes);
    seen += bytes.length;
    yield bytes;
  }
  if (seen !== size || hash.digest("hex") !== sha256) throw onWrong();
}
