import type { Word } from "@retinue/core/rights/patterns/shell-word";
import { cutFolder, FETCHERS, hasOption, makePlainWord, readOperands } from "./command-words.ts";
import type { Hazards } from "./hazards.ts";
/** The last name that a program is given, or all names of one that writes several. */
export function noteWrittenNames(name: string, rest: readonly Word[], draft: Hazards): void {
  const operands = name === "dd" ? rest.filter(({ value }) => value.startsWith("of=")) : readOperands(rest);
  for (const { value, dynamic, odd } of name === "tee" ? operands : operands.slice(-1)) {
    if (dynamic || odd) draft.unpacks = true;
    else draft.written.add(cutFolder(value.replace(/^of=/, "")));
  }
}

export function lookAtDownload(name: string, rest: readonly Word[], draft: Hazards): void {
  draft.downloads.add(name);
  for (const saved of nameDownloads(name, rest)) draft.saved.add(saved);
}

export function lookAtFetching(name: string, rest: readonly Word[], draft: Hazards): void {
  const text = rest.map((word) => word.value).join(" ");
  if (!FETCHERS.get(name)?.test(text)) return;
  draft.downloads.add(name);
  if (!/\b(?:api|cat|view)\b|(?:^| )-$/.test(text)) draft.saved.add(null);
}

export function lookAtFind(rest: readonly Word[], draft: Hazards): void {
  const first = rest.findIndex((word) => /^[-(!]/.test(word.value) && !/^-[HLPOD]/.test(word.value));
  const starts = (first < 0 ? rest : rest.slice(0, first)).filter((word) => !word.value.startsWith("-"));
  const names = starts.length > 0 ? starts : [makePlainWord(".")];
  const globs = first < 0 ? null : findGlobs(rest.slice(first));
  const found = names.flatMap((start) => {
    const folder = start.dynamic ? "." : start.value.replace(/\/+$/, "");
    return globs?.map((glob) => ({ ...start, value: `${folder}/${glob}` })) ?? [start];
  });
  draft.findStarts.push(...found.map((word) => (word.dynamic ? "." : word.value)));
  if (rest.some((word) => word.value === "-delete")) draft.addDeleted("find", found);
}

export function lookAtRsync(rest: readonly Word[], draft: Hazards): void {
  const operands = readOperands(rest);
  if (operands.some((word) => /^[\w.@-]+:|^rsync:/.test(word.value))) {
    draft.downloads.add("rsync");
    draft.saved.add(null);
  }
  const target = operands.at(-1);
  const isRemote = /^[\w.@-]+:|^rsync:/.test(target?.value ?? "");
  if (rest.some((word) => /^--del/.test(word.value)) && target && !isRemote)
    draft.addDeleted("rsync", [target]);
  if (rest.some((word) => word.value === "--remove-source-files"))
    draft.addDeleted("rsync", operands.slice(0, -1));
}

export function lookAtMove(rest: readonly Word[], operands: readonly Word[], draft: Hazards): void {
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
export function lookAtReplacing(name: string, rest: readonly Word[], draft: Hazards): void {
  const keeps = hasOption(rest, /^(?:-[fuvT]*[bin]|--backup|--no-clobber$|--interactive$)/);
  const replaces = name === "mv" ? !keeps : name === "ln" && hasOption(rest, /^(?:-[snrvT]*f|--force$)/);
  const [from, target, ...others] = readOperands(rest);
  if (replaces && from && target && others.length === 0) draft.noteEmptied(target);
}

/**
 * Globs below the starting points that hold all that an expression of find can act on; null for everything. Every alternative
 * that acts must have a name; what else it says only leaves some out.
 */
function findGlobs(words: readonly Word[]): string[] | null {
  const values = words.map(({ value }) => value);
  if (values.some((value, at) => /^(?:!|-not)$/.test(value) && values[at + 1] === "(")) return null;
  const isFlat = !values.includes("(");
  const globs: string[] = [];
  let from = 0;
  for (let to = 0; to <= values.length; to++) {
    if (to < values.length && !/^(?:-o|-or|,)$/.test(values[to] ?? "")) continue;
    const acts = values.slice(from, to).some((value) => /^-(?:delete|exec|ok)/.test(value));
    const glob = findGlob(words.slice(from, to));
    if (acts || !isFlat) {
      if (glob === null) return null;
      globs.push(glob);
    }
    from = to + 1;
  }
  return globs;
}

/** The glob of one alternative, by its first name or path. */
function findGlob(words: readonly Word[]): string | null {
  for (const [index, { value }] of words.entries()) {
    const given = words[index + 1];
    if (!given || given.dynamic || /^(?:!|-not)$/.test(words[index - 1]?.value ?? "")) continue;
    if (value === "-name") return `**/${given.value}`;
    if (value === "-iname") return `**/${ignoreCase(given.value)}`;
    // A star in a path goes through folders, so only one that stands for whole folders is as simple here.
    if (value === "-path" && /^(?:\*\/)[^*?[\\]+(?:\/\*)?$/.test(given.value))
      return given.value.replace(/^\*/, "**").replace(/\*$/, "**");
  }
  return null;
}

function ignoreCase(glob: string): string {
  if (/[[\\]/.test(glob)) return "*";
  return glob.replace(/[A-Za-z]/g, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** Programs that print what they bring unless their output is led elsewhere. */
const PRINTS =
  /^(?:dig|drill|kdig|nslookup|ssh|nc|ncat|netcat|socat|telnet|http|https|httpie|xh|xhs|get|lynx|w3m|links|elinks|lwp-request)$/;
/** The server says another name, or a file tells the addresses. */
const NAMED_ELSEWHERE =
  /^(?:-[^-]*[JKimprx]|--(?:remote-header|content-disp|trust-server|input-file|config|mirror|recursive))/;

/** The names that a program saves its downloads under, without folders; null for one that is not known. */
function nameDownloads(program: string, rest: readonly Word[]): (string | null)[] {
  const isCurl = program === "curl";
  if (!isCurl && !program.startsWith("wget")) return PRINTS.test(program) ? [] : [null];
  const files = rest.flatMap((word, index) => {
    const glued = (isCurl ? /^(?:-[^-]*o|--output=)(.+)$/ : /^(?:-[^-]*O|--output-document=)(.+)$/).exec(
      word.value,
    );
    const isOption = (isCurl ? /^(?:-\w*o|--output)$/ : /^(?:-\w*O|--output-document)$/).test(word.value);
    return (isOption ? rest[index + 1] : glued && { ...word, value: glued[1] ?? "" }) ?? [];
  });
  const names = files
    .filter(({ value }) => value !== "-" && value !== "/dev/null")
    .map(({ value, dynamic }) => (dynamic ? null : cutFolder(value)));
  const keepsName = isCurl ? hasOption(rest, /^(?:-[^-]*O|--remote-name)/) : files.length === 0;
  return keepsName ? [...names, ...nameFromAddresses(rest)] : names;
}

/** The names that addresses give to files. */
function nameFromAddresses(rest: readonly Word[]): (string | null)[] {
  const addresses = rest.filter(({ value }) => /^(?:https?|ftp):\/\/|^[\w-]+(?:\.[\w-]+)+\//i.test(value));
  const isUnknown = addresses.length === 0 || addresses.some((word) => word.dynamic);
  if (isUnknown || hasOption(rest, NAMED_ELSEWHERE)) return [null];
  return addresses.flatMap(({ value }) => {
    const path = value.replace(/^\w+:\/\//, "").replace(/#.*$/, "");
    const name = path.includes("/") ? cutFolder(path.replace(/\?.*$/, "")) : "";
    // Some programs keep the query in the name.
    return [name || "index.html", cutFolder(path)];
  });
}
