import { createInterface } from "node:readline/promises";
import { RetinueError } from "../schema/error.ts";
import type { Terminal } from "./terminal.ts";

/** A person's yes to what a command is about to do; without a terminal only `--yes` is one. */
export async function confirm(
  what: string,
  { yes }: { yes?: boolean | undefined },
  terminal: Terminal,
): Promise<boolean> {
  if (yes) return true;
  if (!terminal.interactive)
    throw new RetinueError("usage", `${what} needs a yes`, "add --yes, or look first with --dry-run");
  return isYes(await askLine(`${what}? [y/N] `, terminal));
}

/** One line of what the person types; empty at the end of input. */
export async function askLine(question: string, terminal: Terminal): Promise<string> {
  terminal.prompt(question);
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  const answer = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(""));
  });
  lines.close();
  terminal.stdin.pause();
  return answer.trim();
}

/** Whether an answer is a yes. */
export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
