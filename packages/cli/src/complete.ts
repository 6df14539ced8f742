import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { loadAccounts } from "@retinue/assistant/accounts/accounts";
import { findPlaces } from "@retinue/core/settings/places";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Command, Option } from "commander";
import { openProject } from "./open-project.ts";
import { createProgram } from "./program.ts";
import { listKnownKeys } from "./setting-key.ts";
import type { Terminal } from "./terminal.ts";

/** A word that can be typed at the cursor, and what it is. */
type Candidate = { name: string; about: string };

/** What can be typed somewhere: some words, names that only the record or the project knows, or paths. */
type Values = NameKind | "files" | "folders" | readonly string[];
type NameKind = "agents" | "accounts" | keyof typeof QUERIES;

const BY_FLAG: Readonly<Record<string, Values>> = {
  "--cwd": "folders",
  "--out": "folders",
  "--output": "files",
  "--file": "files",
  "--client-file": "files",
  "--ca-file": "files",
  "--json-schema": "files",
  "--agent": "agents",
  "--parent": "agents",
  "--subagents": "agents",
  "--session": "sessions",
  "--resume": "sessions",
};

/** By the command's words and the argument's name; the first that fits. */
const BY_ARGUMENT: readonly (readonly [pattern: RegExp, values: Values])[] = [
  [/^agents (?:show|explain) /, "agents"],
  [/^spawn agent$/, "agents"],
  [/^agents (?:check|import) /, "files"],
  [/^plan (?:show|edit|approve|run) id$/, "plans"],
  [/^accounts .*\bid$/, "accounts"],
  [/^accounts (?:import|export) /, "files"],
  [/^approve /, "approvals"],
  [/ (?:id|run|session)$/, "sessions"],
];

/**
 * `retinue __complete WORDS…`: what can replace the last word, for the scripts of `retinue completion`: a line
 * each with its meaning behind a tab, or `@files` or `@folders`; nothing at all if something is wrong.
 */
export async function completeWords(words: readonly string[], terminal: Terminal): Promise<void> {
  try {
    const found = await findCandidates(words, terminal);
    if (typeof found === "string") terminal.print(`@${found}`);
    else for (const { name, about } of found) terminal.print(`${name}\t${cutToLine(about, 60)}`);
  } catch {
    // A completing shell cannot show a message.
  }
}

async function findCandidates(
  words: readonly string[],
  terminal: Terminal,
): Promise<readonly Candidate[] | "files" | "folders"> {
  // Bash takes --flag=value apart.
  const before = words.slice(0, -1).filter((word) => word !== "=");
  const [last = ""] = words.slice(-1);
  const [, given, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? [];
  const place = findPlace(await createProgram({ terminal, exitCode: 0 }, before), before);
  const { command, path, count, areOptionsOver } = place;
  const flag = place.flag ?? (given === undefined ? undefined : findValued(command, given));
  const fill = (values: Values | undefined) => listValues(values, { before, typed: value ?? last }, terminal);
  if (flag) return fill(flag.argChoices ?? BY_FLAG[flag.long ?? ""]);
  const help = command.createHelp();
  if (last.startsWith("-") && !areOptionsOver)
    return help
      .visibleOptions(command)
      .flatMap(({ short, long, description }) =>
        [short, long].flatMap((name) => (name ? [{ name, about: shorten(description) }] : [])),
      );
  const inner = count === 0 ? help.visibleCommands(command) : [];
  if (inner.length > 0)
    return inner.map((each) => ({ name: each.name(), about: shorten(each.summary() || each.description()) }));
  const args = command.registeredArguments;
  const argument = args[count] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined);
  if (!argument) return [];
  if (path.startsWith("config ") && argument.name() === "key") return fill(listSettingKeys());
  const words_ = `${path} ${argument.name()}`;
  return fill(argument.argChoices ?? BY_ARGUMENT.find(([pattern]) => pattern.test(words_))?.[1]);
}

/** Where the cursor is: in which command, behind how many arguments, and behind which flag that takes a value. */
type Place = {
  command: Command;
  path: string;
  count: number;
  flag?: Option | undefined;
  areOptionsOver: boolean;
};

function findPlace(program: Command, before: readonly string[]): Place {
  const place: Place = { command: program, path: "", count: 0, areOptionsOver: false };
  for (const word of before) {
    const inner = place.count === 0 && place.command.commands.find((each) => each.name() === word);
    if (place.flag) place.flag = undefined;
    else if (place.areOptionsOver) place.count++;
    else if (word === "--") place.areOptionsOver = true;
    else if (word.startsWith("-")) place.flag = findValued(place.command, word);
    else if (inner) {
      place.command = inner;
      place.path = `${place.path} ${word}`.trim();
    } else place.count++;
  }
  return place;
}

function findValued({ options }: Command, word: string): Option | undefined {
  return options.find(
    ({ short, long, required, optional }) => (word === short || word === long) && (required || optional),
  );
}

/** The first half of a description, which is what there is room for. */
function shorten(text: string): string {
  return (text.split(/[;:(]/, 1)[0] ?? "").trim();
}

/** Keys whose every part is known beforehand. */
function listSettingKeys(): string[] {
  return listKnownKeys()
    .map(({ key }) => key)
    .filter((key) => /^[A-Za-z.]+$/.test(key) && !key.includes("NAME"));
}

/** Shells expand what they get: only names without special characters are passed on. */
const HARMLESS = /^[\w][\w.@-]*$/;

async function listValues(
  values: Values | undefined,
  { before, typed }: { before: readonly string[]; typed: string },
  terminal: Terminal,
): Promise<readonly Candidate[] | "files" | "folders"> {
  if (values === undefined || values === "files" || values === "folders") return values ?? [];
  if (typeof values !== "string") return values.map((name) => ({ name, about: "" }));
  return (await listNames(values, { before, typed }, terminal)).filter(({ name }) => HARMLESS.test(name));
}

async function listNames(
  kind: NameKind,
  { before, typed }: { before: readonly string[]; typed: string },
  terminal: Terminal,
): Promise<readonly Candidate[]> {
  const { configDir, dataDir } = findPlaces(terminal.env);
  if (kind === "agents") {
    const { registry } = await openProject({ ...terminal, options: { cwd: findFolder(before) } });
    return registry.list().map(({ name, description }) => ({ name, about: description }));
  }
  if (kind === "accounts")
    return (await loadAccounts(configDir)).accounts.map(({ id, address }) => ({ name: id, about: address }));
  const names = listRecorded(kind, typed, join(dataDir, "retinue.db"));
  return kind === "approvals" ? names : [...names, { name: "last", about: "the newest" }];
}

/** The folder that `-C` names on the line that is being typed. */
function findFolder(words: readonly string[]): string {
  const at = words.findIndex((word) => word === "-C" || word === "--cwd");
  const joined = words.find((word) => word.startsWith("--cwd="))?.slice("--cwd=".length);
  return joined ?? (at >= 0 ? words[at + 1] : undefined) ?? ".";
}

const MOST = 50;
const QUERIES = {
  sessions: "SELECT session_id AS name, title AS about, -changed AS place FROM sessions",
  plans: "SELECT plan_id AS name, status AS about, -max(changed) AS place FROM plans GROUP BY plan_id",
  approvals:
    "SELECT approval_id AS name, tool AS about, position AS place FROM approvals WHERE answered_at IS NULL",
} as const;

/** Names that begin with what is typed come first, so that typing more finds older ones too. */
function listRecorded(kind: keyof typeof QUERIES, typed: string, path: string): Candidate[] {
  using db = new DatabaseSync(path, { readOnly: true, timeout: 200 });
  const list = db.prepare(
    `SELECT name, about FROM (${QUERIES[kind]}) ORDER BY substr(name, 1, length(?1)) = ?1 DESC, place LIMIT ?2`,
  );
  return list.all(typed, MOST).map(({ name, about }) => ({ name: String(name), about: String(about) }));
}
