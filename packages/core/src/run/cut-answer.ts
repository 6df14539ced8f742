import type { BailoutReason } from "../schema/result.ts";
import { showNumber } from "../show/measures.ts";
import { loopPrompt } from "./load-prompt.ts";
import type { Reply } from "./model/reply.ts";
import type { Ending } from "./outcome.ts";
import type { Run } from "./run.ts";

/** How much of the end a model is shown that goes on. */
const SHOWN_CHARS = 200;
/** A model that begins by repeating so much of what it wrote, and not merely a line or a row of numbers, means the same words. */
const LEAST_REPEATED = 20;
const LEAST_WORDS = 3;
const MOST_REPEATED = 400;

/** The parts of an answer that was cut, as one text. */
export function joinAnswer(parts: readonly string[]): string {
  return parts.reduce((text, part) => text + part.slice(countRepeated(text, part)), "");
}

/** Characters at the beginning of a part that the text before ends with. */
function countRepeated(text: string, part: string): number {
  for (let length = Math.min(MOST_REPEATED, text.length, part.length); length >= LEAST_REPEATED; length--)
    if (text.endsWith(part.slice(0, length)))
      return countWords(part.slice(0, length)) < LEAST_WORDS ? 0 : length;
  return 0;
}

function countWords(text: string): number {
  return new Set(text.match(/\p{L}+/gu)).size;
}

/** Keeps what a model wrote before it was cut, and asks it to go on there. */
export function askToGoOn(run: Run, parts: readonly string[], { maxOutputTokens }: Reply): void {
  run.cutAnswer = parts;
  const end = joinAnswer(parts)
    .slice(-SHOWN_CHARS)
    .replace(/^[\uDC00-\uDFFF]/, "");
  run.pushUser(loopPrompt("cut-answer", { limit: nameLimit(maxOutputTokens), end }));
}

/** How a run ends whose answer was cut and that cannot go on: with what there is of it, and never as a success. */
export function endCut(run: Run, why: string, bailout?: BailoutReason): Ending {
  run.warnings.push(`the answer was cut at the output limit and is not complete: ${why}`);
  return {
    status: "completed",
    text: joinAnswer(run.cutAnswer),
    partial: true,
    ...(bailout && { bailout }),
  };
}

/** The limit as a model is told; records of earlier versions do not know it. */
export function nameLimit(maxOutputTokens: number | undefined): string {
  const many = maxOutputTokens === undefined ? "" : `${showNumber(maxOutputTokens)} `;
  return `its limit of ${many}output tokens`;
}
