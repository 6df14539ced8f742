import type { Feed, ProgramCall } from "@retinue/core/rights/patterns/command-part";
import { findInner } from "@retinue/core/rights/patterns/inner-command";
import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { hasOption, nameProgram, PASSES_ON, readOperands, SILENT } from "./command-words.ts";

/** A file that is there under another name, both without their folders. */
type ProgramCopy = { readonly from: string; readonly to: string };

/** What in a command a person should know of before it runs, and what is known of it while it is read. */
export class Hazards {
  /** The calls of the text that is read now, and the one that is looked at. */
  calls: readonly ProgramCall[] = [];
  call: ProgramCall | null = null;
  /** What comes in to it. */
  feed: Feed | null = null;
  /** Programs whose output is run, and files whose text is piped into a program that runs it. */
  readonly sources = new Set<string>();
  readonly inputs = new Set<string>();
  /** What it copies, links or moves. */
  readonly copies: ProgramCopy[] = [];
  /** The programs that other names stand for. */
  readonly names: Map<string, string>;
  /** Variables whose values are known only when the command runs. */
  readonly unknown: ReadonlySet<string>;
  /** Files and folders that it deletes, by name or pattern. */
  readonly deletes = new Set<string>();
  readonly empties = new Set<string>();
  /** What it moves or links, and where to. */
  readonly moves: { from: string[]; to: string }[] = [];
  /** Files and folders in which it puts back what git has, so that changes are lost which are not committed. */
  readonly discards = new Set<string>();
  /** Calls of git that throw away what only git keeps, such as a stash. */
  readonly drops = new Set<string>();
  /** Folders that it changes into; names are relative to one of them or to where it starts. */
  readonly folders = new Set<string>();
  /** Programs that delete what cannot be told from the text. */
  readonly deletesUnknown = new Set<string>();
  /** How many calls were found that delete. */
  deletions = 0;
  /** Addresses and repositories that packages are installed from. */
  readonly packages = new Set<string>();
  /** Programs that bring bytes from outside, and the addresses they are given. */
  readonly downloads = new Set<string>();
  readonly addresses = new Set<string>();
  /** Names that downloads are saved under, without their folders; null for one that is not known. */
  readonly saved = new Set<string | null>();
  /** Folders that repositories are cloned into. */
  readonly cloned = new Set<string>();
  /** Names that anything else is written to, which may have been downloaded. */
  readonly written = new Set<string>();
  /** Something is written, so that a file that runs later may hold what is in the command. */
  relays = false;
  /** Something is unpacked, or written otherwise, to names that are not known. */
  unpacks = false;
  readonly decoders = new Set<string>();
  /** Names that decoded text is saved under. */
  readonly decoded = new Set<string | null>();
  /** Something runs text that is not in the command. */
  runsText = false;
  /** A shell runs text that is in the command. */
  runsHeld = false;
  /** Files that are run; null for one that is not known. */
  readonly runsFiles = new Set<string | null>();
  /** Programs that are run by their bare names. */
  readonly programs = new Set<string>();
  /** All words, without their folders. */
  readonly mentions = new Set<string>();
  /** Arguments are filled in from elsewhere. */
  fills = false;
  readonly findStarts: string[] = [];
  /** How many programs have started the one that is looked at. */
  depth = 0;
  /** Texts in the command that may be handed to a shell. */
  readonly texts: string[] = [];

  /** `names` are those that earlier commands gave to programs. */
  constructor(names: ReadonlyMap<string, string>, unknown: ReadonlySet<string>) {
    this.names = new Map(names);
    this.unknown = unknown;
  }

  addDeleted(program: string, words: readonly Word[]): void {
    this.deletions++;
    // What is before a bracket is the beginning of a pattern such as `!(src)`, which is read as words.
    if (this.fills || words.some((word) => word.dynamic || /[!@+]$/.test(word.value)))
      this.deletesUnknown.add(program);
    for (const word of words) {
      if (isElsewhere(word)) this.deletesUnknown.add(program);
      else if (!word.dynamic) this.deletes.add(word.value);
    }
  }

  /** Words that are filled in from elsewhere may name anything. */
  noteDiscarded(words: readonly Word[]): void {
    if (words.length === 0 && this.fills) this.discards.add(":/");
    for (const word of words) this.discards.add(word.dynamic ? ":/" : word.value);
  }

  noteEmptied(word: Word | undefined): void {
    if (word && !word.dynamic && !word.value.startsWith("/dev/")) this.empties.add(word.value);
  }

  /** A folder that is known only when the command runs makes every name after it unknown. */
  noteFolder(word: Word | undefined): void {
    if (word) this.folders.add(word.dynamic || word.value === "-" || isElsewhere(word) ? "*" : word.value);
  }

  noteAddresses(text: string): void {
    for (const [address] of text.matchAll(ADDRESS)) {
      const host = URL.parse(address)?.host;
      if (host) this.addresses.add(host);
    }
  }

  /** A text that is not understood is judged by the words in it, less the deletions that were understood all the same. */
  noteMentions(text: string, understood = 0): void {
    const plain = text.replace(/\\\n/g, "").replace(/['"\\]/g, "");
    if ((plain.match(new RegExp(MENTIONS_DELETION, "g"))?.length ?? 0) > understood)
      this.deletesUnknown.add("a text that is not fully understood");
    if (/\bgit\b/.test(plain) && MENTIONS_DISCARD.test(plain)) this.discards.add(":/");
    if (MENTIONS_DROP.test(plain)) this.drops.add("git stash");
    if (MENTIONS_DOWNLOAD.test(plain) && MENTIONS_RUNNER.test(plain)) {
      this.downloads.add("a text that is not fully understood");
      this.runsText = true;
      this.noteAddresses(plain);
    }
  }

  runFile(word: Word | undefined): void {
    if (!word) return;
    if (STDIN_FILE.test(word.value)) this.runInput();
    else if (/^<\(/.test(word.raw)) this.runSubstituted();
    else if (REMOTE_TEXT.test(word.value)) this.runDownload(word.value);
    else this.runsFiles.add(word.dynamic || word.odd ? null : word.value);
  }

  runDownload(from: string): void {
    this.downloads.add(from);
    this.runsText = true;
  }

  /** A program runs what comes in: whatever prints that must be known, or a file that can be looked up. */
  runInput(): void {
    this.runsText = true;
    // One reason is enough, and looking on would take for ever with thousands of pipes.
    for (let { feed } = this; feed && this.sources.size === 0; feed = feed.outer)
      for (const call of this.calls.slice(feed.from, feed.to)) this.#noteSource(call);
  }

  /** Runs what the calls in the words of the current one print, as in `sh <(…)`. */
  runSubstituted(): void {
    this.runsText = true;
    const { call, calls } = this;
    const at = call ? calls.indexOf(call) : -1;
    if (call && at > call.first) for (const inner of calls.slice(call.first, at)) this.#noteSource(inner);
  }

  /** What a call prints is known if it is in the command, or in a file that git has. */
  #noteSource(call: ProgramCall): void {
    const [program, ...rest] = call.words;
    for (const { mark, target } of call.redirections)
      if (mark === "<" || mark === "<>") this.#noteInput(target);
    if (!program) return;
    const name = program.dynamic ? program.raw : nameProgram(program.value);
    if (SILENT.has(name)) return;
    if (name === "echo" || name === "printf") {
      if (rest.some((word) => word.dynamic && namesVariable(word, this.unknown))) this.sources.add(name);
    } else if (PASSES_ON.has(name)) {
      if (name === "tee") return;
      const isGrep = name.endsWith("grep");
      const operands = readOperands(rest, isGrep ? /^-[efmABC]$/ : /^-[nc]$/);
      const hasPattern = isGrep && !hasOption(rest, /^(?:-\w*[ef]|--regexp|--file)/);
      for (const word of hasPattern ? operands.slice(1) : operands) this.#noteInput(word);
    } else if (name === "git" && /^(?:show|cat-file)$/.test(rest[0]?.value ?? "")) return;
    else if (name === "xargs" || findInner(call.words).commands.length === 0) this.sources.add(name);
  }

  #noteInput(word: Word): void {
    if (STDIN_FILE.test(word.value) || word.value === "/dev/null" || word.raw.startsWith("<(")) return;
    if (word.dynamic || word.odd) this.sources.add(word.raw);
    else this.inputs.add(word.value);
  }
}

const ADDRESS = /\b(?:https?|ftp):\/\/[^\s'"`<>|;)]+/gi;

/** Program text that is not a file: an address, or the text itself in a form that nobody reads. */
export const REMOTE_TEXT = /^(?:https?|ftp|data):/i;

export const STDIN_FILE = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;

/** Words by which a text that is not understood gives itself away. */
export const MENTIONS_DELETION =
  /(?:^|[^\w.-])(?:rm|unlink|shred|rimraf|rmtree)(?![\w.-])|(?:^|\s)-delete\b|\bgit\s+(?:\S+\s+){0,6}clean\b|--delete\b/;

const MENTIONS_DISCARD =
  /\breset\s+(?:\S+\s+){0,3}--(?:hard|merge)\b|\b(?:checkout|switch)\s+(?:-f\b|--|\.)|\brestore\s/;

const MENTIONS_DROP = /\bstash\s+(?:drop|clear)\b/;

export const MENTIONS_DOWNLOAD =
  /(?:^|[^\w-])(?:curl|wget|aria2c|ncat|nc|socat)(?![\w-])|\bhttps?:\/\/|\/dev\/(?:tcp|udp)\//;

export const MENTIONS_RUNNER =
  /(?:^|[^\w.-])(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|eval|source)(?![\w-])/;

export const MAX_DEPTH = 6;

export function namesVariable(word: Word, names: ReadonlySet<string>): boolean {
  return [...word.raw.matchAll(/\$\{?[!#]?(\w+)/g)].some(([, name]) => names.has(name ?? ""));
}

/** An address by its host, anything else as it is. */
export function nameSource(source: string): string {
  const [address = ""] = source.match(ADDRESS) ?? [];
  return URL.parse(address)?.host || source;
}

/** A folder that only the shell knows: another user's, or the one before. */
function isElsewhere({ raw }: Word): boolean {
  return /^~[^/+]/.test(raw);
}
