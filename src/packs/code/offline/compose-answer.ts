import { withoutLabel } from "../../../models/offline/offline-words.ts";
import type { ChildResult } from "../../../models/offline/read-results.ts";

/** What came of one part of a request. */
export type Outcome = {
  text: string;
  /** Who did it, in words: an agent's name or a tool's. */
  by: string;
  ok: boolean;
  body: string;
  files: readonly string[];
};

const MAX_BODY_CHARS = 8_000;

/** The outcome of a part that a child did. */
export function outcomeOfChild(text: string, result: ChildResult): Outcome {
  const { agent: by, files } = result;
  if (!result.success && !result.partial)
    return { text, by, ok: false, body: result.error || result.summary || "it failed without a word", files };
  const body = reportBody(withoutLabel(result.details));
  return { text, by, ok: true, body: result.partial ? `(cut short by a limit)\n${body}` : body, files };
}

/** The answer to a request: what was done in the order it was asked, what was not, and what was assumed. */
export function composeAnswer(outcomes: readonly Outcome[], assumed: readonly string[]): string {
  const done = outcomes.filter(({ ok }) => ok);
  const open = outcomes.filter(({ ok }) => !ok);
  const files = [...new Set(outcomes.flatMap((outcome) => outcome.files))];
  const sections: string[] = [];
  if (outcomes.length > 1) sections.push(`${done.length} of ${outcomes.length} parts are done.`);
  if (open.length > 0)
    sections.push(...open.map(({ text, by, body }) => `Not done: ${quoted(text)} (${by}): ${body}`));
  for (const outcome of done) {
    const head = `**${outcomes.indexOf(outcome) + 1}. ${quoted(outcome.text)}** (${outcome.by})\n\n`;
    sections.push(`${outcomes.length > 1 ? head : ""}${shortened(outcome.body)}`);
  }
  if (files.length > 0) sections.push(`Files changed: ${files.join(", ")}`);
  if (assumed.length > 0) sections.push(`Assumed: ${assumed.join("; ")}.`);
  return sections.join("\n\n");
}

/** A report without the headings that a parent's own result would be read by. */
export function reportBody(text: string): string {
  return text
    .replace(/^\s*\*\*Summary\*\*:?\s*/i, "")
    .replace(/^\*\*(?:Details|Warnings?|Suggestions?)\*\*:?\s*$/gim, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function quoted(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return `“${line.length > 160 ? `${line.slice(0, 159)}…` : line}”`;
}

function shortened(text: string): string {
  if (text.length <= MAX_BODY_CHARS) return text;
  const kept = text.slice(0, MAX_BODY_CHARS);
  const fences = kept.match(/^\s*`{3,}/gm) ?? [];
  const close = fences.length % 2 === 1 ? `\n${fences.at(-1)?.trimEnd()}` : "";
  return `${kept}${close}\n… (${text.length - MAX_BODY_CHARS} more characters in the record)`;
}
