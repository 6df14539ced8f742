import { readFile } from "node:fs/promises";

/**
 * Whether the terminal is this program's: a job in the background must neither draw on it nor touch its modes, or the
 * system stops it. Where that cannot be found out, it is not.
 */
export async function inForeground(): Promise<boolean> {
  if (process.platform === "win32") return true;
  try {
    return process.platform === "linux" ? await askKernel() : await askPs();
  } catch {
    return false;
  }
}

async function askKernel(): Promise<boolean> {
  const text = await readFile("/proc/self/stat", "utf8");
  // The second field is a name in brackets that may hold blanks and brackets itself.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, , group, , , foreground] = fields;
  return group === foreground;
}

async function askPs(): Promise<boolean> {
  const [{ execFile }, { promisify }] = await Promise.all([
    import("node:child_process"),
    import("node:util"),
  ]);
  const { stdout } = await promisify(execFile)("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)]);
  const [group, foreground] = stdout.trim().split(/\s+/);
  return group !== undefined && group === foreground;
}
