import { normalKey } from "../fields/field-names.ts";
import type { YamlFields } from "./yaml-fields.ts";

const LINE = /^([A-Za-z][\w-]*): +(\S.*)$/;
/** A plain text on one line: nothing in it could mean something else to YAML. */
const PLAIN = /^[A-Za-z/](?:[^\p{C}\u2028\u2029#:]|:(?! |$)|(?<! )#)*$/u;
const WORDS = /^\[ *[A-Za-z][\w-]*(?: *, *[A-Za-z][\w-]*)* *\]$/;
/** Words that stand for something else than their letters. */
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
