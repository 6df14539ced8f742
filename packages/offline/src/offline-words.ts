/** What the offline model can be asked for by. */
export const OFFLINE_NAMES: readonly string[] = ["offline", "offline/rules"];

/** The last line of everything the offline model answers. */
export const OFFLINE_LABEL = "(Answered by Retinue's offline model: rules, no weights.)";

/** How a person gets a model. */
const HOW_TO_ADD_A_MODEL =
  "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or RETINUE_BASE_URL and RETINUE_MODEL for a server of your own, or start Ollama";

/** What a person is told once when the offline model steps in because nothing is configured. */
export const OFFLINE_NOTICE = `no model is configured: using the offline model (rules, no weights); to add one, ${HOW_TO_ADD_A_MODEL}`;

/** Says what the rules cannot do, what they can, and how to add a model. */
export function needsModel(what: string, can: string): string {
  return `the offline model has rules, not weights: it cannot ${what}. It can ${can}. To add a model, ${HOW_TO_ADD_A_MODEL}.`;
}

/** A text without the label, to be passed on. */
export function withoutLabel(text: string): string {
  return text.replaceAll(OFFLINE_LABEL, "").trimEnd();
}

/** A report without the headings by which the result that quotes it would be read. */
export function stripHeadings(text: string): string {
  return text
    .replace(/^\s*\*\*Summary\*\*:?\s*/i, "")
    .replace(/^\*\*(?:Details|Warnings?|Suggestions?)\*\*:?\s*$/gim, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** A text, cut with an ellipsis if it is longer than the limit. */
export function cutShort(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** A text on one line, cut if it is longer than the limit. */
export function shortenLine(text: string, limit: number): string {
  return cutShort(text.replace(/\s+/g, " ").trim(), limit);
}

/** A text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
