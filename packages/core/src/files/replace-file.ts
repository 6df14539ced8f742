import { randomBytes } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Gives a file that is there another content by one rename, its mode kept, so that nobody ever sees half a file. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const { mode } = await stat(file);
  const fresh = join(dirname(file), `.retinue-fix-${randomBytes(6).toString("hex")}`);
  const handle = await open(fresh, "wx", mode & 0o777);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode & 0o777);
    await handle.sync();
    await handle.close();
    await rename(fresh, file);
  } catch (thrown) {
    await handle.close().catch(() => {});
    await rm(fresh, { force: true });
    throw thrown;
  }
}
