import type { Feed, ProgramCall, Redirection } from "../../../permissions/patterns/command-part.ts";
import { findInner } from "../../../permissions/patterns/inner-command.ts";
import type { Word } from "../../../permissions/patterns/shell-word.ts";
import { readCommand } from "../../../permissions/patterns/split-command.ts";
import { readCodeHazards } from "./code-hazards.ts";
import { findUnknown, withTemporaries, withVariables } from "./command-variables.ts";
import { cutFolder, hasOption, makePlainWord, nameProgram, readOperands } from "./command-words.ts";
import { findGlobs } from "./find-globs.ts";
import { readGitHazards } from "./git-hazards.ts";
import {
  DECODERS,
  DELETERS,
  DOWNLOADERS,
  FETCHERS,
  findInterpreter,
  HOLDS_COMMANDS,
  PASSES_ON,
  READS_WORDS,
  RELAYS,
  runsInput,
  SHELLS,
  SILENT,
  STARTS_OTHERS,
  UNPACKERS,
} from "./known-programs.ts";
import { nameDownloads } from "./name-downloads.ts";
import { readPackageCall } from "./package-calls.ts";

/** What in a command a person should know of before it runs. Reading is careful: what is not understood is listed. */
export type Hazards = {
  /** Files and folders that it deletes, by name or pattern. */
  readonly deletes: readonly string[];
  /** Files that it empties. */
  readonly empties: readonly string[];
  /** What it moves or links, and where to. */
  readonly moves: readonly { readonly from: readonly string[]; readonly to: string }[];
  /** Files and folders in which it puts back what git has, so that changes are lost which are not committed. */
  readonly discards: readonly string[];
  /** Calls of git that throw away what only git keeps, such as a stash. */
  readonly drops: readonly string[];
  /** Folders that it changes into; names are relative to one of them or to where it starts. */
  readonly folders: readonly string[];
  /** Programs that delete what cannot be told from the text. */
  readonly deletesUnknown: readonly string[];
  /** What it runs although nobody can read it before. */
  readonly runs: readonly Unread[];
  /** Files whose text is piped into a program that runs it. */
  readonly inputs: readonly string[];
  /** What it copies, links or moves, and the names that has then, without folders. */
  readonly copies: readonly Copy[];
  /** Files that it runs, as far as their names are known, and programs by their bare names. */
  readonly runsFiles: readonly string[];
  readonly programs: readonly string[];
  /** Something in it runs text that is not in the command. */
  readonly runsText: boolean;
  /** What it brings from outside, or decodes, and keeps in files; null if nothing. */
  readonly brings: Brought | null;
  /** Names that it writes to, and all names that stand in it, without their folders. */
  readonly writes: readonly string[];
  readonly mentions: readonly string[];
  /** It also writes, or unpacks, to names that are not known. */
  readonly unpacks: boolean;
};

/** Files and folders that hold what a command brought, by names without folders. */
export type Brought = {
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
export type Unread = { readonly by: "download" | "decoding" | "package"; readonly from: readonly string[] };

/** A file that is there under another name, both without their folders. */
export type Copy = { readonly from: string; readonly to: string };

type Draft = {
  /** The calls of the text that is read now, and the one that is looked at. */
  calls: readonly ProgramCall[];
  call: ProgramCall | null;
  /** What comes in to it. */
  feed: Feed | null;
  /** Programs whose output is run, and files. */
  sources: Set<string>;
  inputs: Set<string>;
  copies: Copy[];
  /** The programs that other names stand for. */
  names: Map<string, string>;
  /** Variables whose values are known only when the command runs. */
  unknown: Set<string>;
  deletes: Set<string>;
  empties: Set<string>;
  moves: { from: string[]; to: string }[];
  discards: Set<string>;
  drops: Set<string>;
  folders: Set<string>;
  deletesUnknown: Set<string>;
  /** How many calls were found that delete. */
  deletions: number;
  /** Addresses and repositories that packages are installed from. */
  packages: Set<string>;
  /** Programs that bring bytes from outside, and the addresses they are given. */
  downloads: Set<string>;
  addresses: Set<string>;
  /** Names that downloads are saved under, without their folders; null for one that is not known. */
  saved: Set<string | null>;
  /** Folders that repositories are cloned into. */
  cloned: Set<string>;
  /** Names that anything else is written to, which may have been downloaded. */
  written: Set<string>;
  /** Something is written, so that a file that runs later may hold what is in the command. */
  relays: boolean;
  /** Something is unpacked, or written otherwise, to names that are not known. */
  unpacks: boolean;
  decoders: Set<string>;
  /** Names that decoded text is saved under. */
  decoded: Set<string | null>;
  /** Something runs text that is not in the command. */
  runsText: boolean;
  /** A shell runs text that is in the command. */
  runsHeld: boolean;
  /** Files that are run; null for one that is not known. */
  runsFiles: Set<string | null>;
  /** Programs that are run by their bare names. */
  programs: Set<string>;
  /** All words, without their folders. */
  mentions: Set<string>;
  /** Arguments are filled in from elsewhere. */
  fills: boolean;
  findStarts: string[];
  /** How many programs have started the one that is looked at. */
  depth: number;
  /** Texts in the command that may be handed to a shell. */
  texts: string[];
};

const ADDRESS = /\b(?:https?|ftp):\/\/[^\s'"`<>|;)]+/gi;
/** A package of Go by the address of its repository. */
const MODULE = /^[\w-]+(?:\.[\w-]+)+\/\S/;
const MAX_COPIES = 1_000;
const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;
/** Program text that is not a file: an address, or the text itself in a form that nobody reads. */
const REMOTE_TEXT = /^(?:https?|ftp|data):/i;
const STDIN_FILE = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;
/** Interpreters whose options take the next word with them. */
const VALUED = /^(-m|-W|-X|-I|-r|-C|--require|--import|--loader|--env-file|--conditions)$/;
/** Words by which a text that is not understood gives itself away. */
const MENTIONS_DELETION =
  /(?:^|[^\w.-])(?:rm|unlink|shred|rimraf|rmtree)(?![\w.-])|(?:^|\s)-delete\b|\bgit\s+(?:\S+\s+){0,6}clean\b|--delete\b/;
const MENTIONS_DISCARD =
  /\breset\s+(?:\S+\s+){0,3}--(?:hard|merge)\b|\b(?:checkout|switch)\s+(?:-f\b|--|\.)|\brestore\s/;
const MENTIONS_DROP = /\bstash\s+(?:drop|clear)\b/;
const MENTIONS_DOWNLOAD =
  /(?:^|[^\w-])(?:curl|wget|aria2c|ncat|nc|socat)(?![\w-])|\bhttps?:\/\/|\/dev\/(?:tcp|udp)\//;
const MENTIONS_RUNNER =
  /(?:^|[^\w.-])(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|eval|source)(?![\w-])/;

const MAX_DEPTH = 6;

/**
 * Reads what a shell text would delete, and what it would run that cannot be read before. `names` are those that earlier
 * commands gave to programs.
 */
export function readHazards(written: string, names: ReadonlyMap<string, string> = new Map()): Hazards {
  const command = withTemporaries(written);
  const draft: Draft = {
    calls: [],
    call: null,
    feed: null,
    sources: new Set(),
    inputs: new Set(),
    copies: [],
    names: new Map(names),
    unknown: findUnknown(command),
    deletes: new Set(),
    empties: new Set(),
    moves: [],
    discards: new Set(),
    drops: new Set(),
    folders: new Set(),
    deletesUnknown: new Set(),
    deletions: 0,
    packages: new Set(),
    downloads: new Set(),
    addresses: new Set(),
    saved: new Set(),
    cloned: new Set(),
    written: new Set(),
    relays: false,
    unpacks: false,
    decoders: new Set(),
    decoded: new Set(),
    runsText: false,
    runsHeld: false,
    runsFiles: new Set(),
    programs: new Set(),
    mentions: new Set(),
    fills: false,
    findStarts: [],
    depth: 0,
    texts: [],
  };
  for (const text of withVariables(command)) collect(text, draft, 0);
  return {
    deletes: [...draft.deletes].flatMap((name) => (name === "{}" ? draft.findStarts : [name])),
    empties: [...draft.empties],
    moves: draft.moves,
    discards: [...draft.discards],
    drops: [...draft.drops],
    folders: [...draft.folders],
    deletesUnknown: [...draft.deletesUnknown],
    runs: unreadIn(draft),
    inputs: [...draft.inputs],
    copies: draft.copies,
    runsFiles: [...draft.runsFiles].filter((file) => file !== null),
    programs: [...draft.programs],
    runsText: draft.runsText,
    brings: broughtBy(draft),
    writes: [...draft.written].filter(isFileName),
    mentions: [...draft.mentions],
    unpacks: draft.unpacks,
  };
}

/** A folder, `.` or `..` as the target says nothing of the name. */
function isFileName(name: string): boolean {
  return /[^.]/.test(name);
}

function broughtBy(draft: Draft): Brought | null {
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

function unreadIn(draft: Draft): Unread[] {
  const runs: Unread[] = [];
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
function runsSaved(draft: Draft): boolean {
  const { runsFiles, saved, written, cloned, folders, unpacks } = draft;
  if (runsAny(new Set([...saved, ...written]), draft)) return true;
  if (runsFiles.size > 0 && (unpacks || saved.has(null))) return true;
  const isCloned = (path: string | null) => path?.split("/").some((part) => cloned.has(part)) === true;
  return [...runsFiles].some(isCloned) || (runsFiles.size > 0 && [...folders].some(isCloned));
}

function runsAny(names: ReadonlySet<string | null>, { runsFiles, programs }: Draft): boolean {
  if (names.size > 0 && runsFiles.has(null)) return true;
  return [...runsFiles, ...programs].some((file) => file !== null && names.has(cutFolder(file)));
}

function collect(text: string, draft: Draft, depth: number): void {
  if (depth > MAX_DEPTH) {
    mention(text, draft);
    return;
  }
  const { calls, opaque } = readCommand(text);
  const { calls: outer, call: outerCall, feed: outerFeed } = draft;
  draft.calls = calls;
  const from = draft.texts.length;
  let understood = 0;
  for (const call of calls) {
    const before = draft.deletions;
    look(call, draft);
    const isPlain = MENTIONS_DELETION.test(call.words.map((word) => word.raw).join(" "));
    if (draft.deletions > before && isPlain) understood++;
  }
  draft.calls = outer;
  draft.call = outerCall;
  draft.feed = outerFeed;
  if (opaque) mention(text, draft, understood);
  // A shell that reads its input, or a file made before, may run whatever the command has in it as text.
  const isWritten = draft.relays && draft.runsFiles.size > 0;
  const isHeld = draft.runsText || draft.runsHeld || draft.fills || isWritten;
  const held = isHeld ? draft.texts.slice(from) : [];
  for (const inner of held) collect(inner, draft, depth + 1);
}

/** A text that is not understood is judged by the words in it, less the deletions that were understood all the same. */
function mention(text: string, draft: Draft, understood = 0): void {
  const plain = text.replace(/\\\n/g, "").replace(/['"\\]/g, "");
  if ((plain.match(new RegExp(MENTIONS_DELETION, "g"))?.length ?? 0) > understood)
    draft.deletesUnknown.add("a text that is not fully understood");
  if (/\bgit\b/.test(plain) && MENTIONS_DISCARD.test(plain)) draft.discards.add(":/");
  if (MENTIONS_DROP.test(plain)) draft.drops.add("git stash");
  if (MENTIONS_DOWNLOAD.test(plain) && MENTIONS_RUNNER.test(plain)) {
    draft.downloads.add("a text that is not fully understood");
    draft.runsText = true;
    noteAddresses(plain, draft);
  }
}

function look(call: ProgramCall, draft: Draft): void {
  draft.call = call;
  draft.feed = call.redirections.some(replacesInput) ? null : call.feed;
  const [program, ...rest] = call.words;
  noteCopies(call, draft);
  lookAtRedirections(call, draft);
  for (const word of [...call.words, ...call.assignments]) noteAddresses(word.value, draft);
  for (const { value } of [...call.words, ...call.redirections.map(({ target }) => target)])
    draft.mentions.add(cutFolder(value.replace(/^\w+=/, "")));
  if (!program) return;
  if (program.dynamic) {
    if (namesVariable(program, draft.unknown)) runInput(draft);
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

function lookAtProgram(program: string, rest: readonly Word[], draft: Draft): void {
  if (draft.depth >= MAX_DEPTH) {
    mention([program, ...rest.map((word) => word.value)].join(" "), draft);
    return;
  }
  draft.depth++;
  lookInto(program, rest, draft);
  draft.depth--;
}

/** A program runs what comes in: whatever prints that must be known, or a file that can be looked up. */
function runInput(draft: Draft): void {
  draft.runsText = true;
  // One reason is enough, and looking on would take for ever with thousands of pipes.
  for (let { feed } = draft; feed && draft.sources.size === 0; feed = feed.outer)
    for (const call of draft.calls.slice(feed.from, feed.to)) noteSource(call, draft);
}

/** Runs what the calls in the words of the current one print, as in `sh <(…)`. */
function runSubstituted(draft: Draft): void {
  draft.runsText = true;
  const { call, calls } = draft;
  const at = call ? calls.indexOf(call) : -1;
  if (call && at > call.first) for (const inner of calls.slice(call.first, at)) noteSource(inner, draft);
}

/** What a call prints is known if it is in the command, or in a file that git has. */
function noteSource(call: ProgramCall, draft: Draft): void {
  const [program, ...rest] = call.words;
  for (const { mark, target } of call.redirections)
    if (mark === "<" || mark === "<>") noteInput(target, draft);
  if (!program) return;
  const name = program.dynamic ? program.raw : nameProgram(program.value);
  if (SILENT.has(name)) return;
  if (name === "echo" || name === "printf") {
    if (rest.some((word) => word.dynamic && namesVariable(word, draft.unknown))) draft.sources.add(name);
  } else if (PASSES_ON.has(name)) {
    if (name === "tee") return;
    const isGrep = name.endsWith("grep");
    const operands = readOperands(rest, isGrep ? /^-[efmABC]$/ : /^-[nc]$/);
    const hasPattern = isGrep && !hasOption(rest, /^(?:-\w*[ef]|--regexp|--file)/);
    for (const word of hasPattern ? operands.slice(1) : operands) noteInput(word, draft);
  } else if (name === "git" && /^(?:show|cat-file)$/.test(rest[0]?.value ?? "")) return;
  else if (name === "xargs" || findInner(call.words).commands.length === 0) draft.sources.add(name);
}

function noteInput(word: Word, draft: Draft): void {
  if (STDIN_FILE.test(word.value) || word.value === "/dev/null" || word.raw.startsWith("<(")) return;
  if (word.dynamic || word.odd) draft.sources.add(word.raw);
  else draft.inputs.add(word.value);
}

function namesVariable(word: Word, names: ReadonlySet<string>): boolean {
  return [...word.raw.matchAll(/\$\{?[!#]?(\w+)/g)].some(([, name]) => names.has(name ?? ""));
}

/** A copy or a link of a program is that program under another name. */
function noteCopies({ words, redirections }: ProgramCall, draft: Draft): void {
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

function lookInto(program: string, rest: readonly Word[], draft: Draft): void {
  const name = nameProgram(program);
  const copied = draft.names.get(cutFolder(program));
  if (copied !== undefined && nameProgram(copied) !== name) lookAtProgram(copied, rest, draft);
  if (!program.includes("/")) draft.programs.add(program);
  else if (!SYSTEM_PROGRAM.test(program)) draft.runsFiles.add(program);
  if (RELAYS.has(name) || UNPACKERS.has(name)) draft.relays = true;
  if (UNPACKERS.has(name)) draft.unpacks = true;
  if (RELAYS.has(name)) noteWritten(name, rest, draft);
  if (DECODERS.has(name) && isDecoding(name, rest)) draft.decoders.add(name);
  if (name === "xargs" || name === "parallel") draft.fills = true;
  if (name === "parallel" && readOperands(rest, /^-[jkLnNPS]$|^--(?:jobs|delay|timeout)$/).length === 0)
    runInput(draft);
  if (name === "echo" || name === "printf") lookAtPrinting(name, rest, draft);
  if (DELETERS.has(name)) addDeleted(name, readOperands(rest), draft);
  else if (DOWNLOADERS.has(name)) {
    lookAtDownload(name, rest, draft);
    if (HOLDS_COMMANDS.has(name)) lookForCommands(name, rest, draft);
  } else if (FETCHERS.has(name)) lookAtFetching(name, rest, draft);
  else if (SHELLS.has(name)) lookAtShell(rest, draft);
  else if (findInterpreter(name)) lookAtInterpreter(name, rest, draft);
  else if (HOLDS_COMMANDS.has(name)) lookForCommands(name, rest, draft);
  lookAtPackages(name, rest, draft);
  lookAtStarted(name, rest, draft);
  lookAtOthers(name, rest, draft);
}

/** The last name that a program is given, or all names of one that writes several. */
function noteWritten(name: string, rest: readonly Word[], draft: Draft): void {
  const operands = name === "dd" ? rest.filter(({ value }) => value.startsWith("of=")) : readOperands(rest);
  for (const { value, dynamic, odd } of name === "tee" ? operands : operands.slice(-1)) {
    if (dynamic || odd) draft.unpacks = true;
    else draft.written.add(cutFolder(value.replace(/^of=/, "")));
  }
}

function lookAtPackages(name: string, rest: readonly Word[], draft: Draft): void {
  const call = readPackageCall(name, rest);
  if (!call) return;
  for (const source of call.installs) draft.packages.add(nameSource(source));
  for (const source of call.runs) runDownload(nameSource(source), draft);
  for (const file of call.files) runFile(file, draft);
  if (call.script) draft.texts.push(call.script.value);
  if (call.script) draft.runsHeld = true;
  const { program, words } = call.starts ?? {};
  if (program?.value === "-") runInput(draft);
  else if (program) lookAtProgram(program.value, words ?? [], draft);
}

function runDownload(from: string, draft: Draft): void {
  draft.downloads.add(from);
  draft.runsText = true;
}

/** An address by its host, anything else as it is. */
function nameSource(source: string): string {
  const [address = ""] = source.match(ADDRESS) ?? [];
  return URL.parse(address)?.host || source;
}

/** A program may start another one in ways of its own: what deletes is then found among its words. */
function lookAtStarted(name: string, rest: readonly Word[], draft: Draft): void {
  if (READS_WORDS.has(name) || DELETERS.has(name) || readPackageCall(name, rest)) return;
  if (findInner([makePlainWord(name), ...rest]).commands.length > 0) return;
  const startsOthers = STARTS_OTHERS.has(name);
  const at = rest.findIndex(({ value }, index) => {
    const started = nameProgram(value);
    if (DELETERS.has(started)) return startsOthers || index > 0;
    return startsOthers && (runsInput(started) || DOWNLOADERS.has(started));
  });
  const program = rest[at];
  if (program) lookAtProgram(program.value, rest.slice(at + 1), draft);
}

/** Programs with a way of their own. */
function lookAtOthers(name: string, rest: readonly Word[], draft: Draft): void {
  const operands = readOperands(rest);
  switch (name) {
    case "cd":
    case "pushd":
      enter(operands[0], draft);
      break;
    case "env":
    case "sudo":
      for (const [index, word] of rest.entries())
        if (/^(-C|-D|--chdir)$/.test(word.value)) enter(rest[index + 1], draft);
      break;
    case "eval":
      if (rest.some((word) => word.dynamic)) runInput(draft);
      break;
    case "go": {
      const [module] =
        rest[0]?.value === "run" ? readOperands(rest.slice(1), /^-(?:C|exec|mod|o|p|tags)$/) : [];
      if (module && MODULE.test(module.value)) runDownload(module.value, draft);
      break;
    }
    case "source":
    case ".":
      runFile(operands[0], draft);
      break;
    case "find":
      lookAtFind(rest, draft);
      break;
    case "fd":
    case "fdfind":
      lookAtFd(rest, draft);
      break;
    case "git":
      lookAtGit(rest, draft);
      break;
    case "rsync":
      lookAtRsync(rest, operands, draft);
      break;
    case "tar":
      if (rest.some((word) => word.value.startsWith("--remove-f"))) addDeleted(name, operands, draft);
      if (hasOption(rest, /^(?:-\w*O|--to-std)/) || /^\w*x\w*O|^\w*O\w*x/.test(rest[0]?.value ?? ""))
        draft.decoders.add(name);
      break;
    case "unzip":
      if (hasOption(rest, /^-\w*[pc]/)) draft.decoders.add(name);
      break;
    case "mv":
    case "ln":
    case "rename":
      lookAtMove(rest, operands, draft);
      lookAtReplacing(name, rest, draft);
      break;
    case "truncate":
      for (const word of operands) emptied(word, draft);
      break;
    case "cp":
    case "install":
      if (operands[0]?.value === "/dev/null") emptied(operands[1], draft);
      break;
    case "dd":
      for (const word of rest)
        if (word.value.startsWith("of=")) emptied({ ...word, value: word.value.slice(3) }, draft);
      break;
    case "shx":
      lookAtShx(rest, draft);
      break;
  }
}

function lookAtRedirections({ words, redirections }: ProgramCall, draft: Draft): void {
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
    } else if (mark === "<" && isRunner) runFile(target, draft);
    else if (mark.includes(">") && target.value !== "/dev/null" && !isDescriptor(mark, target)) {
      const saved = target.dynamic || target.odd ? null : cutFolder(target.value);
      if (isDownload) draft.saved.add(saved);
      else draft.relays = true;
      if (isDecoder) draft.decoded.add(saved);
      if (saved === null) draft.unpacks = true;
      else draft.written.add(saved);
      if (mark !== ">>" && mark !== "&>>" && printsNothing(words, redirections)) emptied(target, draft);
    }
  }
  if (name === "tee" && redirections.some(readsNothing))
    for (const word of readOperands(words.slice(1))) emptied(word, draft);
}

/** What is in the command itself and handed to a program as its input. */
function lookIntoInput(name: string, text: string, draft: Draft): void {
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

function lookAtPrinting(name: string, rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  draft.texts.push(text.replace(/^(?:-[neE]+\s+)+/, "").replaceAll("\\n", "\n"));
  if ((name === "printf" && /%[^%]|\\[x0-7]/.test(text)) || /\\(?:x|0)\d/.test(text))
    draft.decoders.add(name);
}

function isDecoding(name: string, rest: readonly Word[]): boolean {
  if (!/^base|^(?:age|gpg|openssl|xxd)$/.test(name)) return true;
  return rest.some((word) => /^-(?:[a-z]*[dDr]|-decode|-decrypt)|^enc$/.test(word.value));
}

/** A shell runs the text after `-c`, a file, or what comes in. The first two parts of its text are read elsewhere. */
function lookAtShell(rest: readonly Word[], draft: Draft): void {
  let takesText = false;
  // It only looks whether the text is a right one.
  if (rest.some(({ value }) => /^-[a-z]*n[a-z]*$/.test(value) || value === "--noexec")) return;
  for (const [index, word] of rest.entries()) {
    const text = word.value;
    if (/^[-+]./.test(text)) {
      if (!text.startsWith("--") && text.startsWith("-") && text.includes("c")) takesText = true;
      else if (/^-\w*s/.test(text)) runInput(draft);
      continue;
    }
    if (/^[-+]\w*[oO]$/.test(rest[index - 1]?.value ?? "")) continue;
    if (!takesText) runFile(word, draft);
    else if (draft.fills) runInput(draft);
    else if (word.dynamic) draft.runsText = true;
    return;
  }
  runInput(draft);
}

/** An interpreter runs text it is given, a module, a file, or what comes in. */
function lookAtInterpreter(name: string, rest: readonly Word[], draft: Draft): void {
  const options = findInterpreter(name) ?? [];
  if (rest.some((word) => word.raw.startsWith("<("))) runSubstituted(draft);
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index];
    if (!word) break;
    const text = word.value;
    const glued = options.find(
      (option) => !option.startsWith("--") && text.startsWith(option) && text !== option,
    );
    const long = options.find((option) => option.startsWith("--") && text.startsWith(`${option}=`));
    if (
      options.includes(text.toLowerCase()) ||
      options.includes(text) ||
      (/^-\w*e$/.test(text) && name === "perl")
    ) {
      lookIntoCodeWord(name, rest[index + 1], draft);
      return;
    }
    if (long || (glued && !text.startsWith("--"))) {
      lookIntoCodeWord(name, word, draft);
      return;
    }
    if (/^-m/.test(text) && name.startsWith("py")) {
      const [module, ...words] =
        text === "-m" ? rest.slice(index + 1) : [{ ...word, value: text.slice(2) }, ...rest.slice(index + 1)];
      if (module) lookAtPackages(module.value, words, draft);
      return;
    }
    const [, given] = /^--?[\w-]+=(.*)$/.exec(text) ?? [];
    const loaded = VALUED.test(text) ? rest[index + 1]?.value : given;
    if (loaded !== undefined && REMOTE_TEXT.test(loaded)) runDownload(nameSource(loaded), draft);
    if (VALUED.test(text)) index++;
    else if (!text.startsWith("-") || STDIN_FILE.test(text)) {
      if (/^(?:run|eval|test|repl|x|install|task)$/.test(text) && /^(?:deno|bun)$/.test(name)) {
        if (text === "eval") lookIntoCodeWord(name, rest[index + 1], draft);
        if (text !== "run") return;
        continue;
      }
      runFile(word, draft);
      return;
    } else if (/^--?(?:version|help|v|V|h|check|test)$/.test(text)) return;
  }
  runInput(draft);
}

function lookIntoCodeWord(name: string, word: Word | undefined, draft: Draft): void {
  if (!word) return;
  if (draft.fills) runInput(draft);
  else if (word.dynamic) draft.runsText = true;
  lookIntoCode(name, word.value, draft);
}

function lookIntoCode(name: string, code: string, draft: Draft): void {
  noteAddresses(code, draft);
  const { deletes, runsFetched, runsInput, runsDecoded } = readCodeHazards(code);
  if (deletes) draft.deletesUnknown.add(name);
  if (runsFetched) draft.downloads.add(name);
  if (runsDecoded) draft.decoders.add(name);
  if (runsFetched || runsDecoded) draft.runsText = true;
  if (runsInput) runInput(draft);
}

function lookAtShx(rest: readonly Word[], draft: Draft): void {
  if (rest[0]?.value === "rm") addDeleted("rm", readOperands(rest.slice(1)), draft);
}

function lookForCommands(name: string, rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  const takesInput = /^(?:at|batch)$/.test(name) || rest.some((word) => word.value === "-");
  if ((takesInput && !/^(?:awk|gawk|mawk|nawk|sed|find)$/.test(name)) || /\bsystem\s*\(|\|\s*"/.test(text))
    runInput(draft);
  const at = rest.findIndex(({ value }) => /^(?:-f|--file|--makefile)$/.test(value));
  if (at >= 0 && /awk$|make$/.test(name)) runFile(rest[at + 1], draft);
  if (/^(?:at|batch|crontab)$/.test(name) && rest.some(({ raw }) => raw.startsWith("<(")))
    runSubstituted(draft);
  if (/(?:^|[\s'"`(;|&!])(?:rm|unlink|shred|rimraf)\s+["']?[-\w./~*$]/.test(text) && name !== "find")
    draft.deletesUnknown.add(name);
  if (MENTIONS_DOWNLOAD.test(text) && MENTIONS_RUNNER.test(text) && name !== "sed") {
    draft.downloads.add(name);
    draft.runsText = true;
  }
}

function lookAtDownload(name: string, rest: readonly Word[], draft: Draft): void {
  draft.downloads.add(name);
  for (const saved of nameDownloads(name, rest)) draft.saved.add(saved);
}

function lookAtFetching(name: string, rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  if (!FETCHERS.get(name)?.test(text)) return;
  draft.downloads.add(name);
  if (!/\b(?:api|cat|view)\b|(?:^| )-$/.test(text)) draft.saved.add(null);
}

function lookAtFind(rest: readonly Word[], draft: Draft): void {
  const first = rest.findIndex((word) => /^[-(!]/.test(word.value) && !/^-[HLPOD]/.test(word.value));
  const starts = (first < 0 ? rest : rest.slice(0, first)).filter((word) => !word.value.startsWith("-"));
  const names = starts.length > 0 ? starts : [makePlainWord(".")];
  const globs = first < 0 ? null : findGlobs(rest.slice(first));
  const found = names.flatMap((start) => {
    const folder = start.dynamic ? "." : start.value.replace(/\/+$/, "");
    return globs?.map((glob) => ({ ...start, value: `${folder}/${glob}` })) ?? [start];
  });
  draft.findStarts.push(...found.map((word) => (word.dynamic ? "." : word.value)));
  if (rest.some((word) => word.value === "-delete")) addDeleted("find", found, draft);
}

function lookAtFd(rest: readonly Word[], draft: Draft): void {
  const at = rest.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(word.value));
  if (at < 0) return;
  draft.fills = true;
  const [program, ...words] = rest.slice(at + 1);
  if (program) lookAtProgram(program.value, words, draft);
}

function lookAtGit(rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  if (/\balias\./.test(text)) mention(`git ${text}`, draft);
  const { subcommand, words, folders, deletes, discards, drops, clones } = readGitHazards(rest, {
    isFilledIn: draft.fills,
  });
  for (const folder of folders) enter(folder, draft);
  if (clones !== undefined) {
    draft.downloads.add("git clone");
    if (clones === null) draft.saved.add(null);
    else draft.cloned.add(cutFolder(clones));
  }
  if (subcommand === "mv") lookAtMove(words, readOperands(words), draft);
  if (deletes.length > 0) addDeleted(`git ${subcommand}`, deletes, draft);
  for (const word of discards) draft.discards.add(word.dynamic ? ":/" : word.value);
  // These run commands that stand among their words.
  if (/^(?:bisect|filter-branch|rebase|submodule)$/.test(subcommand ?? "")) {
    lookForCommands("git", words, draft);
    mention(text, draft);
  }
  if (drops) draft.drops.add(`git ${subcommand} ${words[0]?.value ?? ""}`.trim());
}

function lookAtRsync(rest: readonly Word[], operands: readonly Word[], draft: Draft): void {
  if (operands.some((word) => /^[\w.@-]+:|^rsync:/.test(word.value))) {
    draft.downloads.add("rsync");
    draft.saved.add(null);
  }
  const target = operands.at(-1);
  const isRemote = /^[\w.@-]+:|^rsync:/.test(target?.value ?? "");
  if (rest.some((word) => /^--del/.test(word.value)) && target && !isRemote)
    addDeleted("rsync", [target], draft);
  if (rest.some((word) => word.value === "--remove-source-files"))
    addDeleted("rsync", operands.slice(0, -1), draft);
}

function lookAtMove(rest: readonly Word[], operands: readonly Word[], draft: Draft): void {
  const at = rest.findIndex((word) => /^(?:-t|--target-directory)$/.test(word.value));
  const glued = rest.find((word) => word.value.startsWith("--target-directory="));
  const target =
    at >= 0 ? rest[at + 1] : glued ? { ...glued, value: glued.value.slice(19) } : operands.at(-1);
  const from = operands.filter((word) => word !== target);
  if (!target) return;
  const isClear = ![target, ...from].some((word) => word.dynamic);
  draft.moves.push({ from: from.map((word) => word.value), to: isClear ? target.value : "*" });
}

/** A move or a forced link puts another file in the place of one that is there. */
function lookAtReplacing(name: string, rest: readonly Word[], draft: Draft): void {
  const keeps = hasOption(rest, /^(?:-[fuvT]*[bin]|--backup|--no-clobber$|--interactive$)/);
  const replaces = name === "mv" ? !keeps : name === "ln" && hasOption(rest, /^(?:-[snrvT]*f|--force$)/);
  const [from, target, ...others] = readOperands(rest);
  if (replaces && from && target && others.length === 0) emptied(target, draft);
}

function addDeleted(program: string, words: readonly Word[], draft: Draft): void {
  draft.deletions++;
  // What stands before a bracket is the beginning of a pattern such as `!(src)`, which is read as words.
  if (draft.fills || words.some((word) => word.dynamic || /[!@+]$/.test(word.value)))
    draft.deletesUnknown.add(program);
  for (const word of words) {
    if (isElsewhere(word)) draft.deletesUnknown.add(program);
    else if (!word.dynamic) draft.deletes.add(word.value);
  }
}

/** A folder that only the shell knows: another user's, or the one before. */
function isElsewhere({ raw }: Word): boolean {
  return /^~[^/+]/.test(raw);
}

function emptied(word: Word | undefined, draft: Draft): void {
  if (word && !word.dynamic && !word.value.startsWith("/dev/")) draft.empties.add(word.value);
}

/** A folder that is known only when the command runs makes every name after it unknown. */
function enter(word: Word | undefined, draft: Draft): void {
  if (word) draft.folders.add(word.dynamic || word.value === "-" || isElsewhere(word) ? "*" : word.value);
}

function runFile(word: Word | undefined, draft: Draft): void {
  if (!word) return;
  if (STDIN_FILE.test(word.value)) runInput(draft);
  else if (/^<\(/.test(word.raw)) runSubstituted(draft);
  else if (REMOTE_TEXT.test(word.value)) runDownload(word.value, draft);
  else draft.runsFiles.add(word.dynamic || word.odd ? null : word.value);
}

function noteAddresses(text: string, draft: Draft): void {
  for (const [address] of text.matchAll(ADDRESS)) {
    const host = URL.parse(address)?.host;
    if (host) draft.addresses.add(host);
  }
}
