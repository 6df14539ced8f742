import type { AgentFormat } from "../../schema/agent.ts";
import { findKey, normalKey } from "../fields/field-names.ts";
import type { ReadContext } from "../fields/read-values.ts";
import type { WrittenFields } from "../fields/sort-keys.ts";
import type { KnownTools } from "../fields/tool-names.ts";
import { cannotSay } from "./cannot-say.ts";
import { keysAt, setValue } from "./yaml-source.ts";

/** A frontmatter that is being edited: its source with `\n` at line ends, and what it says. */
export type Draft = {
  readonly yaml: string;
  readonly format: AgentFormat;
  readonly known: KnownTools;
  readonly fields: WrittenFields;
};

/** One way to write a field; the first that turns out to say exactly what was wanted is taken. */
export type Attempt = (draft: Draft) => string;

/** Keys that another program reads, where any other key would harm it there. */
const ONLY_KEYS: Partial<Record<AgentFormat, { keys: ReadonlySet<string>; harm: string }>> = {
  gemini: {
    keys: new Set(
      "kind name description displayname tools model temperature maxturns timeoutmins mcpservers".split(" "),
    ),
    harm: "Gemini CLI refuses a file with a key that it does not know",
  },
  opencode: {
    keys: new Set(
      "name description mode model prompt tools disable permission temperature topp steps maxsteps color hidden options".split(
        " ",
      ),
    ),
    harm: "opencode would hand a key that it does not know on to its model",
  },
};

/** The key of a field as the file writes it; undefined if it does not. */
export function writtenKey({ yaml }: Pick<Draft, "yaml">, field: string): string | undefined {
  return keysAt(yaml, []).find((key) => findKey(key)?.key === field);
}

/** The key of an entry in the map of a field as the file writes it, such as `max_concurrent` in `subagents`. */
export function writtenInner({ yaml }: Pick<Draft, "yaml">, key: string, inner: string): string | undefined {
  return keysAt(yaml, [key]).find((written) => normalKey(written) === normalKey(inner));
}

/** Sets a top-level field, or an entry in its map, under the key that is there or a new one spelled as its neighbours. */
export function setField(draft: Draft, field: string, source: string, inner?: string): string {
  const key = writtenKey(draft, field) ?? newKey(draft, field);
  if (inner === undefined) return setValue(draft.yaml, [key], source);
  const siblings = keysAt(draft.yaml, [key]);
  const around = [...siblings, ...keysAt(draft.yaml, []).filter((key) => findKey(key))];
  const name = writtenInner(draft, key, inner) ?? spell(inner, around, draft);
  return setValue(draft.yaml, [key, name], source);
}

/** A key that the file does not have yet; refused where it would break the file for the program it belongs to. */
export function newKey(draft: Draft, field: string): string {
  const keys = keysAt(draft.yaml, []);
  const only = ONLY_KEYS[draft.format];
  const isForeign = (key: string): boolean => only !== undefined && !only.keys.has(normalKey(key));
  const isOwn = (key: string): boolean => findKey(key)?.isOwn === true;
  if (only && isForeign(field) && !keys.some((key) => isForeign(key) && isOwn(key)))
    throw cannotSay(field, only.harm);
  return spell(
    field,
    keys.filter((key) => findKey(key)),
    draft,
  );
}

/** A name in the spelling of the keys around it that Retinue reads. */
function spell(name: string, siblings: readonly string[], { format }: Draft): string {
  const mark =
    ["_", "-"].find((each) => siblings.some((key) => key.includes(each))) ??
    (format === "gemini" ? "_" : null);
  return mark === null ? name : name.replaceAll(/[A-Z]/g, (letter) => `${mark}${letter.toLowerCase()}`);
}

/** What field readers need to read values that nobody is told about. */
export function readerFor({ format, known }: Pick<Draft, "format" | "known">): ReadContext {
  return { file: "", format, known, lineOf: () => 0, problems: [] };
}
