import { CONTEXT_WORDS } from "../../schema/agent.ts";
import { classifyKey, findKey, normalKey, suggestKey } from "../fields/field-names.ts";
import { MAX_FRONTMATTER_CHARS, parseYaml, type YamlFault, type YamlFields } from "./parse-yaml.ts";
import { normaliseText, splitFrontmatter } from "./split-frontmatter.ts";

/** One field that strict YAML refused, and the lines that would have said it right. */
export type Repair = { key: string; line: number; endLine: number; lines: string[]; cause: string };

/** Rescued fields with what was repaired, or the faults nobody can guess around. */
export type RepairResult = { fields: YamlFields; repairs: Repair[] } | { faults: YamlFault[] };

/** More fields than any agent has: the text is something else. */
const MAX_BLOCKS = 200;
const KEY_LINE = /^(["']?)([A-Za-z$][\w-]*)\1[ \t]*:/;
/** What makes a field depend on others, so that it cannot be read alone. */
const MERGE_KEY = /(?:^|[\s{,[])<<[ \t]*:/;
const ANCHOR = /(?<![^\s,:[{-])&([^\s,[\]{}]+)/g;
/** Words that open a line of an example dialogue inside a description. */
const DIALOGUE = /^(?:user|assistant|context|commentary|system|human|ai|examples?|notes?|input|output)$/i;
/** The one of those words that is a field as well, told apart by its value. */
const CONTEXT_VALUE = new RegExp(`:[ \\t]*["']?(?:${CONTEXT_WORDS.join("|")})["']?[ \\t]*(?:#|$)`);

type Block = { key: string; line: number; lines: string[] };

/** Strict YAML, or what can be rescued of it, with the repairs; the faults if neither is possible. */
export async function readFrontmatter(text: string, firstLine: number): Promise<RepairResult> {
  const strict = await parseYaml(text, firstLine);
  if ("fields" in strict) return { ...strict, repairs: [] };
  if (strict.faults.some((fault) => fault.refused)) return strict;
  const rescued = await repairYaml(text, firstLine);
  if ("faults" in rescued) return { faults: rescued.faults.length > 0 ? rescued.faults : strict.faults };
  return rescued.repairs.length > 0 ? rescued : strict;
}

/**
 * Reads frontmatter that strict YAML refused, field by field: a field that is fine alone is taken as it is, leading
 * tabs become spaces, and the raw text stands for a text or list field. Any other broken field is a fault.
 */
async function repairYaml(text: string, firstLine: number): Promise<RepairResult> {
  if (text.length > MAX_FRONTMATTER_CHARS) return { faults: [] };
  if (MERGE_KEY.test(text)) return { faults: [] };
  const anchors = [...text.matchAll(ANCHOR)].map(([, name]) => `*${name}`);
  const blocks = cutBlocks(text.split("\n"), firstLine);
  if (blocks === undefined) return { faults: [] };
  const fields: YamlFields = { values: new Map(), lines: new Map(), notes: [] };
  const repairs: Repair[] = [];
  for (const block of blocks) {
    const own = block.lines.join("\n");
    let parsed = await parseYaml(own, block.line);
    if ("faults" in parsed) {
      if (parsed.faults.some((fault) => fault.refused)) return parsed;
      // Alone it cannot be read, and taken as text it would say something other than what it stands for.
      if (anchors.some((alias) => own.includes(alias))) return { faults: [] };
      const repaired = await repairBlock(block);
      if (repaired === undefined) return parsed;
      const endLine = block.line + block.lines.length - 1;
      repairs.push({
        key: block.key,
        line: block.line,
        endLine,
        lines: repaired,
        cause: findCause(block, parsed.faults),
      });
      parsed = await parseYaml(repaired.join("\n"), block.line);
      if ("faults" in parsed) return parsed;
    }
    merge(fields, parsed.fields);
  }
  return { fields, repairs };
}

/** Why strict YAML refused a field, in a person's words where it is one of the usual reasons. */
function findCause(block: Block, faults: readonly YamlFault[]): string {
  const [, value] = cutKey(block.lines[0] ?? "");
  if (block.lines.some((line) => /^ *\t/.test(line))) return "tabs cannot indent";
  if (/^[@`%*&!|>]/.test(value)) return `a value cannot begin with '${value[0]}' unless it is quoted`;
  if (/^["']/.test(value)) return "a quote inside the value ends it too early";
  if (/:(?:[ \t]|$)/.test(value)) return "a value with ': ' must be quoted";
  return faults[0]?.message ?? "it is not valid YAML";
}

/** First of a name stays; a later one is noted as a duplicate. */
function merge(into: YamlFields, from: YamlFields): void {
  const taken = new Set([...into.lines.keys()]);
  for (const [key, value] of from.values) {
    const path = normalKey(key);
    const line = from.lines.get(path) ?? 1;
    if (taken.has(path)) into.notes.push({ kind: "duplicate", path, line });
    else into.values.set(key, value);
  }
  for (const [path, line] of from.lines) if (!into.lines.has(path)) into.lines.set(path, line);
  into.notes.push(...from.notes);
}

/** One block per field; undefined when the text does not begin with a field or has too many. */
function cutBlocks(lines: readonly string[], firstLine: number): Block[] | undefined {
  const blocks: Block[] = [];
  for (const [index, line] of lines.entries()) {
    const key = fieldStart(line);
    const current = blocks.at(-1);
    if (key !== undefined) blocks.push({ key, line: firstLine + index, lines: [line] });
    else if (current !== undefined) current.lines.push(line);
    else if (line.trim() !== "" && !line.startsWith("#")) return undefined;
    if (blocks.length > MAX_BLOCKS) return undefined;
  }
  return blocks.length > 0 ? blocks : undefined;
}

/**
 * The key a line opens. Known keys and near misses of them always do; another word only if it looks like a key
 * and not like a speaker or heading inside a description.
 */
function fieldStart(line: string): string | undefined {
  const found = KEY_LINE.exec(line);
  const key = found?.[2];
  if (found === null || key === undefined) return undefined;
  // `disallowedTools:[shell]` must not pass for text of the field before it.
  const isSpaced = /^(?:[ \t]|$)/.test(line.slice(found[0].length));
  if (!isSpaced) return findKey(key)?.isRight ? key : undefined;
  const isOwnContext = key === "context" && CONTEXT_VALUE.test(line);
  if (DIALOGUE.test(key) && !isOwnContext) return undefined;
  if (findKey(key) !== undefined || classifyKey(key) !== "unknown") return key;
  if (key.length >= 5 && suggestKey(key) !== undefined) return key;
  return /^[a-z][a-zA-Z0-9_-]*$/.test(key) ? key : undefined;
}

async function repairBlock(block: Block): Promise<string[] | undefined> {
  const known = findKey(block.key);
  const detabbed = block.lines.map((line) =>
    line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "  ")),
  );
  if (
    detabbed.some((line, index) => line !== block.lines[index]) &&
    "fields" in (await parseYaml(detabbed.join("\n"), 1))
  ) {
    return detabbed;
  }
  if (known?.shape === "text") return repairText(block);
  if (known?.shape === "names") return repairList(block);
  const isKept = known === undefined && suggestKey(block.key) === undefined;
  return isKept ? repairText(block) : undefined;
}

function repairText(block: Block): string[] {
  const [prefix, value] = cutKey(block.lines[0] ?? "");
  const rest = withoutEnd(block.lines.slice(1));
  const tail = block.lines.slice(1 + rest.length);
  if (/^[|>][-+0-9]*[ \t]*$/.test(value))
    return [`${prefix}${quoteYaml(dedent(rest).join("\n").trim())}`, ...tail];
  const text = [value, ...dedent(rest)].join("\n").trim();
  return [`${prefix}${quoteYaml(stripQuotes(text))}`, ...tail];
}

function repairList(block: Block): string[] | undefined {
  const [prefix, value] = cutKey(block.lines[0] ?? "");
  const rest = block.lines.slice(1);
  if (value !== "") {
    if (rest.some((line) => line.trim() !== "" && !line.trimStart().startsWith("#"))) return undefined;
    if (/^[[{]/.test(value)) return undefined;
    const [bare, comment] = cutComment(value);
    return [`${prefix}${quoteYaml(stripQuotes(bare))}${comment}`, ...rest];
  }
  const lines = [block.lines[0] ?? ""];
  for (const line of rest) {
    const item = /^([ \t]*-[ \t]+)(.*?)[ \t]*$/.exec(line);
    if (item === null) {
      if (line.trim() !== "" && !line.trimStart().startsWith("#")) return undefined;
      lines.push(line);
      continue;
    }
    const [bare, comment] = cutComment(item[2] ?? "");
    const indent = (item[1] ?? "").replaceAll("\t", "  ");
    lines.push(/^["'].*["']$/.test(bare) ? line : `${indent}${quoteYaml(bare)}${comment}`);
  }
  return lines;
}

function cutKey(line: string): [prefix: string, value: string] {
  const colon = line.indexOf(":");
  return [`${line.slice(0, colon + 1)} `, line.slice(colon + 1).trim()];
}

function cutComment(value: string): [bare: string, comment: string] {
  const hash = value.search(/[ \t]+#/);
  return hash === -1 ? [value, ""] : [value.slice(0, hash), value.slice(hash)];
}

/** Blank lines and comments at the end belong to the file, not to the text. */
function withoutEnd(lines: readonly string[]): string[] {
  let end = lines.length;
  while (end > 0 && /^(?:#.*|[ \t]*)$/.test(lines[end - 1] ?? "")) end--;
  return lines.slice(0, end);
}

function dedent(lines: readonly string[]): string[] {
  const indents = lines
    .filter((line) => line.trim() !== "")
    .map((line) => line.length - line.trimStart().length);
  const common = indents.length === 0 ? 0 : Math.min(...indents);
  return lines.map((line) => line.slice(common).trimEnd());
}

/** A YAML scalar, quoted so that it reads back as exactly this text. */
export function quoteYaml(text: string): string {
  // Single quotes hold neither controls nor line ends; doubled backslashes read worse than single quotes.
  const printable = /^[\x20-\x7E\u00A0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]*$/.test(text);
  if (printable && !text.includes("'") && /["\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replaceAll(/[\u007F-\u009F\u2028\u2029\uFEFF]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** `text` without one pair of enclosing quotes, if it has one. */
export function stripQuotes(text: string): string {
  const quote = text[0];
  const enclosed = text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return enclosed ? text.slice(1, -1) : text;
}

/** One changed field of a file. */
export type FixedField = { line: number; key: string; before: string; after: string };

/**
 * Rewrites what strict YAML refuses so that every program reads it, and nothing else: all other bytes, comments,
 * key order and line ends stay. A file that is fine, or beyond repair, comes back unchanged.
 */
export async function fixAgentFile(text: string): Promise<{ text: string; changes: FixedField[] }> {
  const unchanged = { text, changes: [] };
  const split = splitFrontmatter(normaliseText(text));
  if (split.kind !== "found") return unchanged;
  const rescued = await readFrontmatter(split.yaml, split.yamlLine);
  if ("faults" in rescued || rescued.repairs.length === 0) return unchanged;
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const changes: FixedField[] = [];
  for (const repair of rescued.repairs.toReversed()) {
    const old = lines.slice(repair.line - 1, repair.endLine);
    const ends = old.map((line) => /[\r\n]*$/.exec(line)?.[0] ?? "");
    const end = ends.find((each) => each !== "") ?? "\n";
    const fresh = repair.lines.map((line, index) => `${line}${ends[index] || end}`);
    changes.unshift({
      line: repair.line,
      key: repair.key,
      before: trimmed(old.join("")),
      after: trimmed(fresh.join("")),
    });
    lines.splice(repair.line - 1, old.length, ...fresh);
  }
  const fixed = lines.join("");
  const again = splitFrontmatter(normaliseText(fixed));
  const holds = again.kind === "found" && "fields" in (await parseYaml(again.yaml, again.yamlLine));
  return holds ? { text: fixed, changes } : unchanged;
}

function trimmed(text: string): string {
  return normaliseText(text).trimEnd();
}
