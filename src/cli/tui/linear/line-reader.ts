import type { Key } from "../state/keys.ts";
import { answerKeys } from "./describe.ts";

const NO_ANSWER = "that is no answer and was not sent: y for once, a for this run, or n and why not";
const GONE = "the question has gone, and that was not sent";
const TOO_EARLY = "the question is another one now, and that was not sent";
const BARE_ANSWER = /^\s*(?:y|yes|a|always|n|no)\s*$/i;
/** Time to notice that another question stands in the place of the one that was being answered. */
const NOTICED_MS = 1_000;

/** Makes keys of typed lines, and keeps an answer from being taken for one to a question that was not meant. */
export type LineReader = {
  /** A question was put to the person. */
  asked(nowMs: number): void;
  /** The keys of a line, and what is to be said if it counts for nothing. */
  read(line: string, now: { isAsked: boolean; nowMs: number }): { keys: readonly Key[]; fault?: string };
};

/** Creates it. */
export function createLineReader(): LineReader {
  let isOwed = false;
  let countsFromMs = 0;
  return {
    asked(nowMs) {
      // The one before went away without an answer from here, perhaps while it was being typed.
      if (isOwed) countsFromMs = nowMs + NOTICED_MS;
      isOwed = true;
    },
    read(line, { isAsked, nowMs }) {
      if (isAsked && nowMs < countsFromMs) return { keys: [], fault: TOO_EARLY };
      const isLate = !isAsked && isOwed && BARE_ANSWER.test(line);
      const keys = isLate ? [] : isAsked ? answerKeys(line) : typed(line);
      if (isAsked && keys.length === 0) return line.trim() === "" ? { keys } : { keys, fault: NO_ANSWER };
      isOwed = false;
      return isLate ? { keys, fault: GONE } : { keys };
    },
  };
}

/** A line as it is typed and sent; one that ends with a backslash goes on in the next. */
function typed(line: string): Key[] {
  return [...(line === "" ? [] : [{ name: "text", text: line } as const]), { name: "enter" } as const];
}
