import { readFileSync } from "node:fs";
import type { LineCounter, Node, Scalar } from "yaml";
import { messageOf } from "../../schema/error.ts";
import { normalKey } from "../fields/field-names.ts";

/** Something strict YAML lets pass but a person should hear about. */
export type YamlNote = { kind: "duplicate" | "unsafe" | "comment"; path: string; line: number };

/** A mapping's keys as written with plain values, and the line of every key by its dotted normal path. */
export type YamlFields = {
  values: Map<string, unknown>;
  lines: Map<string, number>;
  notes: YamlNote[];
};

/** Why a text is not the YAML we accept; `refused` marks a limit, behind which nothing is rescued. */
export type YamlFault = { line: number; message: string; refused?: true };

/** Either the fields or at least one fault. */
export type YamlResult = { fields: YamlFields } | { faults: YamlFault[] };

/** The form under which a key's line is filed: `limits.tool_calls` and `limits.toolCalls` are one path. */
export function normalPath(path: string): string {
  return path.split(".").map(normalKey).join(".");
}

/** Larger frontmatter is refused; real files stay below a tenth of it. */
export const MAX_FRONTMATTER_CHARS = 65_536;
const MAX_DEPTH = 32;
const MAX_NODES = 20_000;

/**
 * Strict YAML 1.2 of one mapping, with the merge keys of YAML 1.1, which other products read. Custom tags are faults, aliases
 * are bounded by a node count, nesting by a depth, and `__proto__` is dropped; values are plain, nothing in the text is ever
 * executed. `firstLine` is the text's first line in its file. Without `short` the parser reads also what the short ways would.
 */
export async function parseYaml(text: string, firstLine: number, short = true): Promise<YamlResult> {
  if (text.length > MAX_FRONTMATTER_CHARS) {
    const message = `the frontmatter has ${text.length} characters; at most ${MAX_FRONTMATTER_CHARS} are read`;
    return { faults: [{ line: firstLine, message, refused: true }] };
  }
  const fields = short ? (parseSimple(text, firstLine) ?? parsedBefore(text, firstLine)) : null;
  if (fields) return { fields };
  const yaml = await import("yaml");
  const counter = new yaml.LineCounter();
  try {
    const options = {
      lineCounter: counter,
      strict: true,
      uniqueKeys: false,
      stringKeys: true,
      schema: "core",
    } as const;
    const document = yaml.parseDocument(text, { ...options, prettyErrors: false });
    const faults = [...document.errors, ...document.warnings].map((found): YamlFault => {
      const line = counter.linePos(found.pos[0]).line + firstLine - 1;
      if (found.code === "RESOURCE_EXHAUSTION") return { line, message: "nested too deeply", refused: true };
      return { line, message: found.message.split("\n")[0] ?? "" };
    });
    if (faults.length > 0) return { faults };
    const walk = new Walk(yaml, document, counter, firstLine);
    return { fields: walk.top(document.contents) };
  } catch (thrown) {
    const line = thrown instanceof Refusal ? thrown.line : firstLine;
    if (thrown instanceof RangeError)
      return { faults: [{ line, message: "nested too deeply", refused: true }] };
    const refused = thrown instanceof Excess;
    return { faults: [{ line, message: messageOf(thrown), ...(refused ? { refused } : {}) }] };
  }
}

class Refusal extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

class Excess extends Refusal {}

type Yaml = typeof import("yaml");
type YamlDocument = ReturnType<Yaml["parseDocument"]>;

type Entry = { key: string; value: unknown; line: number; isMerged: boolean };

/** A quoted `<<`, or one with a tag, is a key like any other. */
function isMergeKey({ value, type, tag }: Scalar): boolean {
  return value === "<<" && type === "PLAIN" && tag === undefined;
}

/** What each alias stands for: the last node before it with its anchor. All at once, because each takes a walk through the document. */
function findTargets(yaml: Yaml, document: YamlDocument): ReadonlyMap<Node, Node> {
  const anchored = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  yaml.visit(document, {
    Node(_, node) {
      const target = yaml.isAlias(node) && anchored.get(node.source);
      if (target) targets.set(node, target);
      else if (!yaml.isAlias(node) && node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  return targets;
}

function below(path: string, key: string): string {
  return path === "" ? normalKey(key) : `${path}.${normalKey(key)}`;
}

/** Turns the syntax tree into plain values while counting nodes and depth. */
class Walk {
  readonly #yaml: Yaml;
  readonly #document: YamlDocument;
  readonly #counter: LineCounter;
  readonly #firstLine: number;
  readonly #fields: YamlFields = { values: new Map(), lines: new Map(), notes: [] };
  #nodes = 0;
  #targets: ReadonlyMap<Node, Node> | null = null;

  constructor(yaml: Yaml, document: YamlDocument, counter: LineCounter, firstLine: number) {
    this.#yaml = yaml;
    this.#document = document;
    this.#counter = counter;
    this.#firstLine = firstLine;
  }

  top(contents: unknown): YamlFields {
    if (contents === null) return this.#fields;
    if (!this.#yaml.isMap(contents))
      throw new Refusal(this.#firstLine, "the frontmatter is not a list of `key: value` lines");
    for (const [key, value] of Object.entries(this.#map(contents, "", 0)))
      this.#fields.values.set(key, value);
    return this.#fields;
  }

  #map(map: { items: unknown[] }, path: string, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const { key, value, line } of this.#entries(map, path, depth).values()) {
      const keyPath = below(path, key);
      this.#fields.lines.set(keyPath, line);
      result[key] = this.#plain(value, keyPath, depth + 1);
    }
    return result;
  }

  /**
   * What a mapping holds, with what its merge keys bring, as the parsers of other products read it: its own entry wins over a
   * merged one, whose place it takes, and what is merged first wins over what is merged later.
   */
  #entries(map: { items: unknown[] }, path: string, depth: number): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const item of map.items) {
      if (!this.#yaml.isPair(item) || !this.#yaml.isScalar(item.key))
        throw new Refusal(this.#firstLine, "a key is not a plain word");
      const key = String(item.key.value);
      const line = this.#line(item.key);
      if (isMergeKey(item.key)) {
        for (const [identity, entry] of this.#merged(item.value, path, { line, depth }))
          if (!entries.has(identity)) entries.set(identity, { ...entry, isMerged: true });
        continue;
      }
      const keyPath = below(path, key);
      if (key === "__proto__") {
        this.#fields.notes.push({ kind: "unsafe", path: keyPath, line });
        continue;
      }
      // Deeper keys may be patterns, where case and dashes matter.
      const identity = path === "" ? normalKey(key) : key;
      if (entries.get(identity)?.isMerged === false)
        this.#fields.notes.push({ kind: "duplicate", path: keyPath, line });
      else entries.set(identity, { key, value: item.value, line, isMerged: false });
    }
    return entries;
  }

  /** The entries of the mapping, or of the list of mappings, that is behind a merge key. */
  *#merged(
    node: unknown,
    path: string,
    { line, depth }: { line: number; depth: number },
  ): Generator<[string, Entry]> {
    const source = this.#resolve(node);
    for (const each of this.#yaml.isSeq(source) ? source.items : [source]) {
      this.#count(depth + 1);
      const map = this.#resolve(each);
      if (!this.#yaml.isMap(map)) throw new Refusal(line, "'<<' merges something that is not a mapping");
      for (const entry of this.#entries(map, path, depth + 1)) {
        this.#count(depth + 1);
        yield entry;
      }
    }
  }

  #count(depth: number): void {
    if (depth > MAX_DEPTH) throw new Excess(this.#firstLine, `nested deeper than ${MAX_DEPTH} levels`);
    if (++this.#nodes > MAX_NODES)
      throw new Excess(this.#firstLine, `more than ${MAX_NODES} values (aliases counted)`);
  }

  /** What an alias stands for; any other node is itself. */
  #resolve(node: unknown): unknown {
    if (!this.#yaml.isAlias(node)) return node;
    this.#targets ??= findTargets(this.#yaml, this.#document);
    const target = this.#targets.get(node);
    if (target === undefined)
      throw new Refusal(this.#line(node), `no anchor '&${node.source}' for '*${node.source}'`);
    return target;
  }

  #plain(node: unknown, path: string, depth: number): unknown {
    this.#count(depth);
    const yaml = this.#yaml;
    if (yaml.isAlias(node)) return this.#plain(this.#resolve(node), path, depth + 1);
    if (yaml.isMap(node)) return this.#map(node, path, depth);
    if (yaml.isSeq(node)) return node.items.map((item, index) => this.#item(item, `${path}.${index}`, depth));
    if (yaml.isScalar(node)) return this.#scalar(node, path);
    if (yaml.isPair(node)) return this.#map({ items: [node] }, path, depth);
    return null;
  }

  #item(item: unknown, path: string, depth: number): unknown {
    if (this.#yaml.isNode(item)) this.#fields.lines.set(path, this.#line(item));
    return this.#plain(item, path, depth + 1);
  }

  #scalar(node: Scalar, path: string): unknown {
    if (typeof node.comment === "string" && node.type === "PLAIN" && typeof node.value === "string") {
      this.#fields.notes.push({ kind: "comment", path, line: this.#line(node) });
    }
    const { value } = node;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    // Dates, bytes and numbers beyond what is exact are taken as they are written.
    const isExact = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
    return isExact ? value : (node.source ?? String(value));
  }

  #line(node: Node): number {
    const offset = node.range?.[0] ?? 0;
    return this.#counter.linePos(offset).line + this.#firstLine - 1;
  }
}

/** The short ways: plain lines, and what the build has read. Without them 200 plain files take three times as long. */
const LINE = /^([A-Za-z][\w-]*): +(\S.*)$/;
/** A plain text on one line: nothing in it could mean something else to YAML. */
const PLAIN = /^[A-Za-z/](?:[^\p{C}\u2028\u2029#:]|:(?! |$)|(?<! )#)*$/u;
const WORDS = /^\[ *[A-Za-z][\w-]*(?: *, *[A-Za-z][\w-]*)* *\]$/;
/** Words that stand for something other than their letters. */
const SPECIAL = /^(?:true|false|null)$/i;

/**
 * The fields of a frontmatter of plain `key: text` and `key: [word, word]` lines, as strict YAML would read them; null for
 * anything else. Most files are no more than this, and reading it so takes a tenth of the time.
 */
export function parseSimple(text: string, firstLine: number): YamlFields | null {
  const fields: YamlFields = { values: new Map(), lines: new Map(), notes: [] };
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    if (line === "" && index === lines.length - 1) continue;
    const [, key = "", value = ""] = LINE.exec(line) ?? [];
    const path = normalKey(key);
    const parsed = parsePlain(value);
    if (parsed === null || fields.lines.has(path)) return null;
    fields.values.set(key, parsed);
    fields.lines.set(path, firstLine + index);
    if (typeof parsed !== "string")
      for (const at of parsed.keys()) fields.lines.set(`${path}.${at}`, firstLine + index);
  }
  return fields;
}

function parsePlain(text: string): string | string[] | null {
  if (WORDS.test(text)) {
    const words = text
      .slice(1, -1)
      .split(",")
      .map((word) => word.trim());
    return words.some((word) => SPECIAL.test(word)) ? null : words;
  }
  return PLAIN.test(text) && !text.endsWith(" ") && !SPECIAL.test(text) ? text : null;
}

/** A frontmatter that begins at line 1, and what strict YAML makes of it. */
export type ParsedFrontmatter = {
  text: string;
  values: [key: string, value: unknown][];
  lines: [path: string, line: number][];
};

let known: ReadonlyMap<string, ParsedFrontmatter> | null = null;

/**
 * The fields of a frontmatter that the build has read already: those of the built-in agents, which every start would
 * otherwise load a parser for. Only the very same text is found.
 */
export function parsedBefore(text: string, firstLine: number): YamlFields | null {
  known ??= readKnown(new URL("./frontmatter.json", import.meta.url));
  const found = known.get(text);
  if (!found) return null;
  const lines = found.lines.map(([path, line]): [string, number] => [path, line + firstLine - 1]);
  return { values: new Map(structuredClone(found.values)), lines: new Map(lines), notes: [] };
}

function readKnown(file: URL): ReadonlyMap<string, ParsedFrontmatter> {
  try {
    const all = JSON.parse(readFileSync(file, "utf8")) as ParsedFrontmatter[];
    return new Map(all.map((one) => [one.text, one]));
  } catch {
    // Run from its source, the program has none.
    return new Map();
  }
}
