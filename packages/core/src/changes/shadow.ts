import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { copyFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { BlobStore } from "../record/blob-store.ts";
import { entriesOf, runShadowGit, type ShadowEntry, splitNul } from "./git.ts";
import { findRepository, objectFormat } from "./repository.ts";
import { configureShadow, makeRepository } from "./shadow-config.ts";
import { statOf } from "./walk.ts";

/** The files of a folder, and the ignored files, ignored folders and nested repositories in it. */
export type ShadowFiles = { files: Map<string, ShadowEntry>; leftAlone: Set<string> };

const MAX_FILES = 200_000;
const REFRESH_ATTEMPTS = 5;
const CONTENTS_AT_ONCE = 200;
const MAX_NEW_BYTES = 2 * 1024 * 1024 * 1024;
/**
 * A repository beside a folder, in Retinue's data folder, that knows the folder's files byte for byte. It has its own
 * configuration and never touches the folder's. Files that `.gitignore` names, `.git` and nested repositories are left out.
 */
export class Shadow implements AsyncDisposable {
  readonly root: string;
  readonly gitDir: string;
  readonly #index: string;
  readonly #exclude: string;
  /** Files whose content is looked at anew in the next refresh, however unchanged they seem. */
  #doubted: ReadonlySet<string> = new Set();

  private constructor(root: string, gitDir: string, exclude: string) {
    this.root = root;
    this.gitDir = gitDir;
    this.#exclude = exclude;
    this.#index = join(gitDir, `index-${process.pid}-${randomBytes(4).toString("hex")}`);
  }

  /**
   * Opens the shadow of a folder, made at first use. With `pin` the folder's repository stays the one that it has now,
   * because later a run that works in the folder might put another in its place.
   */
  static async open(dataDir: string, root: string, { pin = false } = {}): Promise<Shadow> {
    const gitDir = shadowDir(dataDir, root);
    const pinned = join(gitDir, "pinned");
    if (existsSync(pinned)) return Shadow.#opened(root, gitDir, await readFile(pinned, "utf8"));
    const repository = findRepository(root);
    const format = repository ? objectFormat(repository) : "sha1";
    if (!existsSync(join(gitDir, "HEAD"))) await makeRepository(gitDir, format);
    const exclude = repository ? join(repository.commonDir, "info", "exclude") : "/dev/null";
    await configureShadow({
      gitDir,
      repository,
      isSha256: format === "sha256",
      ownData: below(root, dataDir),
    });
    if (pin) await writeFile(pinned, exclude, { mode: 0o600 });
    return Shadow.#opened(root, gitDir, exclude);
  }

  static async #opened(root: string, gitDir: string, exclude: string): Promise<Shadow> {
    const shadow = new Shadow(root, gitDir, exclude);
    await shadow.#begin();
    return shadow;
  }

  /**
   * Takes in what changed since the last time, and lists every file, and what is left alone. Files that change while git
   * looks at them can make it give up, so it is asked again.
   */
  async refresh(objectDir?: string): Promise<ShadowFiles> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#refresh(objectDir);
      } catch (thrown) {
        this.#doubted = new Set();
        if (attempt === REFRESH_ATTEMPTS || thrown instanceof RangeError) throw thrown;
      }
    }
  }

  /** Names the files that may change without git seeing it. */
  doubt(files: ReadonlySet<string>): void {
    this.#doubted = files;
  }

  async #refresh(objectDir?: string): Promise<ShadowFiles> {
    const [found, ignored] = await Promise.all([
      this.#list("-o", "-m", "-d"),
      this.#list("-o", "-i", "--directory"),
    ]);
    const paths = [...new Set([...found.filter(isKeepable), ...this.#doubted])];
    if (paths.length > 0) {
      const { gone, files } = this.#sort(paths);
      const doubted = files.filter((path) => this.#doubted.has(path));
      await this.#update(["--force-remove"], [...gone, ...doubted]);
      await this.#update(["--add", "--remove", "--replace"], files, objectDir);
      await this.#publish();
    }
    const leftAlone = [...ignored, ...found.filter((path) => path.endsWith("/"))];
    return {
      files: await this.#entries(),
      leftAlone: new Set(leftAlone.map((path) => path.replace(/\/$/, ""))),
    };
  }

  async #list(...which: string[]): Promise<string[]> {
    const exclude = ["-c", `core.excludesFile=${this.#exclude}`];
    const { stdout } = await this.#git([...exclude, "ls-files", "-z", ...which, "--exclude-standard"]);
    return [...new Set(splitNul(stdout))];
  }

  /** Puts contents where changes are kept; gives their hashes. */
  async keepContents(
    entries: readonly ({ readonly oid: string | null } | null | undefined)[],
    blobs: BlobStore,
    durable: boolean,
  ): Promise<ReadonlyMap<string, string>> {
    const hashes = new Map<string, string>();
    const wanted = [...new Set(entries.flatMap((entry) => entry?.oid ?? []))];
    for (let first = 0; first < wanted.length; first += CONTENTS_AT_ONCE)
      await this.#contents(wanted.slice(first, first + CONTENTS_AT_ONCE), async (oid, content) => {
        hashes.set(oid, await blobs.put(content, durable));
      });
    return hashes;
  }

  async #contents(
    wanted: readonly string[],
    use: (oid: string, content: Buffer) => Promise<void>,
  ): Promise<void> {
    const { stdout } = await this.#git(["cat-file", "--batch"], { input: `${wanted.join("\n")}\n` });
    let at = 0;
    for (const oid of wanted) {
      const end = stdout.indexOf(0x0a, at);
      const [, type, size] = stdout.toString("utf8", at, end).split(" ");
      if (type !== "blob") throw new Error(`the shadow of ${this.root} lacks the content ${oid}`);
      const from = end + 1;
      at = from + Number(size) + 1;
      await use(oid, stdout.subarray(from, at - 1));
    }
  }

  /** The files of the last refresh as a tree, whose name comes back. */
  async writeTree(objectDir?: string): Promise<string> {
    const { stdout } = await this.#git(["write-tree"], { objectDir });
    return stdout.toString("utf8").trim();
  }

  /** A commit of a tree that nothing points to yet. */
  async commitTree(tree: string, parent: string, message: string, objectDir: string): Promise<string> {
    const { stdout } = await this.#git(["commit-tree", tree, "-p", parent, "-m", message], { objectDir });
    return stdout.toString("utf8").trim();
  }

  /** The files of a tree. */
  async readTree(tree: string): Promise<Map<string, ShadowEntry>> {
    const { stdout } = await this.#git(["ls-tree", "-r", "-z", "--full-tree", tree]);
    return entriesOf(stdout, /^(\d{6}) blob ([0-9a-f]+)\t([\s\S]+)$/);
  }

  /**
   * Writes the files of the last refresh to another folder, byte for byte. Contents that only the project's repository
   * had may have been pruned there since they were taken in; then all files are taken in anew.
   */
  async copyTo(folder: string): Promise<void> {
    const copy = () => this.#git(["checkout-index", "-a", "-f", `--prefix=${folder}/`]);
    await copy().catch(async () => {
      await this.close();
      await this.refresh();
      await copy();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Lets go of what belongs to this process alone. */
  async close(): Promise<void> {
    await Promise.all([rm(this.#index, { force: true }), rm(`${this.#index}.lock`, { force: true })]);
  }

  #git(args: readonly string[], more: { input?: string; objectDir?: string | undefined } = {}) {
    const { input, objectDir } = more;
    return runShadowGit(args, {
      cwd: this.root,
      env: {
        GIT_DIR: this.gitDir,
        GIT_WORK_TREE: this.root,
        GIT_INDEX_FILE: this.#index,
        ...(objectDir && { GIT_OBJECT_DIRECTORY: objectDir }),
      },
      input,
    });
  }

  async #entries(): Promise<Map<string, ShadowEntry>> {
    const { stdout } = await this.#git(["ls-files", "-z", "-s"]);
    return entriesOf(stdout, /^(\d{6}) ([0-9a-f]+) 0\t([\s\S]+)$/);
  }

  /** Each process works on an index of its own, so that none waits for or disturbs another. */
  async #begin(): Promise<void> {
    for (const name of readdirSync(this.gitDir)) {
      const pid = /^index-(\d+)-/.exec(name)?.[1];
      if (pid && Number(pid) !== process.pid && !isAlive(Number(pid)))
        await rm(join(this.gitDir, name), { force: true });
    }
    const shared = join(this.gitDir, "index");
    if (existsSync(shared)) await copyFile(shared, this.#index);
  }

  async #publish(): Promise<void> {
    const copy = `${this.#index}.copy`;
    await copyFile(this.#index, copy);
    await rename(copy, join(this.gitDir, "index"));
  }

  async #update(flags: readonly string[], paths: readonly string[], objectDir?: string): Promise<void> {
    if (paths.length === 0) return;
    const input = paths.map((path) => `${path}\0`).join("");
    await this.#git(["update-index", ...flags, "-z", "--stdin"], { input, objectDir });
  }

  /** What is gone, or has become a folder, must be taken out before something else can take its place. */
  #sort(paths: readonly string[]): { gone: string[]; files: string[] } {
    if (paths.length > MAX_FILES)
      throw new RangeError(`the project has more than ${MAX_FILES} files that .gitignore does not name`);
    const sorted = { gone: [] as string[], files: [] as string[] };
    let bytes = 0;
    for (const path of paths) {
      const stats = statOf(join(this.root, path));
      bytes += stats?.size ?? 0;
      (stats && !stats.isDirectory() ? sorted.files : sorted.gone).push(path);
    }
    if (bytes > MAX_NEW_BYTES)
      throw new RangeError(
        `the project has ${Math.round(bytes / 1024 / 1024)} MB of files that .gitignore does not name`,
      );
    return sorted;
  }
}

/** The path of a folder inside another, with forward slashes; null if it is not inside. */
function below(root: string, folder: string): string | null {
  const inside = relative(root, folder);
  return inside === "" || inside.startsWith("..") ? null : inside.split(sep).join("/");
}

/** Where the shadow of a folder is. */
export function shadowDir(dataDir: string, root: string): string {
  return join(dataDir, "shadow", createHash("sha256").update(root).digest("hex").slice(0, 24));
}

/** Nested repositories end with a slash; git refuses names of its own folder; names that are no UTF-8 cannot be told apart. */
function isKeepable(path: string): boolean {
  return !path.endsWith("/") && !/(?:^|\/)\.git(?:\/|$)/i.test(path) && !path.includes("\uFFFD");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
