import { measureWidth } from "../text-layout.ts";
import type { Editor } from "./editor.ts";
import { cutSpans, makeSpan, type StyledSpan } from "./spans.ts";

/** What could be typed at the cursor. `from` is where the word begins that a choice replaces. */
export type Completion = {
  readonly kind: "command" | "agent" | "file";
  readonly from: number;
  readonly word: string;
  readonly items: readonly { readonly value: string; readonly about: string }[];
  /** The chosen one. */
  readonly at: number;
};

/** Most choices that are kept. */
const MOST_CHOICES = 50;

/** What there is to complete at the cursor, from what is known at once; files are looked up and come later. */
export function findCompletion(
  { text, cursor }: Editor,
  known: { agents: readonly string[]; files: readonly string[] },
): Completion | null {
  const before = text.slice(0, cursor);
  const command = /^\/([a-z]*)$/.exec(before)?.[1];
  if (command !== undefined) return offer("command", command, cursor, listCommands(command));
  const agent = /^\/spawn\s+([\w-]*)$/.exec(before)?.[1];
  if (agent !== undefined) return offer("agent", agent, cursor, rankNames(known.agents, agent));
  const mention = findMention(before);
  return mention === undefined ? null : offer("file", mention, cursor, rankNames(known.files, mention));
}

/** The beginning of a file's name after an `@` that begins a word. */
export function findMention(before: string): string | undefined {
  return /(?:^|\s)@([^\s@]*)$/.exec(before)?.[1];
}

function offer(
  kind: Completion["kind"],
  word: string,
  cursor: number,
  items: Completion["items"],
): Completion | null {
  return items.length === 0 ? null : { kind, from: cursor - word.length, word, items, at: 0 };
}

function listCommands(word: string): Completion["items"] {
  return SLASH_COMMANDS.filter(({ name }) => name.startsWith(word)).map(({ name, takes, does }) => ({
    value: name,
    about: takes === "" ? does : `${takes} · ${does}`,
  }));
}

/** Names that fit: first those whose last part begins so, then those that contain it, then its letters in order. */
function rankNames(names: readonly string[], word: string): Completion["items"] {
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
  const fitting = classes.flat().slice(0, MOST_CHOICES);
  return fitting.map((value) => ({ value, about: "" }));
}

function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** A command that is typed with a slash. */
type SlashCommand = { readonly name: string; readonly takes: string; readonly does: string };

/** Every slash command, in the order in which help lists them. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "agents", takes: "", does: "list the agents" },
  {
    name: "spawn",
    takes: "AGENT task",
    does: "give an agent a task of its own; its report goes into the conversation",
  },
  { name: "runs", takes: "", does: "list what runs and ran here" },
  { name: "plan", takes: "goal | run [ID]", does: "make a plan, or carry out the last one" },
  { name: "cost", takes: "", does: "tokens and money so far" },
  { name: "model", takes: "[NAME]", does: "show or change the model" },
  { name: "permissions", takes: "[MODE]", does: "show or change how asks are answered" },
  { name: "approve", takes: "[ID [no]]", does: "what waits for an answer, and answering it" },
  { name: "stop", takes: "[RUN]", does: "stop a run, or everything" },
  { name: "resume", takes: "[SESSION]", does: "go on with an earlier session" },
  { name: "export", takes: "[FILE]", does: "save this session as a file" },
  { name: "doctor", takes: "", does: "check the set-up" },
  { name: "help", takes: "", does: "commands and keys" },
  { name: "clear", takes: "", does: "begin a new session" },
  { name: "quit", takes: "", does: "leave" },
];

/** A line that is a slash command, taken apart; undefined for what is no command, such as a path. */
export function parseSlash(text: string): { name: string; rest: string } | undefined {
  const found = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found?.[1] === undefined ? undefined : { name: found[1], rest: (found[2] ?? "").trim() };
}

/** The choices of a completion, at most `height` of them around the chosen one. */
export function drawCompletion(
  { items, at, kind }: Completion,
  width: number,
  height: number,
): StyledSpan[][] {
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), items.length - height));
  const sign = kind === "command" ? "/" : kind === "file" ? "@" : "";
  const shown = items.slice(first, first + height);
  const widest = Math.min(40, Math.max(...shown.map(({ value }) => measureWidth(value))));
  return shown.map(({ value, about }, index) => {
    const isChosen = first + index === at;
    const gap = " ".repeat(Math.max(2, widest - measureWidth(value) + 2));
    return cutSpans(
      [
        makeSpan(isChosen ? "› " : "  ", "accent"),
        makeSpan(`${sign}${value}`, isChosen ? "bold" : "dim"),
        makeSpan(about === "" ? "" : `${gap}${about}`, "dim"),
      ],
      width,
    );
  });
}
