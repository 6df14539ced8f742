import type { Stats } from "node:fs";
import { openForReading } from "../../../files/open-inside.ts";
import type { Place } from "./place.ts";

/** What a file holds, and the metadata it had when it was opened. */
export type FileContent = { bytes: Buffer; state: string };

/** Files larger than this are not read whole. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** A file that has more bytes than were to be read. */
export class FileTooLarge extends Error {
  override name = "FileTooLarge";
}

/** Reads a whole regular file of the place. */
export async function readWhole(
  { root, path, mayRead }: Place,
  maxBytes = MAX_FILE_BYTES,
): Promise<FileContent> {
  const handle = await openForReading(root, path, mayRead);
  try {
    const stats = await handle.stat();
    if (stats.size > maxBytes)
      throw new FileTooLarge(`it has ${stats.size} bytes; at most ${maxBytes} can be read`);
    return { bytes: await handle.readFile(), state: stateOf(stats) };
  } finally {
    await handle.close();
  }
}

/** Metadata that change when the content does. */
export function stateOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Whether these bytes are no text. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
