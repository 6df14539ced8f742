import { splitSentences } from "@retinue/core/text/split-sentences";

/** One numbered line of a file. */
export type SourceLine = { at: number; text: string };

/** Something a file defines, with what its comment says of it. */
export type Definition = {
  path: string;
  at: number;
  name: string;
  signature: string;
  comment: string;
  body: readonly SourceLine[];
};

const DEFINES =
  /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:pub(?:\([^)]*\))?\s+)?(?:public\s+|private\s+|protected\s+|static\s+|abstract\s+|final\s+|async\s+)*(?:function\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|impl|module|namespace|record)\s+\*?([\p{L}_$#][\p{L}\p{N}_$]*)/u;
const METHOD =
  /^\s+(?:public\s+|private\s+|protected\s+|static\s+|async\s+|readonly\s+|override\s+|get\s+|set\s+)*(#?[\p{L}_$][\p{L}\p{N}_$]*)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::\s*[^={;]+)?\{\s*$/u;
const NOT_METHODS = new Set("if for while switch catch function return do else constructor with".split(" "));
const MAX_SIGNATURE = 140;
const MAX_BODY_LINES = 60;

/** Reads what the `read` tool gave: `12<tab>text` lines. */
export function readNumberedLines(result: string): SourceLine[] {
  return [...result.matchAll(/^(\d+)\t(.*)$/gm)].map(([, at, text = ""]) => ({ at: Number(at), text }));
}

/** Reads what `grep` gave: `path:12:text` lines. */
export function readHitLines(result: string): (SourceLine & { path: string })[] {
  return [...result.matchAll(/^(\S.*?):(\d+):(.*)$/gm)].map(([, path = "", at, text = ""]) => ({
    path,
    at: Number(at),
    text,
  }));
}

/** Reads `path:count` lines. */
export function readCounts(result: string): Map<string, number> {
  return new Map(
    [...result.matchAll(/^(.+):(\d+)$/gm)].map(([, path = "", count]): [string, number] => [
      path,
      Number(count),
    ]),
  );
}

/** The definitions in the lines of a file, outermost and methods, each with the comment above it. */
export function readDefinitions(path: string, lines: readonly SourceLine[]): Definition[] {
  const starts = lines.flatMap(({ text }, index) => {
    const name = findDefinedName(text);
    return name === undefined || isLocal(text) ? [] : [{ index, name }];
  });
  return starts.map(({ index, name }) => {
    const line = lines[index] ?? { at: 0, text: "" };
    const signature = line.text.trim().replace(/\s*[{=(]\s*$/, "");
    return {
      path,
      at: line.at,
      name,
      signature: signature.length > MAX_SIGNATURE ? `${signature.slice(0, MAX_SIGNATURE - 1)}…` : signature,
      comment: commentAbove(lines, index) || docstringBelow(lines, index),
      body: lines.slice(index + 1, findEnd(lines, index)),
    };
  });
}

/** Where a definition ends: before the first line that is indented no deeper, or after it if it closes a bracket. */
function findEnd(lines: readonly SourceLine[], index: number): number {
  const most = Math.min(lines.length, index + 1 + MAX_BODY_LINES);
  for (let at = index + 1; at < most; at++) {
    const text = lines[at]?.text ?? "";
    if (text.trim() === "" || measureIndent(lines[at]) > measureIndent(lines[index])) continue;
    if (!/^\s*[)\]}]/.test(text)) return at;
    if (!/[{([=>]\s*$/.test(text)) return at + 1;
  }
  return most;
}

/** The name a line defines, if it defines one. */
export function findDefinedName(text: string): string | undefined {
  const defined = DEFINES.exec(text)?.[1];
  if (defined) return defined;
  const method = METHOD.exec(text)?.[1];
  return method && !NOT_METHODS.has(method) ? method : undefined;
}

function measureIndent(line: SourceLine | undefined): number {
  return line ? line.text.length - line.text.trimStart().length : 0;
}

/** Variables inside of functions tell nothing by themselves. */
function isLocal(text: string): boolean {
  return /^\s+(?:const|let|var|type)\s/.test(text);
}

function commentAbove(lines: readonly SourceLine[], index: number): string {
  const comment: string[] = [];
  for (let at = index - 1; at >= 0; at--) {
    const text = lines[at]?.text.trim() ?? "";
    if (text.startsWith("@") && comment.length === 0) continue;
    if (!/^(?:\/\*|\*|\/\/|#(?!\w*\()|--|"""|''')/.test(text)) break;
    comment.unshift(text);
    if (text.startsWith("/*")) break;
  }
  return plainComment(comment);
}

function docstringBelow(lines: readonly SourceLine[], index: number): string {
  const first = lines[index + 1]?.text.trim() ?? "";
  const quote = /^[rbu]?("""|''')/.exec(first)?.[1];
  if (!quote) return "";
  const body: string[] = [];
  for (const { text } of lines.slice(index + 1, index + 12)) {
    body.push(text.trim());
    if (body.join("\n").split(quote).length > 2) break;
  }
  return plainComment(body.map((text) => text.replaceAll(quote, "").replace(/^[rbu](?=\S)/, "")));
}

/** The words of a comment without its marks and tags. */
function plainComment(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/^(?:\/\*\*?|\*\/|\*|\/\/+!?|#+!?|--+)\s?|\s*\*\/$/g, "").trim())
    .filter((line) => line !== "" && !/^@|^(?:biome|eslint|ts|noqa|pylint|prettier)-|^[-=*]{3,}$/.test(line))
    .join(" ");
}

/** The sentences of a document, without headings, tables, lists of links and code. */
export function splitProse(lines: readonly SourceLine[]): string[] {
  const text = lines
    .map(({ text: line }) => line)
    .join("\n")
    .replace(/```[\s\S]*?(?:```|$)/g, "\n\n")
    .replace(/^---\n[\s\S]*?\n---$/m, "")
    .replace(/^\s*(?:#{1,6}\s.*|\|.*\||!\[.*|<[^>]+>)\s*$/gm, "\n")
    .replace(/^\s*(?:[-*+]|\d+[.)])\s+/gm, "\n\n")
    .replace(/\*\*|__/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return splitSentences(text).filter((sentence) => sentence.split(" ").length >= 4);
}

/** Lines of code as a Markdown block of their own, so that they do not run into the prose around them. */
export function fenceCode(lines: readonly string[], indent = ""): string[] {
  if (lines.length === 0) return [];
  const longest = Math.max(2, ...lines.flatMap((line) => line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return [fence, ...lines, fence].map((line) => (line === "" ? "" : `${indent}${line}`));
}
