import type { Editor } from "./editor.ts";
import { SLASH_COMMANDS } from "./slash-commands.ts";

/** What could stand at the cursor. `from` is where the word begins that a choice replaces. */
export type Completion = {
  readonly kind: "command" | "agent" | "file";
  readonly from: number;
  readonly word: string;
  readonly items: readonly { readonly value: string; readonly about: string }[];
  /** The chosen one. */
  readonly at: number;
};

/** Most choices that are kept. */
export const MOST_CHOICES = 50;

/** What there is to complete at the cursor, from what is known at once; files are looked up and come later. */
export function findCompletion(
  { text, cursor }: Editor,
  known: { agents: readonly string[]; files: readonly string[] },
): Completion | null {
  const before = text.slice(0, cursor);
  const command = /^\/([a-z]*)$/.exec(before);
  if (command) return commands(command[1] ?? "");
  const agent = /^\/spawn\s+([\w-]*)$/.exec(before);
  if (agent) return named("agent", agent[1] ?? "", cursor, known.agents);
  const mention = mentionAt(before);
  if (mention !== undefined) return named("file", mention, cursor, known.files);
  return null;
}

/** The beginning of a file's name after an `@` that stands at the beginning of a word. */
export function mentionAt(before: string): string | undefined {
  return /(?:^|\s)@([^\s@]*)$/.exec(before)?.[1];
}

function commands(word: string): Completion | null {
  const items = SLASH_COMMANDS.filter(({ name }) => name.startsWith(word)).map(({ name, takes, does }) => ({
    value: name,
    about: takes === "" ? does : `${takes} · ${does}`,
  }));
  return items.length === 0 ? null : { kind: "command", from: 1, word, items, at: 0 };
}

function named(
  kind: "agent" | "file",
  word: string,
  cursor: number,
  names: readonly string[],
): Completion | null {
  const items = ranked(names, word).map((value) => ({ value, about: "" }));
  return items.length === 0 ? null : { kind, from: cursor - word.length, word, items, at: 0 };
}

/** Names that fit: first those whose last part begins so, then those that contain it, then its letters in order. */
export function ranked(names: readonly string[], word: string): string[] {
  const wanted = word.toLowerCase();
  const classes: [string[], string[], string[]] = [[], [], []];
  for (const name of names) {
    const lower = name.toLowerCase();
    const last = lower.slice(lower.lastIndexOf("/") + 1);
    if (lower.startsWith(wanted) || last.startsWith(wanted)) classes[0].push(name);
    else if (lower.includes(wanted)) classes[1].push(name);
    else if (hasInOrder(lower, wanted)) classes[2].push(name);
    if (classes[0].length >= MOST_CHOICES) break;
  }
  return classes.flat().slice(0, MOST_CHOICES);
}

function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
