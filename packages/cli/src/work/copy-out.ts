import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { listInside, openForReading, writeInside } from "@retinue/core/files/open-inside";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Terminal } from "../terminal.ts";
import type { RunOptions } from "./run-options.ts";

/** The folder that `--out` names. */
type OutFolder = {
  /** Copies what is in a workspace, and gives where it went. */
  copyFrom(workspace: string): Promise<{ folder: string; paths: readonly string[] }>;
};

/**
 * Makes the folder for `--out` before anything is spent on a run. What is copied later goes exactly there: agents may have
 * put links in the way, and none is followed on either side.
 */
export async function openOut({ out }: RunOptions, terminal: Terminal): Promise<OutFolder | undefined> {
  if (out === undefined) return undefined;
  // An unset variable in a script must not mean the current folder.
  if (out.trim() === "") throw cannot("''", "it names no folder");
  const named = resolve(terminal.cwd, out);
  const folder = await makeFolder(named);
  return {
    async copyFrom(workspace) {
      if ((await realpath(named).catch(() => "")) !== folder)
        throw cannot(named, "something else has taken its place");
      const copied: string[] = [];
      for await (const path of listFilesIn(workspace, "")) {
        try {
          await copyFile(workspace, folder, path);
          copied.push(path);
        } catch (thrown) {
          terminal.tell(
            `warning: ${cutToLine(path, 200)} was not copied: ${cutToLine(messageOf(thrown), 300)}`,
          );
        }
      }
      const what =
        copied.length === 0
          ? "the session left no files to copy to"
          : `${showCount(copied.length, "file")} copied to`;
      terminal.tell(`${what} ${cutToLine(folder, 1_000)}`);
      return { folder, paths: copied.map((path) => join(folder, path)) };
    },
  };
}

async function makeFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true });
    return await realpath(path);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    throw cannot(path, code === "EEXIST" || code === "ENOTDIR" ? "it is a file" : messageOf(thrown));
  }
}

async function* listFilesIn(root: string, path: string): AsyncGenerator<string> {
  const entries = await listInside(root, join(root, path));
  for (const { name, isFolder } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const below = join(path, name);
    if (isFolder) yield* listFilesIn(root, below);
    else yield below;
  }
}

async function copyFile(from: string, to: string, path: string): Promise<void> {
  const handle = await openForReading(from, join(from, path));
  try {
    await writeInside(to, join(to, path), handle.createReadStream({ autoClose: false }));
  } finally {
    await handle.close();
  }
}

function cannot(path: string, why: string): RetinueError {
  return new RetinueError(
    "input",
    `--out: ${path} cannot be used: ${why}`,
    "name a folder that can be written",
  );
}
