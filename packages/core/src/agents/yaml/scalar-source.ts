import { isCollection, isPair, isScalar, parseDocument, type Scalar } from "yaml";
import { quoteYaml } from "./repair-yaml.ts";

/** How a scalar stood there before, and whether it stands inside brackets. */
export type ScalarPlace = { type?: Scalar.Type | undefined; isInFlow?: boolean; indent?: string };

/** Words that older readers of YAML take for something else than text. */
const OLD_WORDS = /^(?:y|n|yes|no|on|off|true|false|null|~)$/i;

/** A text as YAML source in the style that was there, if the text can be said in it; in one line otherwise. */
export function scalarSource(text: string, place: ScalarPlace = {}): string {
  const { type, isInFlow = false } = place;
  const isOneLine = /^[^\p{Cc}\u2028\u2029\uFEFF]*$/u.test(text);
  if (type === "QUOTE_SINGLE" && isOneLine) return `'${text.replaceAll("'", "''")}'`;
  if (type === "QUOTE_DOUBLE" && isOneLine && !/["\\]/.test(text)) return `"${text}"`;
  if ((type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED") && !isInFlow) {
    const block = blockSource(text, place);
    if (block !== undefined) return block;
  }
  return isOneLine && isPlain(text, isInFlow) ? text : quoteYaml(text);
}

/** A key as YAML source. */
export function keySource(key: string): string {
  return /^[A-Za-z_$][\w.-]*\*?$/.test(key) && !OLD_WORDS.test(key) ? key : quoteYaml(key);
}

/** A list on one line. */
export function listSource(items: readonly string[]): string {
  return `[${items.map((item) => scalarSource(item, { isInFlow: true })).join(", ")}]`;
}

/** A map on one line, of sources by their keys. */
export function mapSource(entries: readonly (readonly [key: string, source: string])[]): string {
  if (entries.length === 0) return "{}";
  return `{ ${entries.map(([key, source]) => `${keySource(key)}: ${source}`).join(", ")} }`;
}

function isPlain(text: string, isInFlow: boolean): boolean {
  if (text === "" || OLD_WORDS.test(text) || text.trim() !== text) return false;
  const document = parseDocument(isInFlow ? `[${text}]` : `key: ${text}\n`, {
    strict: true,
    schema: "core",
    stringKeys: true,
  });
  if (document.errors.length + document.warnings.length > 0) return false;
  const { contents } = document;
  if (!isCollection(contents) || contents.items.length !== 1) return false;
  const [item] = contents.items;
  const node = isPair(item) ? item.value : item;
  return isPair(item) !== isInFlow && isScalar(node) && node.value === text;
}

/** A literal block as the one before it was indented; undefined for a text that a block would change. */
function blockSource(text: string, { indent = "  " }: ScalarPlace): string | undefined {
  const lines = text.split("\n");
  const isSafe = lines.every(
    (line, index) => /^[^\p{Cc}\u2028\u2029\uFEFF]*$/u.test(line) && (index > 0 || /^\S/.test(line)),
  );
  if (!isSafe || lines.at(-1) === "") return undefined;
  return ["|-", ...lines.map((line) => (line === "" ? "" : `${indent}${line}`))].join("\n");
}
