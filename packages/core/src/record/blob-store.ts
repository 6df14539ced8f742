import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RetinueError } from "../schema/error.ts";

/** Contents of files, each kept once under its hash, readable by their owner only. */
export type BlobStore = {
  /** Keeps a content and gives its hash. With `durable` it survives a power cut once the promise resolves. */
  put(content: Uint8Array, durable: boolean): Promise<string>;
  /** Throws for a content that is not there or was damaged. */
  get(hash: string): Promise<Buffer>;
};

/** The hash by which a content is kept. */
export function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

const HASH = /^[0-9a-f]{64}$/;

/** Creates the store in a folder, which is made at the first content. */
export function createBlobStore(folder: string): BlobStore {
  const placeOf = (hash: string) => {
    if (!HASH.test(hash)) throw new RangeError(`'${hash}' is no hash of a content`);
    return { dir: join(folder, hash.slice(0, 2)), file: join(folder, hash.slice(0, 2), hash.slice(2)) };
  };
  return {
    async put(content, durable) {
      const hash = hashOf(content);
      const { dir, file } = placeOf(hash);
      const size = await stat(file).then(
        (stats) => stats.size,
        () => -1,
      );
      if (size !== content.length) {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await writeWhole(dir, file, content);
      } else {
        // Who looks for contents that nothing needs leaves young ones alone.
        const now = new Date();
        await utimes(file, now, now).catch(() => {});
      }
      if (durable) await Promise.all([syncPath(file), syncPath(dir)]);
      return hash;
    },
    async get(hash) {
      const { file } = placeOf(hash);
      const content = await readFile(file).catch((thrown) => {
        throw new RetinueError("store", `a kept content is missing: ${messageOf(thrown)}`);
      });
      if (hashOf(content) === hash) return content;
      throw new RetinueError("store", `the kept content ${file} is damaged`, "restore it from a backup");
    },
  };
}

/** A crash leaves the whole content or none under its name. */
async function writeWhole(dir: string, file: string, content: Uint8Array): Promise<void> {
  const temporary = join(dir, `.${randomBytes(8).toString("hex")}.tmp`);
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(content);
    await handle.close();
    await rename(temporary, file);
  } catch (thrown) {
    await handle.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw thrown;
  }
}

async function syncPath(path: string): Promise<void> {
  const handle: FileHandle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
