import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { tryTo } from "@retinue/core/schema/error";

const STEP_MS = 2;
const MOST_MS = 5_000;

/** The first process in a sandbox, which is gone only after all the others; with its start, because ids are used again. */
export type FirstProcess = { readonly pid: number; readonly start: string };

/** What bubblewrap has said so far of the sandbox; nothing if it has not made one, or if that is gone. */
export function readFirstProcess(info: string): FirstProcess | undefined {
  const said = tryTo((): { "child-pid"?: unknown } | null => JSON.parse(info));
  const pid = said?.["child-pid"];
  const start = typeof pid === "number" && findStart(pid);
  return typeof pid === "number" && start ? { pid, start } : undefined;
}

/** Ends everything in a sandbox, also while bubblewrap is still setting it up and it would not yet end with bubblewrap. */
export function killInside(first: FirstProcess | undefined): void {
  // It may end by itself at the same moment.
  if (first && runs(first)) tryTo(() => process.kill(first.pid, "SIGKILL"));
}

/**
 * Waits until nothing in a sandbox runs any more. Bubblewrap itself ends as soon as the command has, while the kernel
 * is still ending what the command left behind. Gives a note if that never came.
 */
export async function waitForSandboxEnd(first: FirstProcess | undefined): Promise<string[]> {
  if (!first) return [];
  for (let waited = 0; waited < MOST_MS; waited += STEP_MS) {
    if (!runs(first)) return [];
    await wait(STEP_MS);
  }
  return ["something that it started has not ended yet"];
}

/** A process that ended and that nobody asked after yet is still listed, as a zombie. */
function runs({ pid, start }: FirstProcess): boolean {
  const now = readProcess(pid);
  return now?.start === start && !/^[ZX]/.test(now.state);
}

/** When a process began, by which it is told from a later one with the same id; undefined if it has ended. */
export function findStart(pid: number): string | undefined {
  return readProcess(pid)?.start;
}

function readProcess(pid: number): { state: string; start: string } | undefined {
  const stat = tryTo(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === undefined) return undefined;
  // The second field is a name in brackets that may hold blanks and brackets itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", start: fields[19] ?? "" };
}
