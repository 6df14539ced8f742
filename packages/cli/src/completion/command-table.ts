import type { Command, Option } from "commander";
import { listKnownKeys } from "../config/setting-key.ts";

/** What can stand somewhere: one of some words, names that are asked for when they are needed, or paths. */
export type CompletionValues =
  | { kind: "words"; words: readonly string[] }
  | { kind: "names"; of: NameKind }
  | { kind: "files" }
  | { kind: "folders" }
  | { kind: "anything" };

/** Names that only the record or the project knows. */
export const NAME_KINDS = ["agents", "sessions", "plans", "accounts", "approvals"] as const;

/** One kind of such names. */
export type NameKind = (typeof NAME_KINDS)[number];

/** A flag in all its spellings; `value` if it takes one. */
export type FlagEntry = { spellings: readonly string[]; about: string; value?: CompletionValues };

/** One command with everything that can follow it. */
export type CommandEntry = {
  /** Its words below `retinue`; empty for the program itself. */
  path: string;
  commands: readonly { name: string; about: string }[];
  flags: readonly FlagEntry[];
  /** By position; the last one goes on if `isVariadic`. */
  values: readonly CompletionValues[];
  isVariadic: boolean;
};

const BY_FLAG: Readonly<Record<string, CompletionValues>> = {
  "--cwd": { kind: "folders" },
  "--out": { kind: "folders" },
  "--output": { kind: "files" },
  "--file": { kind: "files" },
  "--client-file": { kind: "files" },
  "--ca-file": { kind: "files" },
  "--json-schema": { kind: "files" },
  "--agent": { kind: "names", of: "agents" },
  "--parent": { kind: "names", of: "agents" },
  "--subagents": { kind: "names", of: "agents" },
  "--session": { kind: "names", of: "sessions" },
  "--resume": { kind: "names", of: "sessions" },
};

/** By the command's words and the argument's name; the first that fits. */
const BY_ARGUMENT: readonly (readonly [pattern: RegExp, values: CompletionValues])[] = [
  [/^agents (?:show|explain) /, { kind: "names", of: "agents" }],
  [/^spawn agent$/, { kind: "names", of: "agents" }],
  [/^agents (?:check|import) /, { kind: "files" }],
  [/^plan (?:show|edit|approve|run) id$/, { kind: "names", of: "plans" }],
  [/^accounts .*\bid$/, { kind: "names", of: "accounts" }],
  [/^accounts (?:import|export) /, { kind: "files" }],
  [/^approve /, { kind: "names", of: "approvals" }],
  [/ (?:id|run|session)$/, { kind: "names", of: "sessions" }],
];

/** Every command of a program, as completion needs to know it. */
export function listCommandEntries(program: Command): CommandEntry[] {
  return [describeCommand(program, ""), ...below(program, "")];
}

function below(command: Command, path: string): CommandEntry[] {
  return visible(command).flatMap((each) => {
    const inner = `${path} ${each.name()}`.trim();
    return [describeCommand(each, inner), ...below(each, inner)];
  });
}

function visible(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function describeCommand(command: Command, path: string): CommandEntry {
  const args = command.registeredArguments;
  return {
    path,
    commands: visible(command).map((each) => ({
      name: each.name(),
      about: shorten(each.summary() || each.description()),
    })),
    flags: command.createHelp().visibleOptions(command).map(describeFlag),
    values: args.map((each) => findValues(path, each.name(), each.argChoices)),
    isVariadic: args.at(-1)?.variadic === true,
  };
}

function describeFlag(option: Option): FlagEntry {
  const { short, long, description, argChoices, required, optional } = option;
  const spellings = [short, long].filter((each) => each !== undefined);
  const about = shorten(description);
  if (!required && !optional) return { spellings, about };
  const value: CompletionValues = argChoices
    ? { kind: "words", words: argChoices }
    : (BY_FLAG[long ?? ""] ?? { kind: "anything" });
  return { spellings, about, value };
}

function findValues(path: string, name: string, choices: readonly string[] | undefined): CompletionValues {
  if (choices) return { kind: "words", words: choices };
  if (path.startsWith("config ") && name === "key") return { kind: "words", words: settingKeys() };
  return BY_ARGUMENT.find(([pattern]) => pattern.test(`${path} ${name}`))?.[1] ?? { kind: "anything" };
}

/** Keys whose every part is known beforehand. */
function settingKeys(): string[] {
  return listKnownKeys()
    .map(({ key }) => key)
    .filter((key) => /^[A-Za-z.]+$/.test(key) && !key.includes("NAME"));
}

/** The first half of a description, which is what there is room for. */
function shorten(text: string): string {
  return (text.split(/[;:(]/, 1)[0] ?? "").trim();
}
