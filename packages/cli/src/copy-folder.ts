import { mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { listInside, openForReading, writeInside } from "@retinue/core/files/open-inside";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Cli, Terminal } from "./terminal.ts";

const MAX_NAMED = 10;

/**
 * Copies what is below a folder and follows no link on either side; a folder that is not there holds nothing. What cannot be
 * copied is named on the terminal. Returns the paths that were copied, as they are below either folder.
 */
export async function copyFolder(
  from: string,
  to: string,
  { terminal, mode }: { terminal: Pick<Terminal, "tell">; mode?: number },
): Promise<string[]> {
  const copied: string[] = [];
  const left: string[] = [];
  for await (const path of listFilesBelow(from, "")) {
    try {
      const handle = await openForReading(from, join(from, path));
      const content = handle.createReadStream({ autoClose: false });
      await writeInside(to, join(to, path), content, mode).finally(() => handle.close());
      copied.push(path);
    } catch (thrown) {
      left.push(`${cutToLine(path, 200)} was not copied: ${cutToLine(messageOf(thrown), 300)}`);
    }
  }
  for (const note of left.slice(0, MAX_NAMED)) terminal.tell(`warning: ${note}`);
  if (left.length > MAX_NAMED) terminal.tell(`warning: ${left.length - MAX_NAMED} more were not copied`);
  return copied;
}

async function* listFilesBelow(root: string, path: string): AsyncGenerator<string> {
  const entries = await listInside(root, join(root, path)).catch((thrown) => {
    if (path === "") return [];
    throw thrown;
  });
  for (const { name, isFolder } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const below = join(path, name);
    if (isFolder) yield* listFilesBelow(root, below);
    else yield below;
  }
}

/**
 * Makes the folder for `--out` before anything is spent on a run. What is copied later goes exactly there: agents may have
 * put links in the way.
 */
export async function openOut(cli: Cli<{ out?: string }>) {
  const { out } = cli.options;
  if (out === undefined) return undefined;
  // An unset variable in a script must not mean the current folder.
  if (out.trim() === "") throw cannot("''", "it names no folder");
  const named = resolve(cli.cwd, out);
  const folder = await makeFolder(named);
  return {
    /** Copies what is in a workspace, and gives where it went. */
    async copyFrom(workspace: string): Promise<{ folder: string; paths: readonly string[] }> {
      if ((await realpath(named).catch(() => "")) !== folder)
        throw cannot(named, "something else has taken its place");
      const copied = await copyFolder(workspace, folder, { terminal: cli });
      const what =
        copied.length === 0
          ? "the session left no files to copy to"
          : `${showCount(copied.length, "file")} copied to`;
      cli.tell(`${what} ${cutToLine(folder, 1_000)}`);
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

function cannot(path: string, why: string): RetinueError {
  return new RetinueError(
    "input",
    `--out: ${path} cannot be used: ${why}`,
    "name a folder that can be written",
  );
}
