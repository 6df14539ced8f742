/** What the offline model can be asked for by. */
export const OFFLINE_NAMES: readonly string[] = ["offline", "offline/rules"];

/** The last line of everything the offline model answers. */
export const OFFLINE_LABEL = "(Answered by Retinue's offline model: rules, no weights.)";

/** How a person gets a model. */
const HOW_TO_ADD_A_MODEL =
  "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or RETINUE_BASE_URL and RETINUE_MODEL for a server of your own, or start Ollama";

/** What a person is told once when the offline model steps in because nothing is configured. */
export const OFFLINE_NOTICE = `no model is configured: using the offline model (rules, no weights); to add one, ${HOW_TO_ADD_A_MODEL}`;

/** Says that something is beyond rules, what is not, and how to get further. */
export function needsModel(what: string, can: string): string {
  return `the offline model has rules, not weights: it cannot ${what}. It can ${can}. To add a model, ${HOW_TO_ADD_A_MODEL}.`;
}

/** A text without the label, for those who pass it on. */
export function withoutLabel(text: string): string {
  return text.replaceAll(OFFLINE_LABEL, "").trimEnd();
}

/** A text with a mark at its end if it had to be cut. */
export function cutShort(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** A text on one line, and cut if it is longer than that. */
export function shortenLine(text: string, limit: number): string {
  return cutShort(text.replace(/\s+/g, " ").trim(), limit);
}

/** A text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
