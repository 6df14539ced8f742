import { FIELD_TABLE, KEPT_KEYS, READ_BESIDES } from "../../schema/agent-fields.ts";
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

const NOTED = new Set(KEPT_KEYS.noted.map(normalKey));
const SILENT = new Set(KEPT_KEYS.silent.map(normalKey));

/** Every key that is read, by its normal spelling, in the order in which keys are written. */
const KEYS: ReadonlyMap<string, KnownKey> = indexKeys();

function indexKeys(): ReadonlyMap<string, KnownKey> {
  const keys = Object.entries(FIELD_TABLE).flatMap(([field, { kind, isRight = false, vendorKeys = {} }]) => {
    const shape =
      kind.is === "text" ? "text" : kind.is === "names" || kind.is === "rules" ? "names" : "other";
    const own: KnownKey = { key: field, field, isOwn: true, isRight, shape };
    const others = Object.entries(vendorKeys).map(
      ([key, { is }]): KnownKey => ({ key, field, isOwn: false, isRight, shape: is ?? "other" }),
    );
    return [own, ...others];
  });
  const besides = READ_BESIDES.map((key): KnownKey => {
    const shape = key === "prompt" ? "text" : "other";
    return { key, field: key, isOwn: false, isRight: false, shape };
  });
  return new Map([...keys, ...besides].map((each) => [normalKey(each.key), each]));
}

/** What is known of a key as it is written; undefined for one that is not read. */
export function findKey(key: string): KnownKey | undefined {
  return KEYS.get(normalKey(key));
}

/** The place of a key among those that are written; -1 for one that is not read. */
export function rankKey(key: string): number {
  return [...KEYS.keys()].indexOf(normalKey(key));
}

/** How a key that is not read is treated. */
export function classifyKey(key: string): "noted" | "silent" | "unknown" {
  const normal = normalKey(key);
  if (NOTED.has(normal)) return "noted";
  return SILENT.has(normal) ? "silent" : "unknown";
}

/** The known key someone who wrote `key` most likely meant. */
export function suggestKey(key: string): string | undefined {
  const own = [...KEYS.values()].map((each) => each.key);
  return closest(key, [...own, ...KEPT_KEYS.noted]);
}
