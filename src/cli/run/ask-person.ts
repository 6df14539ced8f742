import { createInterface } from "node:readline/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { ApprovalAnswer, ApprovalRequest } from "../../loop/ports.ts";
import type { Approver } from "../../runtime/approvals.ts";
import { exactText, plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";

const MAX_INPUT = 4_000;
/** Time for a terminal to hand over the lines that it kept. */
const KEPT_MS = 50;

/** The part of a terminal that a question needs. */
type Desk = Pick<Terminal, "tell" | "prompt"> & {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean; readableEnded?: boolean };
};

/** Asks at the terminal, one question at a time however many agents ask; anything but a yes is a no. */
export function createAsker(terminal: Desk): Approver {
  let before: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const asking = before.then(() => ask(request, signal, terminal));
    before = asking.catch(() => {});
    return asking;
  };
}

async function ask(
  request: ApprovalRequest,
  signal: AbortSignal,
  { stdin, tell, prompt }: Desk,
): Promise<ApprovalAnswer> {
  if (stdin.isTTY) await dropTypedAhead(stdin);
  if (signal.aborted) return { allowed: false, by: "the stop of the run" };
  // Ctrl-D at an earlier question ended the input for good: nothing could ever answer this one.
  if (stdin.readableEnded) return { allowed: false, by: "nobody" };
  const chain = plainLine(request.chain.join(" > "), 300);
  tell(`⏸ ${chain} asks to use ${plainLine(request.tool, 80)}: ${plainLine(request.reason, 300)}`);
  tell(`   risk: ${request.risk}${request.tainted ? ", and untrusted text has entered this run" : ""}`);
  for (const line of showCall(request)) tell(`   ${line}`);
  prompt(`   allow ${plainLine(request.tool, 80)} for ${plainLine(request.chain.at(-1) ?? "?", 80)}? [y/N] `);
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    const answer = await nextLine(lines, signal);
    const allowed = /^\s*y(?:es)?\s*$/i.test(answer);
    return { allowed, by: "the person at the terminal" };
  } finally {
    lines.close();
    stdin.pause();
  }
}

/** Lines that were typed before the question was seen: the terminal kept them, and they would answer it. */
async function dropTypedAhead(stdin: NodeJS.ReadableStream): Promise<void> {
  const drop = () => {};
  stdin.on("data", drop).resume();
  await pause(KEPT_MS);
  stdin.off("data", drop).pause();
}

/** The next line; an ended input or a stopped run is an empty one. */
function nextLine(lines: ReturnType<typeof createInterface>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(""));
    signal.addEventListener("abort", () => resolve(""), { once: true });
  });
}

/**
 * What is approved: the call in the tool's words, which are never cut, or else the exact input, of which only a very long
 * one is cut and says so.
 */
function showCall({ presented, input }: ApprovalRequest): string[] {
  if (presented !== undefined) return exactText(presented).split("\n");
  const text = exactText(JSON.stringify(input, null, 2) ?? "");
  const cut =
    text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT)}\n… (${text.length} characters in all)` : text;
  return cut.split("\n");
}
