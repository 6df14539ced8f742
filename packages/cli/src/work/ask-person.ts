import { createInterface } from "node:readline/promises";
import { type Clock, delay, systemClock } from "@retinue/core/budget/clock";
import { AnsweredElsewhere, type Approver, STOPPED } from "@retinue/core/host/approvals";
import type { ApprovalAnswer, ApprovalRequest } from "@retinue/core/run/ports";
import { cutToLine } from "@retinue/core/text/plain-text";
import { isYes } from "../ask.ts";
import { createKeyboard, type KeyInput } from "../progress/stage.ts";
import { isTerminalGone, type Terminal } from "../terminal.ts";
import { describeAskedCall, PERSON_HERE, sayAsk, sayRisk } from "./waiting.ts";

const MAX_INPUT = 4_000;
/** Time for a terminal to hand over what it kept. */
const KEPT_MS = 50;
/** After a question that went away under the person's hands: time to notice, so that its answer is not the next one's. */
const NOTICED_MS = 1_000;

/** The part of a terminal that a question needs. */
type Desk = Pick<Terminal, "tell" | "prompt"> & {
  stdin: NodeJS.ReadableStream & KeyInput & { readableEnded?: boolean; fd?: number };
};

/** Asks at the terminal, one question at a time however many agents ask; anything but a yes is a no. */
export function createAsker(terminal: Desk, clock: Clock = systemClock): Approver {
  let before: Promise<unknown> = Promise.resolve();
  let quietMs = KEPT_MS;
  return (request, signal) => {
    const asking = before.then(async () => {
      if (terminal.stdin.isTTY && !signal.aborted)
        await dropTypedAhead(terminal, delay(clock, quietMs, signal));
      const answer = await ask(request, signal, terminal);
      quietMs = signal.aborted ? NOTICED_MS : KEPT_MS;
      return answer;
    });
    before = asking.catch(() => {});
    return asking;
  };
}

async function ask(
  request: ApprovalRequest,
  signal: AbortSignal,
  { stdin, tell, prompt }: Desk,
): Promise<ApprovalAnswer> {
  if (signal.aborted) return STOPPED;
  // Ctrl-D at an earlier question ended the input for good: nothing could ever answer this one.
  if (stdin.readableEnded && !isTerminalGone(stdin)) return { allowed: false, by: "nobody" };
  tell(`⏸ ${sayAsk(request.chain, request.tool, request.reason)}`);
  tell(`   ${sayRisk(request.risk, request.tainted)}`);
  for (const line of showCall(request)) tell(`   ${line}`);
  prompt(`   allow ${cutToLine(request.tool, 80)} for ${cutToLine(request.chain.at(-1) ?? "?", 80)}? [y/N] `);
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    const answer = await nextLine(lines, stdin, signal);
    const { reason } = signal;
    if (reason instanceof AnsweredElsewhere) tell(`(answered elsewhere: ${cutToLine(reason.message, 200)})`);
    return { allowed: isYes(answer), by: PERSON_HERE };
  } finally {
    lines.close();
    stdin.pause();
  }
}

/** What was typed before the question was seen, be it whole lines or half a line: the terminal kept it, and it would answer. */
async function dropTypedAhead({ stdin }: Desk, moment: Promise<void>): Promise<void> {
  const keyboard = createKeyboard(stdin, (signal) => {
    keyboard.release();
    process.kill(signal === "SIGTSTP" ? 0 : process.pid, signal);
  });
  keyboard.hold();
  await moment;
  keyboard.release();
}

/**
 * The next line; an ended input, a stopped run or an answer from elsewhere is an empty one. A terminal that is gone answers
 * nothing: the signal that follows leaves the question open for later.
 */
function nextLine(
  lines: ReturnType<typeof createInterface>,
  stdin: Desk["stdin"],
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => !isTerminalGone(stdin) && resolve(""));
    signal.addEventListener("abort", () => resolve(""), { once: true });
  });
}

/** What is approved. The tool's own words are never cut; a very long input is, and says so. */
function showCall(request: ApprovalRequest): string[] {
  const text = describeAskedCall(request);
  const isCut = request.presented === undefined && text.length > MAX_INPUT;
  return (isCut ? `${text.slice(0, MAX_INPUT)}\n… (${text.length} characters in all)` : text).split("\n");
}
