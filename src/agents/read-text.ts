import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Problem } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";

/** Larger files are not agents. */
export const MAX_FILE_BYTES = 1_048_576;

/** A file's text, or why it is not read. */
export type TextResult = { text: string } | { problem: Problem };

/** Reads a regular UTF-8 file of bounded size; anything else is a problem, never a throw or a hang. */
export async function readText(file: string): Promise<TextResult> {
  const refuse = (code: string, message: string, fix: string): TextResult => ({
    problem: { severity: "error", file, line: 0, code, message, fix },
  });
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe without this flag waits for a writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const info = await handle.stat();
    if (!info.isFile())
      return refuse("not-a-file", "this is not a regular file", "replace it by a text file");
    const bytes = await readAtMost(handle, MAX_FILE_BYTES + 1);
    if (bytes.length > MAX_FILE_BYTES) {
      return refuse("too-large", `the file is larger than ${MAX_FILE_BYTES} bytes`, "shorten it");
    }
    if (bytes.includes(0))
      return refuse("binary-file", "the file has NUL bytes, so it is not UTF-8 text", "save it as UTF-8");
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (thrown) {
    if (thrown instanceof TypeError)
      return refuse("bad-encoding", "the file is not valid UTF-8", "save it as UTF-8");
    return refuse(
      "unreadable-file",
      `the file cannot be read: ${messageOf(thrown)}`,
      "check the path and its permissions",
    );
  } finally {
    await handle?.close();
  }
}

async function readAtMost(handle: FileHandle, limit: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(limit);
  let length = 0;
  while (length < limit) {
    const { bytesRead } = await handle.read(buffer, length, limit - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
