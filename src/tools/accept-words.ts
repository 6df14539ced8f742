import type { AcceptInput } from "./tool.ts";

/** An input whose keys may go by other names, such as `{file_path: "path"}`; a key under its own name goes before. */
export function acceptWords(words: Readonly<Record<string, string>>): AcceptInput {
  return (input) => renameKeys(input, words);
}

/** The same object under our keys. */
export function renameKeys(
  input: Readonly<Record<string, unknown>>,
  words: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (!Object.keys(input).some((key) => Object.hasOwn(words, key))) return input;
  const renamed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(words, key) ? (words[key] ?? key) : key;
    if (name === key || !Object.hasOwn(input, name)) renamed[name] = value;
  }
  return renamed;
}

/** A time-out that may be meant in milliseconds, as seconds: nobody waits a thousand seconds or a millisecond. */
export function toSeconds(value: unknown): unknown {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && number >= 1_000 ? number / 1_000 : value;
}

/** Words as a shell would split them: at blanks outside of quotes. */
export function splitWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
