import type { LineCounter, Node, Scalar } from "yaml";
import { messageOf } from "../../schema/error.ts";
import { normalKey } from "../fields/field-names.ts";
import { parseSimple } from "./parse-simple.ts";
import { parsedBefore } from "./parsed-before.ts";

/** Larger frontmatter is refused; real files stay below a tenth of it. */
export const MAX_FRONTMATTER_CHARS = 65_536;
const MAX_DEPTH = 32;
const MAX_NODES = 20_000;

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

/**
 * Strict YAML 1.2 of one mapping. Custom tags are faults, aliases are bounded by a node count, nesting by a depth,
 * and `__proto__` is dropped; values are plain, nothing in the text is ever executed. `firstLine` is the text's first line in its file.
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

/** Turns the syntax tree into plain values while counting nodes and depth. */
class Walk {
  readonly #yaml: Yaml;
  readonly #document: YamlDocument;
  readonly #counter: LineCounter;
  readonly #firstLine: number;
  readonly #fields: YamlFields = { values: new Map(), lines: new Map(), notes: [] };
  #nodes = 0;

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
    const seen = new Set<string>();
    for (const item of map.items) {
      if (!this.#yaml.isPair(item) || !this.#yaml.isScalar(item.key))
        throw new Refusal(this.#firstLine, "a key is not a plain word");
      const key = String(item.key.value);
      const line = this.#line(item.key);
      const keyPath = path === "" ? normalKey(key) : `${path}.${normalKey(key)}`;
      if (key === "__proto__") {
        this.#fields.notes.push({ kind: "unsafe", path: keyPath, line });
        continue;
      }
      // Deeper keys may be patterns, where case and dashes matter.
      const identity = path === "" ? normalKey(key) : key;
      if (seen.has(identity)) {
        this.#fields.notes.push({ kind: "duplicate", path: keyPath, line });
        continue;
      }
      seen.add(identity);
      this.#fields.lines.set(keyPath, line);
      result[key] = this.#plain(item.value, keyPath, depth + 1);
    }
    return result;
  }

  #plain(node: unknown, path: string, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Excess(this.#firstLine, `nested deeper than ${MAX_DEPTH} levels`);
    if (++this.#nodes > MAX_NODES)
      throw new Excess(this.#firstLine, `more than ${MAX_NODES} values (aliases counted)`);
    const yaml = this.#yaml;
    if (yaml.isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target === undefined)
        throw new Refusal(this.#line(node), `no anchor '&${node.source}' for '*${node.source}'`);
      return this.#plain(target, path, depth + 1);
    }
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
