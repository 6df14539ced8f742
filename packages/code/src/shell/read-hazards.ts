import type { ProgramCall, Redirection } from "@retinue/core/rights/patterns/command-part";
import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { readCommand } from "@retinue/core/rights/patterns/split-command";
import {
  cutFolder,
  DECODERS,
  DELETERS,
  DOWNLOADERS,
  FETCHERS,
  findInterpreter,
  HOLDS_COMMANDS,
  makePlainWord,
  nameProgram,
  readOperands,
  runsInput,
} from "./command-words.ts";
import { Hazards, MAX_DEPTH, MENTIONS_DELETION, namesVariable } from "./hazards.ts";
import { isDecoding, lookAtProgram, lookForCommands, lookIntoCode } from "./program-hazards.ts";

/** Files and folders that hold what a command brought, by names without folders. */
type Brought = {
  readonly names: readonly string[];
  readonly folders: readonly string[];
  /** Some of the names are not known. */
  readonly isUnnamed: boolean;
  readonly from: readonly string[];
};

/**
 * Text that runs unread: downloaded, from these places as far as they are named, or made by a program such as base64. A
 * package that is installed may run what it likes.
 */
export type UnreadText = {
  readonly by: "download" | "decoding" | "package";
  readonly from: readonly string[];
};

const MAX_COPIES = 1_000;

/**
 * Reads what a shell text would delete, and what it would run that cannot be read before. Reading is careful: what is not
 * understood is listed. `names` are those that earlier commands gave to programs.
 */
export function readHazards(written: string, names: ReadonlyMap<string, string> = new Map()): Hazards {
  const command = fillInTemporaries(written);
  const draft = new Hazards(names, findUnknownVariables(command));
  for (const text of fillInVariables(command)) collectHazards(text, draft, 0);
  if (draft.deletes.delete("{}")) for (const start of draft.findStarts) draft.deletes.add(start);
  return draft;
}

/** A folder, `.` or `..` as the target says nothing of the name. */
export function isFileName(name: string): boolean {
  return /[^.]/.test(name);
}

/** What a command brings from outside, or decodes, and keeps in files; null if nothing. */
export function describeBrought(draft: Hazards): Brought | null {
  const { downloads, addresses, saved, written, cloned, decoders, decoded, unpacks } = draft;
  const isDownload = downloads.size > 0 && saved.size + written.size + cloned.size + Number(unpacks) > 0;
  if (!isDownload && decoded.size === 0) return null;
  const kept = isDownload ? [...saved, ...written, ...decoded] : [...decoded];
  const places = isDownload ? (addresses.size > 0 ? addresses : downloads) : decoders;
  return {
    names: kept.filter((name) => name !== null).filter(isFileName),
    folders: [...cloned],
    isUnnamed: kept.includes(null) || cloned.size > 0 || (isDownload && unpacks),
    from: [...places],
  };
}

/** What a command runs although nobody can read it before. */
export function listUnreadTexts(draft: Hazards): UnreadText[] {
  const runs: UnreadText[] = [];
  const { downloads, addresses, decoders, decoded, runsText } = draft;
  if (downloads.size > 0 && (runsText || runsSaved(draft)))
    runs.push({ by: "download", from: [...(addresses.size > 0 ? addresses : downloads)] });
  if (decoders.size > 0 && (runsText || runsAny(decoded, draft)))
    runs.push({ by: "decoding", from: [...decoders] });
  if (draft.sources.size > 0 && runs.length === 0) runs.push({ by: "decoding", from: [...draft.sources] });
  if (draft.packages.size > 0) runs.push({ by: "package", from: [...draft.packages] });
  return runs;
}

/** Whether a file that is run may be what was downloaded: by its name, or because something may have put it there. */
function runsSaved(draft: Hazards): boolean {
  const { runsFiles, saved, written, cloned, folders, unpacks } = draft;
  if (runsAny(new Set([...saved, ...written]), draft)) return true;
  if (runsFiles.size > 0 && (unpacks || saved.has(null))) return true;
  const isCloned = (path: string | null) => path?.split("/").some((part) => cloned.has(part)) === true;
  return [...runsFiles].some(isCloned) || (runsFiles.size > 0 && [...folders].some(isCloned));
}

function runsAny(names: ReadonlySet<string | null>, { runsFiles, programs }: Hazards): boolean {
  if (names.size > 0 && runsFiles.has(null)) return true;
  return [...runsFiles, ...programs].some((file) => file !== null && names.has(cutFolder(file)));
}

function collectHazards(text: string, draft: Hazards, depth: number): void {
  if (depth > MAX_DEPTH) {
    draft.noteMentions(text);
    return;
  }
  const { calls, opaque } = readCommand(text);
  const { calls: outer, call: outerCall, feed: outerFeed } = draft;
  draft.calls = calls;
  const from = draft.texts.length;
  let understood = 0;
  for (const call of calls) {
    const before = draft.deletions;
    lookAtCall(call, draft);
    const isPlain = MENTIONS_DELETION.test(call.words.map((word) => word.raw).join(" "));
    if (draft.deletions > before && isPlain) understood++;
  }
  draft.calls = outer;
  draft.call = outerCall;
  draft.feed = outerFeed;
  if (opaque) draft.noteMentions(text, understood);
  // A shell that reads its input, or a file made before, may run whatever the command has in it as text.
  const isWritten = draft.relays && draft.runsFiles.size > 0;
  const isHeld = draft.runsText || draft.runsHeld || draft.fills || isWritten;
  const held = isHeld ? draft.texts.slice(from) : [];
  for (const inner of held) collectHazards(inner, draft, depth + 1);
}

function lookAtCall(call: ProgramCall, draft: Hazards): void {
  draft.call = call;
  draft.feed = call.redirections.some(replacesInput) ? null : call.feed;
  const [program, ...rest] = call.words;
  noteCopies(call, draft);
  lookAtRedirections(call, draft);
  for (const word of [...call.words, ...call.assignments]) draft.noteAddresses(word.value);
  for (const { value } of [...call.words, ...call.redirections.map(({ target }) => target)])
    draft.mentions.add(cutFolder(value.replace(/^\w+=/, "")));
  if (!program) return;
  if (program.dynamic) {
    if (namesVariable(program, draft.unknown)) draft.runInput();
    draft.runsText = true;
    if (/\$\(|`|<\(/.test(program.raw) && MAKES_NAMES.test(program.raw))
      draft.decoders.add("a name made at run time");
    if (rest.some((word) => DELETERS.has(word.value))) draft.deletesUnknown.add(program.raw);
    return;
  }
  const unread = draft.runsText;
  lookAtProgram(program.value, rest, draft);
  // What comes in is in the command itself, and was read with its redirections.
  if (call.redirections.some(({ mark }) => mark.startsWith("<<")) && runsInput(program.value)) {
    draft.runsHeld = true;
    draft.runsText = unread || call.redirections.some(isFilledIn) || rest.some((word) => word.dynamic);
  }
}

function replacesInput({ descriptor, mark }: Redirection): boolean {
  return mark.startsWith("<") && (descriptor === "" || descriptor === "0");
}

function isFilledIn({ mark, target, body }: Redirection): boolean {
  return mark === "<<<" ? target.dynamic : body !== undefined && /\$\(|`/.test(body);
}

const MAKES_NAMES = /\b(?:echo|printf|rev|tr|cut|sed|awk|base64|xxd)\b/;

/** A copy or a link of a program is that program under another name. */
function noteCopies({ words, redirections }: ProgramCall, draft: Hazards): void {
  const [program, ...rest] = words;
  const name = nameProgram(program?.value ?? "");
  const note = (from: Word, to: string) => {
    const source = nameCopied(from);
    const named = cutFolder(to.replace(/\/+$/, ""));
    if (draft.copies.length >= MAX_COPIES || source === named) return;
    draft.copies.push({ from: source, to: named });
    draft.names.set(named, draft.names.get(source) ?? source);
  };
  if (/^(?:cp|install|ln|mv)$/.test(name)) {
    const [from, to, ...others] = readOperands(rest);
    if (from && to && others.length === 0) note(from, to.value);
  } else if (name === "dd") {
    const from = rest.find(({ value }) => value.startsWith("if="));
    const to = rest.find(({ value }) => value.startsWith("of="));
    if (from && to) note({ ...from, value: from.value.slice(3) }, to.value.slice(3));
  } else if (name === "hash") {
    const [from, to] = readOperands(rest);
    if (from && to) note(from, to.value);
  }
  const [from, ...others] = name === "cat" ? readOperands(rest) : [];
  const to = redirections.find(({ mark }) => mark.includes(">"))?.target;
  if (from && to && others.length === 0) note(from, to.value);
}

/** The name of what is copied; of `$(which rm)` that of the program. */
function nameCopied({ value, dynamic, raw }: Word): string {
  const looked = dynamic ? /(?:which|command\s+-v|type\s+-[pP])\s+([\w.-]+)/.exec(raw)?.[1] : undefined;
  return looked ?? cutFolder(value.replace(/\/+$/, ""));
}

function lookAtRedirections({ words, redirections }: ProgramCall, draft: Hazards): void {
  const name = nameProgram(words[0]?.value ?? "");
  const isDownload = DOWNLOADERS.has(name) || FETCHERS.has(name);
  const isDecoder = DECODERS.has(name) && isDecoding(name, words.slice(1));
  const isRunner = runsInput(name);
  for (const { mark, target, body } of redirections) {
    if (/\/dev\/(?:tcp|udp)\//.test(target.value)) draft.downloads.add(target.value);
    if (body !== undefined) {
      lookIntoInput(name, body, draft);
    } else if (mark === "<<<") {
      lookIntoInput(name, target.value, draft);
    } else if (mark === "<" && isRunner) draft.runFile(target);
    else if (mark.includes(">") && target.value !== "/dev/null" && !isDescriptor(mark, target)) {
      const saved = target.dynamic || target.odd ? null : cutFolder(target.value);
      if (isDownload) draft.saved.add(saved);
      else draft.relays = true;
      if (isDecoder) draft.decoded.add(saved);
      if (saved === null) draft.unpacks = true;
      else draft.written.add(saved);
      if (mark !== ">>" && mark !== "&>>" && printsNothing(words, redirections)) draft.noteEmptied(target);
    }
  }
  if (name === "tee" && redirections.some(readsNothing))
    for (const word of readOperands(words.slice(1))) draft.noteEmptied(word);
}

/** What is in the command itself and handed to a program as its input. */
function lookIntoInput(name: string, text: string, draft: Hazards): void {
  if (findInterpreter(name)) lookIntoCode(name, text, draft);
  else draft.texts.push(text);
  if (HOLDS_COMMANDS.has(name)) lookForCommands(name, [makePlainWord(text)], draft);
}

function isDescriptor(mark: string, target: Word): boolean {
  return mark.endsWith("&") && /^(?:\d+-?|-)$/.test(target.value);
}

function readsNothing({ mark, target }: Redirection): boolean {
  return mark === "<" && target.value === "/dev/null";
}

/** Whether a call surely has no output, so that the file it is written to ends up empty. */
function printsNothing([program, ...rest]: readonly Word[], redirections: readonly Redirection[]): boolean {
  const name = nameProgram(program?.value ?? "");
  const values = rest.map((word) => word.value);
  switch (name) {
    case "":
    case ":":
    case "true":
    case "false":
      return true;
    case "cat":
      return values.length === 0
        ? redirections.some(readsNothing)
        : values.every((value) => value === "/dev/null");
    case "echo":
      return values.every((value) => value === "" || /^-[neE]+$/.test(value));
    case "printf":
      return values.length === 1 && values[0] === "";
    default:
      return false;
  }
}

const MAX_VARIANTS = 8;
const TEMPORARY =
  /\b([A-Za-z_]\w*)=(["']?)(?:\$\(mktemp(?:\s[^()$`|;&<>]*)?\)|`mktemp(?:\s[^()$`|;&<>]*)?`)\2/g;

/** The text with a path in the place of variables that hold a temporary file or folder: it is new, so that it may be deleted. */
function fillInTemporaries(command: string): string {
  // A link may lead out of it.
  if (!command.includes("mktemp") || /\bln\b/.test(command)) return command;
  const made = [...command.matchAll(TEMPORARY)].map(([, name]) => name ?? "");
  return [...new Set(made)].reduce((text, name) => {
    const others = new RegExp(
      `\\b${name}\\+?=|\\b(?:for|read|mapfile|readarray|unset|printf -v)\\b[^;|&\\n]*\\b${name}\\b`,
      "g",
    );
    const isElse = (text.match(others) ?? []).length > made.filter((each) => each === name).length;
    return isElse
      ? text
      : text.replace(new RegExp(`\\$(?:${name}\\b|\\{${name}\\})`, "g"), `/tmp/mktemp.${name}`);
  }, command);
}

/** Variables that a command fills with the output of others. */
function findUnknownVariables(command: string): Set<string> {
  const filled = command.matchAll(/\b([A-Za-z_]\w*)\+?=["']?(?:[^\s"';|&]*)(?:\$\(|`)/g);
  const read = command.matchAll(/\b(?:read|mapfile|readarray|printf -v)\b([^;|&<\n]*)/g);
  return new Set([
    ...[...filled].map(([, name]) => name ?? ""),
    ...[...read].flatMap(([, words = ""]) => words.match(/\b[A-Za-z_]\w*\b/g) ?? []),
  ]);
}

/** The text, and the text with what its own variables hold put in their place. */
function fillInVariables(command: string): string[] {
  const texts = [command];
  if (!command.includes("=") || !command.includes("$")) return texts;
  const values = new Map<string, string[]>();
  for (const { words, assignments } of readCommand(command).calls) {
    const declared = /^(?:export|declare|local|readonly|typeset)$/.test(words[0]?.value ?? "")
      ? words.slice(1)
      : [];
    for (const word of [...assignments, ...declared]) {
      const [, name, value] = /^(\w+)\+?=([\s\S]*)$/.exec(word.value) ?? [];
      if (name && value !== undefined && !word.dynamic)
        values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  for (let index = 0; index < texts.length && texts.length < MAX_VARIANTS; index++) {
    for (const text of fillInValues(texts[index] ?? "", values)) if (!texts.includes(text)) texts.push(text);
  }
  return texts;
}

function fillInValues(text: string, values: ReadonlyMap<string, readonly string[]>): string[] {
  const rounds = Math.min(MAX_VARIANTS, Math.max(0, ...[...values.values()].map((each) => each.length)));
  return Array.from({ length: rounds }, (_, round) =>
    text
      .replace(/\$(?:(\w+)|\{(\w+)\})/g, (raw, plain?: string, braced?: string) => {
        const choices = values.get(plain ?? braced ?? "");
        return choices?.[Math.min(round, choices.length - 1)] ?? raw;
      })
      .slice(0, 100_000),
  );
}
