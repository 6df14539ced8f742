import { findInner } from "@retinue/core/rights/patterns/inner-command";
import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { findOwn } from "@retinue/core/schema/find-own";
import {
  cutFolder,
  DECODERS,
  DELETERS,
  DOWNLOADERS,
  FETCHERS,
  findInterpreter,
  HOLDS_COMMANDS,
  hasOption,
  makePlainWord,
  nameProgram,
  READS_WORDS,
  RELAYS,
  readOperands,
  runsInput,
  SHELLS,
  STARTS_OTHERS,
  UNPACKERS,
} from "./command-words.ts";
import {
  lookAtDownload,
  lookAtFetching,
  lookAtFind,
  lookAtMove,
  lookAtReplacing,
  lookAtRsync,
  noteWrittenNames,
} from "./file-hazards.ts";
import { readGitCall } from "./git-hazards.ts";
import {
  type Hazards,
  MAX_DEPTH,
  MENTIONS_DOWNLOAD,
  MENTIONS_RUNNER,
  nameSource,
  REMOTE_TEXT,
  STDIN_FILE,
} from "./hazards.ts";
import { readPackageCall } from "./package-calls.ts";

/** A package of Go by the address of its repository. */
const MODULE = /^[\w-]+(?:\.[\w-]+)+\/\S/;
const SYSTEM_PROGRAM = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;

/** Interpreters whose options take the next word with them. */
const VALUED = /^(-m|-W|-X|-I|-r|-C|--require|--import|--loader|--env-file|--conditions)$/;

export function lookAtProgram(program: string, rest: readonly Word[], draft: Hazards): void {
  if (draft.depth >= MAX_DEPTH) {
    draft.noteMentions([program, ...rest.map((word) => word.value)].join(" "));
    return;
  }
  draft.depth++;
  lookInto(program, rest, draft);
  draft.depth--;
}

function lookInto(program: string, rest: readonly Word[], draft: Hazards): void {
  const name = nameProgram(program);
  const copied = draft.names.get(cutFolder(program));
  if (copied !== undefined && nameProgram(copied) !== name) lookAtProgram(copied, rest, draft);
  if (!program.includes("/")) draft.programs.add(program);
  else if (!SYSTEM_PROGRAM.test(program)) draft.runsFiles.add(program);
  if (RELAYS.has(name) || UNPACKERS.has(name)) draft.relays = true;
  if (UNPACKERS.has(name)) draft.unpacks = true;
  if (RELAYS.has(name)) noteWrittenNames(name, rest, draft);
  if (DECODERS.has(name) && isDecoding(name, rest)) draft.decoders.add(name);
  if (name === "xargs" || name === "parallel") draft.fills = true;
  if (name === "parallel" && readOperands(rest, /^-[jkLnNPS]$|^--(?:jobs|delay|timeout)$/).length === 0)
    draft.runInput();
  if (DELETERS.has(name)) draft.addDeleted(name, readOperands(rest));
  else if (DOWNLOADERS.has(name)) {
    lookAtDownload(name, rest, draft);
    if (HOLDS_COMMANDS.has(name)) lookForCommands(name, rest, draft);
  } else if (FETCHERS.has(name)) lookAtFetching(name, rest, draft);
  else if (SHELLS.has(name)) lookAtShell(rest, draft);
  else if (findInterpreter(name)) lookAtInterpreter(name, rest, draft);
  else if (HOLDS_COMMANDS.has(name)) lookForCommands(name, rest, draft);
  if (!lookAtPackages(name, rest, draft)) lookAtStarted(name, rest, draft);
  findOwn(OWN_WAYS, name)?.(rest, draft, name);
}

/** False if a call is none of a package manager that does anything. */
function lookAtPackages(name: string, rest: readonly Word[], draft: Hazards): boolean {
  const call = readPackageCall(name, rest);
  if (!call) return false;
  for (const source of call.sources.map(nameSource)) {
    if (call.does === "installs") draft.packages.add(source);
    else draft.runDownload(source);
  }
  for (const file of call.files) draft.runFile(file);
  if (call.script) draft.texts.push(call.script.value);
  if (call.script) draft.runsHeld = true;
  const { program, words } = call.starts ?? {};
  if (program?.value === "-") draft.runInput();
  else if (program) lookAtProgram(program.value, words ?? [], draft);
  return true;
}

/** A program may start another one in ways of its own: what deletes is then found among its words. */
function lookAtStarted(name: string, rest: readonly Word[], draft: Hazards): void {
  if (READS_WORDS.has(name) || DELETERS.has(name)) return;
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

/** What a program does in a way of its own. */
type OwnWay = (rest: readonly Word[], draft: Hazards, name: string) => void;

const enterOperand: OwnWay = (rest, draft) => draft.noteFolder(readOperands(rest)[0]);
const enterByOption: OwnWay = (rest, draft) => {
  for (const [index, word] of rest.entries())
    if (/^(-C|-D|--chdir)$/.test(word.value)) draft.noteFolder(rest[index + 1]);
};
const runOperand: OwnWay = (rest, draft) => draft.runFile(readOperands(rest)[0]);
const moveOrLink: OwnWay = (rest, draft, name) => {
  lookAtMove(rest, readOperands(rest), draft);
  lookAtReplacing(name, rest, draft);
};
const copyNothing: OwnWay = (rest, draft) => {
  const [from, to] = readOperands(rest);
  if (from?.value === "/dev/null") draft.noteEmptied(to);
};

const OWN_WAYS: Readonly<Record<string, OwnWay>> = {
  cd: enterOperand,
  pushd: enterOperand,
  env: enterByOption,
  sudo: enterByOption,
  source: runOperand,
  ".": runOperand,
  mv: moveOrLink,
  ln: moveOrLink,
  rename: moveOrLink,
  cp: copyNothing,
  install: copyNothing,
  echo: lookAtPrinting,
  printf: lookAtPrinting,
  find: lookAtFind,
  fd: lookAtFd,
  fdfind: lookAtFd,
  git: lookAtGit,
  rsync: lookAtRsync,
  eval: (rest, draft) => {
    if (rest.some((word) => word.dynamic)) draft.runInput();
  },
  go: ([command, ...rest], draft) => {
    const [module] = command?.value === "run" ? readOperands(rest, /^-(?:C|exec|mod|o|p|tags)$/) : [];
    if (module && MODULE.test(module.value)) draft.runDownload(module.value);
  },
  tar: (rest, draft, name) => {
    if (rest.some((word) => word.value.startsWith("--remove-f"))) draft.addDeleted(name, readOperands(rest));
    if (hasOption(rest, /^(?:-\w*O|--to-std)/) || /^\w*x\w*O|^\w*O\w*x/.test(rest[0]?.value ?? ""))
      draft.decoders.add(name);
  },
  unzip: (rest, draft, name) => {
    if (hasOption(rest, /^-\w*[pc]/)) draft.decoders.add(name);
  },
  truncate: (rest, draft) => {
    for (const word of readOperands(rest)) draft.noteEmptied(word);
  },
  dd: (rest, draft) => {
    for (const word of rest)
      if (word.value.startsWith("of=")) draft.noteEmptied({ ...word, value: word.value.slice(3) });
  },
  shx: ([command, ...rest], draft) => {
    if (command?.value === "rm") draft.addDeleted("rm", readOperands(rest));
  },
};

/** A shell runs the text after `-c`, a file, or what comes in. The first two parts of its text are read elsewhere. */
function lookAtShell(rest: readonly Word[], draft: Hazards): void {
  let takesText = false;
  // It only looks whether the text is a right one.
  if (rest.some(({ value }) => /^-[a-z]*n[a-z]*$/.test(value) || value === "--noexec")) return;
  for (const [index, word] of rest.entries()) {
    const text = word.value;
    if (/^[-+]./.test(text)) {
      if (!text.startsWith("--") && text.startsWith("-") && text.includes("c")) takesText = true;
      else if (/^-\w*s/.test(text)) draft.runInput();
      continue;
    }
    if (/^[-+]\w*[oO]$/.test(rest[index - 1]?.value ?? "")) continue;
    if (!takesText) draft.runFile(word);
    else if (draft.fills) draft.runInput();
    else if (word.dynamic) draft.runsText = true;
    return;
  }
  draft.runInput();
}

/** An interpreter runs text it is given, a module, a file, or what comes in. */
function lookAtInterpreter(name: string, rest: readonly Word[], draft: Hazards): void {
  const options = findInterpreter(name) ?? [];
  if (rest.some((word) => word.raw.startsWith("<("))) draft.runSubstituted();
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
    if (loaded !== undefined && REMOTE_TEXT.test(loaded)) draft.runDownload(nameSource(loaded));
    if (VALUED.test(text)) index++;
    else if (!text.startsWith("-") || STDIN_FILE.test(text)) {
      if (/^(?:run|eval|test|repl|x|install|task)$/.test(text) && /^(?:deno|bun)$/.test(name)) {
        if (text === "eval") lookIntoCodeWord(name, rest[index + 1], draft);
        if (text !== "run") return;
        continue;
      }
      draft.runFile(word);
      return;
    } else if (/^--?(?:version|help|v|V|h|check|test)$/.test(text)) return;
  }
  draft.runInput();
}

function lookIntoCodeWord(name: string, word: Word | undefined, draft: Hazards): void {
  if (!word) return;
  if (draft.fills) draft.runInput();
  else if (word.dynamic) draft.runsText = true;
  lookIntoCode(name, word.value, draft);
}

export function lookIntoCode(name: string, code: string, draft: Hazards): void {
  draft.noteAddresses(code);
  const { deletes, runsFetched, runsInput, runsDecoded } = readCodeHazards(code);
  if (deletes) draft.deletesUnknown.add(name);
  if (runsFetched) draft.downloads.add(name);
  if (runsDecoded) draft.decoders.add(name);
  if (runsFetched || runsDecoded) draft.runsText = true;
  if (runsInput) draft.runInput();
}

export function lookForCommands(name: string, rest: readonly Word[], draft: Hazards): void {
  const text = rest.map((word) => word.value).join(" ");
  const takesInput = /^(?:at|batch)$/.test(name) || rest.some((word) => word.value === "-");
  if ((takesInput && !/^(?:awk|gawk|mawk|nawk|sed|find)$/.test(name)) || /\bsystem\s*\(|\|\s*"/.test(text))
    draft.runInput();
  const at = rest.findIndex(({ value }) => /^(?:-f|--file|--makefile)$/.test(value));
  if (at >= 0 && /awk$|make$/.test(name)) draft.runFile(rest[at + 1]);
  if (/^(?:at|batch|crontab)$/.test(name) && rest.some(({ raw }) => raw.startsWith("<(")))
    draft.runSubstituted();
  if (/(?:^|[\s'"`(;|&!])(?:rm|unlink|shred|rimraf)\s+["']?[-\w./~*$]/.test(text) && name !== "find")
    draft.deletesUnknown.add(name);
  if (MENTIONS_DOWNLOAD.test(text) && MENTIONS_RUNNER.test(text) && name !== "sed") {
    draft.downloads.add(name);
    draft.runsText = true;
  }
}

function lookAtFd(rest: readonly Word[], draft: Hazards): void {
  const at = rest.findIndex((word) => /^(?:-x|-X|--exec|--exec-batch)$/.test(word.value));
  if (at < 0) return;
  draft.fills = true;
  const [program, ...words] = rest.slice(at + 1);
  if (program) lookAtProgram(program.value, words, draft);
}

function lookAtGit(rest: readonly Word[], draft: Hazards): void {
  const text = rest.map((word) => word.value).join(" ");
  if (/\balias\./.test(text)) draft.noteMentions(`git ${text}`);
  const { name, words } = readGitCall(rest, draft);
  // These run commands that stand among their words.
  if (/^(?:bisect|filter-branch|rebase|submodule)$/.test(name)) {
    lookForCommands("git", words, draft);
    draft.noteMentions(text);
  }
}

function lookAtPrinting(rest: readonly Word[], draft: Hazards, name: string): void {
  const text = rest.map((word) => word.value).join(" ");
  draft.texts.push(text.replace(/^(?:-[neE]+\s+)+/, "").replaceAll("\\n", "\n"));
  if ((name === "printf" && /%[^%]|\\[x0-7]/.test(text)) || /\\(?:x|0)\d/.test(text))
    draft.decoders.add(name);
}

export function isDecoding(name: string, rest: readonly Word[]): boolean {
  if (!/^base|^(?:age|gpg|openssl|xxd)$/.test(name)) return true;
  return rest.some((word) => /^-(?:[a-z]*[dDr]|-decode|-decrypt)|^enc$/.test(word.value));
}

/** What program text in another language than the shell's does, by the names of what it calls. */
type CodeHazards = {
  readonly deletes: boolean;
  /** It runs text, and brings that from outside. */
  readonly runsFetched: boolean;
  /** It runs text that comes in. */
  readonly runsInput: boolean;
  /** It runs text that it decodes first. */
  readonly runsDecoded: boolean;
};

const DELETES = new RegExp(
  [
    String.raw`\b(?:rmtree|removedirs|unlink(?:Sync|_to)?|rm(?:dir)?Sync|rm_rf?|rm_f|remove_tree|remove_entry(?:_secure)?|rimraf|delete_?file|deleteRecursively|Remove-Item)\b`,
    String.raw`\bos['"]?\)?\.(?:remove|rmdir)\b|\bfrom\s+os\s+import\b[^;\n]*\b(?:remove|rmdir)\b`,
    String.raw`\bfs(?:p|Promises|\.promises)?\.rm\b|\bpromises['"]?\)?\.rm\b|\{[^{}]*\brm\b[^{}]*\}\s*(?:=|from\b)`,
    String.raw`\b(?:File|Dir|FileUtils)\.(?:delete|rm\w*|unlink)\b|\bDeno\.remove|\bdel\s+\/`,
    // A command that the code starts, as one text or as a list of words.
    String.raw`(?:^|[\s'"\x60([;&|])rm['"\x60,]?\s+['"]?[-\w./~*$]|['"\x60]rm['"\x60]\s*,\s*['"\x60[]`,
  ].join("|"),
);
const FETCHES =
  /\b(?:fetch|urlopen|urlretrieve|requests|httpx|aiohttp|urllib\w*|https?\.get|file_get_contents|open-uri|URI\.open|Net::HTTP|LWP|HTTP::Tiny|curl|wget|DownloadString|Invoke-WebRequest|iwr|irm)\b|socket|https?:\/\//i;
const RUNS =
  /\b(?:eval|exec\w*|compile|Function|vm\.|runIn\w+|system|spawn\w*|popen|child_process|subprocess|instance_eval|class_eval|loadstring|iex|Invoke-Expression|passthru|shell_exec)\b|\bimport\s*\(|`/;
const DECODES =
  /\b(?:b64decode|b32decode|b85decode|decode_base64|decode64|unhexlify|fromhex|base64_decode|atob|gzinflate|unpack1?)\b|['"](?:base64|hex)['"]/;
/** Code that evaluates a text, and not merely uses a word like `exec` for something else. */
const EVALUATES = /(?<![.\w])(?:eval|exec|compile|Function)\b|child_process|subprocess|\bos\.system\b/;
const READS_INPUT =
  /stdin|STDIN|readFileSync\(\s*0|\/dev\/stdin|<>|php:\/\/input|\binput\(|\bgets\b|\bARGF\b/;

/** Reads code as far as names tell what it does. */
function readCodeHazards(code: string): CodeHazards {
  const runs = RUNS.test(code);
  return {
    deletes: DELETES.test(code),
    runsFetched: runs && FETCHES.test(code),
    runsInput: runs && READS_INPUT.test(code),
    runsDecoded: EVALUATES.test(code) && DECODES.test(code),
  };
}
