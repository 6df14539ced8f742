import { AGENT_FIELDS, type FieldTable, KEPT_KEYS, READ_BESIDES } from "../../schema/agent-fields.ts";
import { closest } from "../closest.ts";

/** One spelling for `disallowedTools`, `disallowed_tools` and `disallowed-tools`. */
export function normalKey(key: string): string {
  return key.replaceAll(/[-_]/g, "").toLowerCase();
}

/** What is known of a key that is read. */
type KnownKey = {
  key: string;
  /** The field that it is, or is read into. */
  field: string;
  isOwn: boolean;
  isRight: boolean;
  /** How a broken value is repaired. */
  shape: "text" | "names" | "other";
};

const indexes = new WeakMap<FieldTable, ReadonlyMap<string, KnownKey>>();
const NOTED = new Set(KEPT_KEYS.noted.map(normalKey));
const SILENT = new Set(KEPT_KEYS.silent.map(normalKey));

/** Every key that is read, by its normal spelling, in the order in which keys are written. */
function indexKeys(table: FieldTable): ReadonlyMap<string, KnownKey> {
  const known = indexes.get(table);
  if (known) return known;
  const keys = Object.entries(table).flatMap(([field, { kind, isRight = false, vendorKeys = {} }]) => {
    const shape =
      kind.is === "text" ? "text" : kind.is === "names" || kind.is === "rules" ? "names" : "other";
    const own: KnownKey = { key: field, field, isOwn: true, isRight, shape };
    const others = Object.entries(vendorKeys).map(
      ([key, { is }]): KnownKey => ({ key, field, isOwn: false, isRight, shape: is ?? "other" }),
    );
    return [own, ...others];
  });
  const besides = READ_BESIDES.map(
    (key): KnownKey => ({
      key,
      field: key,
      isOwn: false,
      isRight: false,
      shape: key === "prompt" ? "text" : "other",
    }),
  );
  const index = new Map([...keys, ...besides].map((each) => [normalKey(each.key), each]));
  indexes.set(table, index);
  return index;
}

/** What is known of a key as it is written; undefined for one that is not read. */
export function findKey(key: string, table: FieldTable = AGENT_FIELDS): KnownKey | undefined {
  return indexKeys(table).get(normalKey(key));
}

/** The place of a key among those that are written; -1 for one that is not read. */
export function rankKey(key: string, table: FieldTable = AGENT_FIELDS): number {
  return [...indexKeys(table).keys()].indexOf(normalKey(key));
}

/** How a key that is not read is treated. */
export function classifyKey(key: string): "noted" | "silent" | "unknown" {
  const normal = normalKey(key);
  if (NOTED.has(normal)) return "noted";
  return SILENT.has(normal) ? "silent" : "unknown";
}

/** The known key someone who wrote `key` most likely meant. */
export function suggestKey(key: string, table: FieldTable = AGENT_FIELDS): string | undefined {
  const own = [...indexKeys(table).values()].map((each) => each.key);
  return closest(key, [...own, ...KEPT_KEYS.noted]);
}
