import { randomBytes } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Atomically replaces a file by one rename, so that nobody ever sees half of it. Without a `mode` it keeps that of the existing file. */
export async function replaceFile(file: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const kept = mode ?? (await stat(file)).mode & 0o777;
  const fresh = join(dirname(file), `.retinue-${randomBytes(6).toString("hex")}.tmp`);
  const handle = await open(fresh, "wx", kept);
  try {
    await handle.writeFile(content);
    await handle.chmod(kept);
    await handle.sync();
    await handle.close();
    await rename(fresh, file);
  } catch (thrown) {
    await handle.close().catch(() => {});
    await rm(fresh, { force: true });
    throw thrown;
  }
}
