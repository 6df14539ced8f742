/** The same object under our keys; a key under its own name goes before. */
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

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

/** The same value under our keys at every level where a schema has them; the value itself if nothing had to be changed. */
export function translateKeys(
  { properties, items }: Schema,
  value: unknown,
  words: Readonly<Record<string, string>>,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const translated = items ? value.map((item) => translateKeys(items, item, words)) : value;
    return translated.some((item, index) => item !== value[index]) ? translated : value;
  }
  if (!properties) return value;
  const isOurs = (key: string | undefined) => key !== undefined && Object.hasOwn(properties, key);
  const used = Object.keys(value).filter(
    (word) => Object.hasOwn(words, word) && isOurs(words[word]) && !isOurs(word),
  );
  const known = Object.fromEntries(used.map((word) => [word, words[word] ?? word]));
  const renamed = renameKeys(value as Record<string, unknown>, known);
  let translated: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(renamed)) {
    const property = typeof item === "object" && isOurs(key) ? properties[key] : undefined;
    const told = property ? translateKeys(property, item, words) : item;
    if (told === item) continue;
    translated ??= { ...renamed };
    translated[key] = told;
  }
  return translated ?? renamed;
}

/** Every key of a value, at any depth. */
export function gatherKeys(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...new Set([...keys, ...Object.values(value).flatMap(gatherKeys)])];
}

/**
 * What a caller calls one of our keys: the word it used, or the one that goes with another that it used, as `new_str` does
 * with `old_str`; else our own.
 */
export function nameAsWritten(
  key: string,
  words: Readonly<Record<string, string>>,
  used: readonly string[],
): string {
  if (used.includes(key)) return key;
  const names = Object.keys(words).filter((word) => words[word] === key);
  const endings = used.flatMap((word) => (Object.hasOwn(words, word) ? (/_[a-z]+$/.exec(word) ?? []) : []));
  const fitting = names.find((word) => endings.some((ending) => word.endsWith(ending)));
  return names.find((word) => used.includes(word)) ?? fitting ?? key;
}

/** A time-out that may be meant in milliseconds, as seconds: nobody waits a thousand seconds or a millisecond. */
export function toSeconds(value: unknown): unknown {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && number >= 1_000 ? number / 1_000 : value;
}

/** Words as a shell would split them: at blanks outside of quotes. */
export function splitOptionWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
