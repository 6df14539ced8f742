import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { Problem } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";

/** Larger files are not agents. */
export const MAX_FILE_BYTES = 1_048_576;

/** A file's text, or why it is not read. */
export type TextResult = { text: string } | { problem: Problem };

/** Reads a regular UTF-8 file of bounded size; anything else is a problem, never a throw or a hang. */
export function readText(file: string): TextResult {
  const refuse = (code: string, message: string, fix: string): TextResult => ({
    problem: { severity: "error", file, line: 0, code, message, fix },
  });
  const notAFile = () => refuse("not-a-file", "this is not a regular file", "replace it by a text file");
  let handle: number | undefined;
  try {
    // Already opening a pipe or a device can do something to it.
    if (!statSync(file).isFile()) return notAFile();
    // Opening a pipe without this flag waits for a writer.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const info = fstatSync(handle);
    if (!info.isFile()) return notAFile();
    if (info.size > MAX_FILE_BYTES)
      return refuse("too-large", `the file is larger than ${MAX_FILE_BYTES} bytes`, "shorten it");
    const bytes = readAll(handle, info.size);
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
    if (handle !== undefined) closeSync(handle);
  }
}

/** What a file of this size holds; what is added to it meanwhile is not waited for. */
function readAll(handle: number, size: number): Uint8Array {
  const buffer = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const count = readSync(handle, buffer, length, size - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
