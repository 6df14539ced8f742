import { randomBytes } from "node:crypto";
import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, RetinueError } from "../schema/error.ts";
import { machineFault } from "../store/file/sqlite-failure.ts";

/** How a file is written. */
export type WriteOptions = {
  /** Of a new file; a file that is there keeps its own. */
  mode?: number;
  /** Of folders that are made on the way. */
  folderMode?: number;
  /** The file must really lie below this folder, whatever links say. */
  within?: string;
};

/** Writes a file whole or not at all, by a rename; where a link stands, the file it leads to is replaced. */
export async function writeWhole(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  const { mode = 0o644, folderMode = 0o755, within } = options;
  try {
    await mkdir(dirname(path), { recursive: true, mode: folderMode });
    const target = await realPlace(path);
    if (within !== undefined && !`${target}/`.startsWith(`${await realpath(within)}/`))
      throw new RetinueError(
        "denied",
        `${path} really is ${target}, outside of ${within}`,
        "remove the link",
      );
    const known = await stat(target).catch(() => undefined);
    if (known && !known.isFile()) throw new RetinueError("input", `${path} is not a regular file`);
    await replace(target, text, known ? known.mode & 0o777 : mode, known !== undefined);
  } catch (thrown) {
    if (thrown instanceof RetinueError) throw thrown;
    throw unwritable(path, thrown);
  }
}

function unwritable(path: string, thrown: unknown): RetinueError {
  const hint = machineFault(thrown)?.hint ?? "check its folder and rights";
  return new RetinueError("input", `${path} cannot be written: ${messageOf(thrown)}`, hint, {
    cause: thrown,
  });
}

/** Writes a file that must not be there yet; false if it is. */
export async function writeNew(path: string, text: string, options: WriteOptions = {}): Promise<boolean> {
  const { mode = 0o644, folderMode = 0o755, within } = options;
  try {
    await mkdir(dirname(path), { recursive: true, mode: folderMode });
    const folder = await realpath(dirname(path));
    if (within !== undefined && !`${folder}/`.startsWith(`${await realpath(within)}/`))
      throw new RetinueError(
        "denied",
        `${dirname(path)} really is ${folder}, outside of ${within}`,
        "remove the link",
      );
    const handle = await open(join(folder, basename(path)), "wx", mode);
    await handle.writeFile(text).finally(() => handle.close());
    return true;
  } catch (thrown) {
    if (thrown instanceof RetinueError) throw thrown;
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return false;
    throw unwritable(path, thrown);
  }
}

async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return join(await realpath(dirname(path)), basename(path));
  }
}

async function replace(target: string, text: string, mode: number, keep: boolean): Promise<void> {
  const fresh = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}`);
  try {
    const handle = await open(fresh, "wx", mode);
    try {
      await handle.writeFile(text);
      if (keep) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, target);
  } catch (thrown) {
    await rm(fresh, { force: true });
    throw thrown;
  }
}
