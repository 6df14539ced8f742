import type { Word } from "../../../permissions/patterns/shell-word.ts";

/** The words of a call that are no options; after `--` every word is one. */
export function readOperands(words: readonly Word[], valued?: RegExp): Word[] {
  const end = words.findIndex((word) => word.value === "--");
  const before = end < 0 ? words : words.slice(0, end);
  const named = before.filter(
    (word, index) => !/^-./.test(word.value) && !valued?.test(before[index - 1]?.value ?? ""),
  );
  return end < 0 ? named : [...named, ...words.slice(end + 1)];
}

/** Whether a call has an option that looks so; what stands after `--` is none. */
export function hasOption(words: readonly Word[], pattern: RegExp): boolean {
  const end = words.findIndex((word) => word.value === "--");
  return (end < 0 ? words : words.slice(0, end)).some(({ value }) => pattern.test(value));
}

/** A word that stands for itself. */
export function makePlainWord(value: string): Word {
  return { raw: value, value, dynamic: false, odd: false };
}

/** The name of a program, without its folder. */
export function nameProgram(program: string): string {
  return cutFolder(program)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** The last part of a path. */
export function cutFolder(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
