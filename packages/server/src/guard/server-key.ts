import { randomBytes } from "node:crypto";
import { link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { closeFolder, readPrivate } from "@retinue/core/files/private-file";
import { storeError } from "@retinue/core/record/sqlite/sqlite-failure";
import { RetinueError } from "@retinue/core/schema/error";

const KEY_BYTES = 32;

/** Where servers keep what only their user may read. */
export function serverFolder(dataDir: string): string {
  return join(dataDir, "server");
}

/**
 * The secret that cookies and bearer keys are made with; made if there is none. It stays, so that browsers stay known
 * when the server starts again. A file that others can read is refused: a reader could do everything.
 */
export async function loadServerKey(dataDir: string): Promise<Buffer> {
  const folder = serverFolder(dataDir);
  const path = join(folder, "key");
  const text = await ownFolder(folder)
    .then(async () => (await readPrivate(path, "read")) ?? (await makeKey(path)))
    .catch((thrown) => {
      throw storeError(`the folder ${folder} cannot be used`, thrown);
    });
  const key = Buffer.from(text.trim(), "base64url");
  if (key.length === KEY_BYTES) return key;
  throw new RetinueError(
    "config",
    `${path} holds no key`,
    "remove it: a new one is made, and browsers need a new link",
  );
}

async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await closeFolder(folder);
}

/** Of two that make it at once, both get the key of the first. */
async function makeKey(path: string): Promise<string> {
  const text = randomBytes(KEY_BYTES).toString("base64url");
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(temporary, path);
    return text;
  } catch (thrown) {
    const kept = await readPrivate(path, "read");
    if (kept === null) throw thrown;
    return kept;
  } finally {
    await rm(temporary, { force: true });
  }
}
