import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const STEP_MS = 2;
const MOST_MS = 5_000;

/**
 * Waits until nothing in a sandbox runs any more. Bubblewrap itself ends as soon as the command has, while the kernel
 * is still ending what the command left behind; the first process inside is gone only after all the others. Gives a
 * note if that never came.
 */
export async function sandboxEnd(info: string): Promise<string[]> {
  const pid = firstProcess(info);
  if (pid === undefined) return [];
  for (let waited = 0; waited < MOST_MS; waited += STEP_MS) {
    if (!runs(pid)) return [];
    await wait(STEP_MS);
  }
  return ["something that it started has not ended yet"];
}

/** What bubblewrap says of the sandbox; nothing if it was stopped before it had made one. */
function firstProcess(info: string): number | undefined {
  try {
    const said: { "child-pid"?: unknown } | null = JSON.parse(info);
    const pid = said?.["child-pid"];
    return typeof pid === "number" ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A process that ended and that nobody asked after yet is still listed, as a zombie. */
function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
