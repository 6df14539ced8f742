import { readFileSync } from "node:fs";

/** Whether this process may read from its terminal: one in the background would be stopped by trying. */
export function inForeground(): boolean {
  if (process.platform !== "linux") return true;
  try {
    // Behind the name, which may hold anything: state, parent, group, session, terminal, group in the foreground.
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[2] === fields[5];
  } catch {
    return true;
  }
}
