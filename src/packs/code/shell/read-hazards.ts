import type { ProgramCall, Redirection } from "../../../permissions/patterns/command-part.ts";
import type { Word } from "../../../permissions/patterns/shell-word.ts";
import { readCommand } from "../../../permissions/patterns/split-command.ts";
import { cutFolder, makePlainWord, nameProgram, readOperands } from "./command-words.ts";
import { readGitHazards } from "./git-hazards.ts";

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
};

/** Text that runs unread: downloaded, from these places as far as they are named, or made by a program such as base64. */
export type Unread = { readonly by: "download" | "decoding"; readonly from: readonly string[] };

type Draft = {
  deletes: Set<string>;
  empties: Set<string>;
  moves: { from: string[]; to: string }[];
  discards: Set<string>;
  drops: Set<string>;
  folders: Set<string>;
  deletesUnknown: Set<string>;
  /** How many calls were found that delete. */
  deletions: number;
  /** Programs that bring bytes from outside, and the addresses they are given. */
  downloads: Set<string>;
  addresses: Set<string>;
  /** Names that downloads are saved under; null for one that is not known. */
  saved: Set<string | null>;
  /** Programs that can carry a downloaded file elsewhere. */
  relays: boolean;
  decoders: Set<string>;
  /** Something runs text that is not in the command. */
  runsText: boolean;
  /** A shell runs text that is in the command. */
  runsHeld: boolean;
  /** Files that are run; null for one that is not known. */
  runsFiles: Set<string | null>;
  /** Arguments are filled in from elsewhere. */
  fills: boolean;
  findStarts: string[];
  /** Texts in the command that may be handed to a shell. */
  texts: string[];
};

const SHELLS = new Set(["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"]);
/** Interpreters with the options by which they take their program as text. */
const INTERPRETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["bun", ["-e", "--eval", "-p", "--print"]],
  ["deno", []],
  ["lua", ["-e"]],
  ["luajit", ["-e"]],
  ["node", ["-e", "--eval", "-p", "--print", "-pe"]],
  ["nodejs", ["-e", "--eval", "-p", "--print", "-pe"]],
  ["osascript", ["-e"]],
  ["perl", ["-e", "-E"]],
  ["php", ["-r"]],
  ["powershell", ["-c", "-command"]],
  ["pwsh", ["-c", "-command"]],
  ["pypy", ["-c"]],
  ["python", ["-c"]],
  ["rscript", ["-e"]],
  ["ruby", ["-e"]],
  ["tclsh", []],
  ["ts-node", ["-e", "--eval"]],
  ["tsx", ["-e", "--eval"]],
]);
/** Interpreters whose options take the next word with them. */
const VALUED = /^(-m|-W|-X|-I|-r|-C|--require|--import|--loader|--env-file|--conditions)$/;
const DELETERS = new Set(["rimraf", "rm", "shred", "srm", "unlink", "wipe"]);
const DOWNLOADERS = new Set(
  "aria2c axel curl curlie elinks fetch ftp get http https httpie lftp links lwp-download lwp-request lynx nc ncat netcat scp sftp socat telnet tftp w3m wget wget2 xh xhs".split(
    " ",
  ),
);
const DECODERS = new Set(
  "base32 base64 basenc gunzip openssl rev uudecode uncompress xxd xzcat zcat zstdcat".split(" "),
);
/** Programs that write what they are given to another name. */
const RELAYS = new Set(
  "7z bsdtar bunzip2 busybox cp cpio dd gunzip gzip install ln mv patch rename rsync sponge split tar tee unar unzip unxz xz zstd".split(
    " ",
  ),
);
/** Programs whose arguments may hold commands. */
const HOLDS_COMMANDS = new Set(
  "at awk batch crontab ed emacs ex expect find gawk gdb gmake m4 make mawk nawk nvim perl script sed sqlite3 ssh su screen tmux vi vim".split(
    " ",
  ),
);
const PACKAGE_RUNNERS = new Set([
  "bunx",
  "npx",
  "npm",
  "pnpm",
  "pnpx",
  "yarn",
  "bun",
  "corepack",
  "uvx",
  "pipx",
]);

const ADDRESS = /\b(?:https?|ftp):\/\/[^\s'"`<>|;)]+/gi;
const REMOTE = /^(?:https?:|ftp:|git\+|github:|gitlab:|gist:)/i;
const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;
const STDIN_FILE = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;
const DELETES_IN_CODE =
  /\b(?:rmtree|removedirs|unlink(?:Sync|_to)?|rmSync|rm_rf?|rm_f|remove_tree|remove_entry(?:_secure)?|rimraf|delete_?file|deleteRecursively|Remove-Item)\b|\bos\.(?:remove|rmdir)\b|\bfs(?:p|Promises|\.promises)?\.rm\b|\b(?:File|Dir|FileUtils)\.(?:delete|rm\w*|unlink)\b|\bpromises'?\)?\.rm\b|\bDeno\.remove|\bdel\s+\/|(?:^|[\s'"`([;&|])rm['"`,]?\s+['"]?[-\w./~*$]|['"`]rm['"`]/;
const FETCHES_IN_CODE =
  /\b(?:fetch|urlopen|urlretrieve|requests|httpx|aiohttp|urllib\w*|https?\.get|file_get_contents|open-uri|URI\.open|Net::HTTP|LWP|HTTP::Tiny|curl|wget|DownloadString|Invoke-WebRequest|iwr|irm)\b|socket|https?:\/\//i;
const RUNS_IN_CODE =
  /\b(?:eval|exec\w*|compile|Function|vm\.|runIn\w+|system|spawn\w*|popen|child_process|subprocess|instance_eval|class_eval|loadstring|iex|Invoke-Expression|passthru|shell_exec)\b|\bimport\s*\(|`/;
const READS_INPUT_IN_CODE =
  /stdin|STDIN|readFileSync\(\s*0|\/dev\/stdin|<>|php:\/\/input|\binput\(|\bgets\b|\bARGF\b/;
/** Words by which a text that is not understood gives itself away. */
const MENTIONS_DELETION =
  /(?:^|[^\w.-])(?:rm|unlink|shred|rimraf|rmtree)(?![\w.-])|(?:^|\s)-delete\b|\bgit\s+(?:\S+\s+)*clean\b|--delete\b/;
const MENTIONS_DOWNLOAD =
  /(?:^|[^\w-])(?:curl|wget|aria2c|ncat|nc|socat)(?![\w-])|\bhttps?:\/\/|\/dev\/(?:tcp|udp)\//;
const MENTIONS_RUNNER =
  /(?:^|[^\w.-])(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|eval|source)(?![\w-])/;

const MAX_DEPTH = 6;
const MAX_VARIANTS = 8;

/** Reads what a shell text would delete, and what it would run that cannot be read before. */
export function readHazards(command: string): Hazards {
  const draft: Draft = {
    deletes: new Set(),
    empties: new Set(),
    moves: [],
    discards: new Set(),
    drops: new Set(),
    folders: new Set(),
    deletesUnknown: new Set(),
    deletions: 0,
    downloads: new Set(),
    addresses: new Set(),
    saved: new Set(),
    relays: false,
    decoders: new Set(),
    runsText: false,
    runsHeld: false,
    runsFiles: new Set(),
    fills: false,
    findStarts: [],
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
  };
}

function unreadIn(draft: Draft): Unread[] {
  const runs: Unread[] = [];
  if (draft.downloads.size > 0 && (draft.runsText || runsSaved(draft))) {
    const from = draft.addresses.size > 0 ? draft.addresses : draft.downloads;
    runs.push({ by: "download", from: [...from] });
  }
  if (draft.decoders.size > 0 && draft.runsText) runs.push({ by: "decoding", from: [...draft.decoders] });
  return runs;
}

/** Whether a file that is run may be what was downloaded: by its name, or because something may have carried it there. */
function runsSaved({ runsFiles, saved, relays }: Draft): boolean {
  if (runsFiles.size === 0) return false;
  if (relays || saved.has(null) || (saved.size > 0 && runsFiles.has(null))) return true;
  return [...runsFiles].some((file) => file !== null && saved.has(cutFolder(file)));
}

/** The text, and the text with what its own variables hold put in their place. */
function withVariables(command: string): string[] {
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
    for (const text of filledIn(texts[index] ?? "", values)) if (!texts.includes(text)) texts.push(text);
  }
  return texts;
}

function filledIn(text: string, values: ReadonlyMap<string, readonly string[]>): string[] {
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

function collect(text: string, draft: Draft, depth: number): void {
  if (depth > MAX_DEPTH) {
    mention(text, draft);
    return;
  }
  const { calls, opaque } = readCommand(text);
  const from = draft.texts.length;
  let understood = 0;
  for (const call of calls) {
    const before = draft.deletions;
    look(call, draft);
    const isPlain = MENTIONS_DELETION.test(call.words.map((word) => word.raw).join(" "));
    if (draft.deletions > before && isPlain) understood++;
  }
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
  if (MENTIONS_DOWNLOAD.test(plain) && MENTIONS_RUNNER.test(plain)) {
    draft.downloads.add("a text that is not fully understood");
    draft.runsText = true;
    noteAddresses(plain, draft);
  }
}

function look(call: ProgramCall, draft: Draft): void {
  const [program, ...rest] = call.words;
  lookAtRedirections(call, draft);
  for (const word of [...call.words, ...call.assignments]) noteAddresses(word.value, draft);
  if (!program) return;
  if (program.dynamic) {
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

function runsInput(program: string): boolean {
  const name = nameProgram(program);
  return SHELLS.has(name) || interpreterNamed(name) !== undefined;
}

function isFilledIn({ mark, target, body }: Redirection): boolean {
  return mark === "<<<" ? target.dynamic : body !== undefined && /\$\(|`/.test(body);
}

const MAKES_NAMES = /\b(?:echo|printf|rev|tr|cut|sed|awk|base64|xxd)\b/;

function lookAtProgram(program: string, rest: readonly Word[], draft: Draft): void {
  const name = nameProgram(program);
  if (program.includes("/") && !SYSTEM_PROGRAM.test(program)) draft.runsFiles.add(program);
  if (RELAYS.has(name)) draft.relays = true;
  if (DECODERS.has(name) && isDecoding(name, rest)) draft.decoders.add(name);
  if (name === "xargs" || name === "parallel") draft.fills = true;
  if (name === "echo" || name === "printf") lookAtPrinting(name, rest, draft);
  if (DELETERS.has(name)) addDeleted(name, readOperands(rest), draft);
  else if (DOWNLOADERS.has(name)) lookAtDownload(name, rest, draft);
  else if (SHELLS.has(name)) lookAtShell(rest, draft);
  else if (interpreterNamed(name)) lookAtInterpreter(name, rest, draft);
  else if (PACKAGE_RUNNERS.has(name)) lookAtRunner(rest, draft);
  else if (HOLDS_COMMANDS.has(name)) lookForCommands(name, rest, draft);
  lookAtOthers(name, rest, draft);
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
      if (rest.some((word) => word.dynamic)) draft.runsText = true;
      break;
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
      if (rest.some((word) => word.value === "--remove-files")) addDeleted(name, operands, draft);
      break;
    case "mv":
    case "ln":
    case "rename":
      lookAtMove(rest, operands, draft);
      break;
    case "truncate":
      for (const word of operands) emptied(word, draft);
      break;
    case "cp":
      if (operands[0]?.value === "/dev/null") emptied(operands[1], draft);
      break;
    case "dd":
      for (const word of rest)
        if (word.value.startsWith("of=")) emptied({ ...word, value: word.value.slice(3) }, draft);
      break;
    case "tee":
      for (const word of operands) draft.saved.add(word.dynamic ? null : cutFolder(word.value));
      break;
    case "shx":
      lookAtShx(rest, draft);
      break;
  }
}

function lookAtRedirections({ words, redirections }: ProgramCall, draft: Draft): void {
  const name = nameProgram(words[0]?.value ?? "");
  const isSource = DOWNLOADERS.has(name);
  const isRunner = runsInput(name);
  for (const { mark, target, body } of redirections) {
    if (/\/dev\/(?:tcp|udp)\//.test(target.value)) draft.downloads.add(target.value);
    if (body !== undefined) {
      draft.texts.push(body);
      if (isRunner && !SHELLS.has(name)) lookIntoCode(name, body, draft);
    } else if (mark === "<<<") {
      draft.texts.push(target.value);
      if (isRunner && !SHELLS.has(name)) lookIntoCode(name, target.value, draft);
    } else if (mark === "<" && isRunner) runFile(target, draft);
    else if (mark.includes(">") && target.value !== "/dev/null" && !mark.endsWith("&")) {
      if (isSource) draft.saved.add(target.dynamic || target.odd ? null : cutFolder(target.value));
      else if (!/^\d$/.test(target.value)) draft.relays = true;
      const isEmpty = words.length === 0 || name === ":" || name === "true" || isNothing(words);
      if (isEmpty && (mark === ">" || mark === ">|")) emptied(target, draft);
    }
  }
}

function isNothing(words: readonly Word[]): boolean {
  return (
    nameProgram(words[0]?.value ?? "") === "cat" && words[1]?.value === "/dev/null" && words.length === 2
  );
}

function lookAtPrinting(name: string, rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  draft.texts.push(text.replace(/^(?:-[neE]+\s+)+/, "").replaceAll("\\n", "\n"));
  if ((name === "printf" && /%[^%]|\\[x0-7]/.test(text)) || /\\(?:x|0)\d/.test(text))
    draft.decoders.add(name);
}

function isDecoding(name: string, rest: readonly Word[]): boolean {
  if (!/^base|^openssl$|^xxd$/.test(name)) return true;
  return rest.some((word) => /^-(?:[a-z]*[dDr]|-decode)|^enc$/.test(word.value));
}

/** A shell runs the text after `-c`, a file, or what comes in. The first two parts of its text are read elsewhere. */
function lookAtShell(rest: readonly Word[], draft: Draft): void {
  let takesText = false;
  for (const [index, word] of rest.entries()) {
    const text = word.value;
    if (/^[-+]./.test(text)) {
      if (!text.startsWith("--") && text.startsWith("-") && text.includes("c")) takesText = true;
      else if (/^-\w*s/.test(text)) draft.runsText = true;
      continue;
    }
    if (/^[-+]\w*[oO]$/.test(rest[index - 1]?.value ?? "")) continue;
    if (!takesText) runFile(word, draft);
    else if (word.dynamic || draft.fills) draft.runsText = true;
    return;
  }
  draft.runsText = true;
}

function interpreterNamed(name: string): readonly string[] | undefined {
  return INTERPRETERS.get(name) ?? INTERPRETERS.get(name.replace(/[\d.]+$/, ""));
}

/** An interpreter runs text it is given, a module, a file, or what comes in. */
function lookAtInterpreter(name: string, rest: readonly Word[], draft: Draft): void {
  const options = interpreterNamed(name) ?? [];
  if (rest.some((word) => word.raw.startsWith("<("))) draft.runsText = true;
  if (rest.some((word) => REMOTE.test(word.value)) && /^(?:deno|bun)$/.test(name)) {
    draft.downloads.add(name);
    draft.runsText = true;
  }
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
    if (/^-m/.test(text) && name.startsWith("py")) return;
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
  draft.runsText = true;
}

function lookIntoCodeWord(name: string, word: Word | undefined, draft: Draft): void {
  if (!word) return;
  if (word.dynamic || draft.fills) draft.runsText = true;
  lookIntoCode(name, word.value, draft);
}

/** Program text in another language is judged by the names of what it calls. */
function lookIntoCode(name: string, code: string, draft: Draft): void {
  noteAddresses(code, draft);
  if (DELETES_IN_CODE.test(code)) draft.deletesUnknown.add(name);
  if (RUNS_IN_CODE.test(code)) {
    if (FETCHES_IN_CODE.test(code)) draft.downloads.add(name);
    if (FETCHES_IN_CODE.test(code) || READS_INPUT_IN_CODE.test(code)) draft.runsText = true;
  }
}

function lookAtRunner(rest: readonly Word[], draft: Draft): void {
  const remote = rest.find((word) => REMOTE.test(word.value));
  const isInstall = /^(?:i|install|add|ci)$/.test(rest[0]?.value ?? "");
  if (remote && !isInstall) {
    draft.downloads.add(remote.value);
    draft.runsText = true;
  }
  const at = rest.findIndex((word) => /^(?:rimraf|del|del-cli|shx)(?:@.*)?$/.test(word.value));
  if (at < 0 || at > 4) return;
  const found = rest.slice(at + 1);
  if (rest[at]?.value.startsWith("shx")) lookAtShx(found, draft);
  else addDeleted("rimraf", readOperands(found), draft);
}

function lookAtShx(rest: readonly Word[], draft: Draft): void {
  if (rest[0]?.value === "rm") addDeleted("rm", readOperands(rest.slice(1)), draft);
}

function lookForCommands(name: string, rest: readonly Word[], draft: Draft): void {
  const text = rest.map((word) => word.value).join(" ");
  const takesInput = /^(?:at|batch)$/.test(name) || rest.some((word) => word.value === "-");
  if ((takesInput && !/^(?:awk|gawk|mawk|nawk|sed|find)$/.test(name)) || /\bsystem\s*\(|\|\s*"/.test(text))
    draft.runsText = true;
  if (/(?:^|[\s'"`(;|&!])(?:rm|unlink|shred|rimraf)\s+["']?[-\w./~*$]/.test(text) && name !== "find")
    draft.deletesUnknown.add(name);
  if (MENTIONS_DOWNLOAD.test(text) && MENTIONS_RUNNER.test(text) && name !== "sed") {
    draft.downloads.add(name);
    draft.runsText = true;
  }
}

function lookAtDownload(name: string, rest: readonly Word[], draft: Draft): void {
  draft.downloads.add(name);
  if (name !== "curl" && !name.startsWith("wget")) {
    if (
      !/^(?:nc|ncat|netcat|socat|telnet|http|https|httpie|xh|xhs|get|lynx|w3m|links|elinks|lwp-request)$/.test(
        name,
      )
    )
      draft.saved.add(null);
    return;
  }
  let known = name === "curl";
  for (const [index, word] of rest.entries()) {
    const text = word.value;
    const isLong = text.startsWith("--");
    if (name === "curl" && (/^--(?:remote-name|output-dir)/.test(text) || (/^-\w*O/.test(text) && !isLong)))
      draft.saved.add(null);
    const glued =
      name === "curl"
        ? /^(?:-\w*o|--output=)(.+)$/.exec(text)
        : /^(?:-\w*O|--output-document=)(.+)$/.exec(text);
    const isOutput =
      name === "curl" ? /^(?:-\w*o|--output)$/.test(text) : /^(?:-\w*O|--output-document)$/.test(text);
    const file = isOutput
      ? rest[index + 1]
      : glued && !(isLong && !text.includes("="))
        ? { ...word, value: glued[1] ?? "" }
        : undefined;
    if (!file) continue;
    known = true;
    if (file.value !== "-" && file.value !== "/dev/null")
      draft.saved.add(file.dynamic ? null : cutFolder(file.value));
  }
  if (!known) draft.saved.add(null);
}

function lookAtFind(rest: readonly Word[], draft: Draft): void {
  const first = rest.findIndex((word) => /^[-(!]/.test(word.value) && !/^-[HLPOD]/.test(word.value));
  const starts = (first < 0 ? rest : rest.slice(0, first)).filter((word) => !word.value.startsWith("-"));
  const names = starts.map((word) => (word.dynamic ? "." : word.value));
  draft.findStarts.push(...(names.length > 0 ? names : ["."]));
  if (!rest.some((word) => word.value === "-delete")) return;
  addDeleted("find", starts.length > 0 ? starts : [makePlainWord(".")], draft);
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
  if (/\balias\./.test(text)) mention(text, draft);
  const { subcommand, words, folders, deletes, discards, drops, clones } = readGitHazards(rest, {
    isFilledIn: draft.fills,
  });
  for (const folder of folders) enter(folder, draft);
  if (clones !== undefined) {
    draft.downloads.add("git clone");
    draft.saved.add(null);
  }
  if (subcommand === "mv") lookAtMove(words, readOperands(words), draft);
  if (deletes.length > 0) addDeleted(`git ${subcommand}`, deletes, draft);
  for (const word of discards) draft.discards.add(word.dynamic ? ":/" : word.value);
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

function addDeleted(program: string, words: readonly Word[], draft: Draft): void {
  draft.deletions++;
  if (draft.fills || words.some((word) => word.dynamic)) draft.deletesUnknown.add(program);
  for (const word of words) if (!word.dynamic) draft.deletes.add(word.value);
}

function emptied(word: Word | undefined, draft: Draft): void {
  if (word && !word.dynamic && !word.value.startsWith("/dev/")) draft.empties.add(word.value);
}

/** A folder that is known only when the command runs makes every name after it unknown. */
function enter(word: Word | undefined, draft: Draft): void {
  if (word) draft.folders.add(word.dynamic || word.value === "-" ? "*" : word.value);
}

function runFile(word: Word | undefined, draft: Draft): void {
  if (!word) return;
  if (STDIN_FILE.test(word.value) || /^<\(/.test(word.raw)) draft.runsText = true;
  else draft.runsFiles.add(word.dynamic || word.odd ? null : word.value);
}

function noteAddresses(text: string, draft: Draft): void {
  for (const [address] of text.matchAll(ADDRESS)) {
    const host = URL.parse(address)?.host;
    if (host) draft.addresses.add(host);
  }
}
