import type { AgentField, FieldPart, ValueKind, VendorKey } from "../../schema/agent-fields.ts";
import { isRecord } from "../../schema/json-object.ts";
import { readDeliverables, readPerTool, readTriggers } from "./read-own-values.ts";
import {
  badValue,
  type ReadContext,
  readBoolean,
  readLabel,
  readLimit,
  readMap,
  readNames,
  readNumber,
  readOneOf,
  UNUSABLE,
} from "./read-values.ts";
import type { WrittenFields } from "./sort-keys.ts";

type MapKind = Extract<ValueKind, { is: "map" }>;
type NamesKind = Extract<ValueKind, { is: "names" }>;

/** Readers of values that are of no general kind, by their path. */
const OWN_READERS: Readonly<Record<string, (ctx: ReadContext, path: string, value: unknown) => unknown>> = {
  deliverables: readDeliverables,
  "delegation.triggers": readTriggers,
  "limits.perTool": readPerTool,
};

/** A value as its kind says, or what holds without it. */
export function readFieldPart(ctx: ReadContext, path: string, value: unknown, { kind }: FieldPart): unknown {
  switch (kind.is) {
    case "text":
      return readLabel(ctx, path, value) ?? kind.default;
    case "names":
    case "rules":
      return readList(ctx, path, value, kind);
    case "number":
      return (kind.isHint ? readNumber : readLimit)(ctx, path, value, kind.range) ?? kind.default;
    case "choice":
      return readOneOf(ctx, path, value, kind);
    case "flag":
      return readBoolean(ctx, path, value, { absent: kind.default, bad: kind.bad });
    case "map":
      return readParts(ctx, path, value, kind);
    case "own":
      return OWN_READERS[path]?.(ctx, path, value) ?? kind.default;
  }
}

/** A field, its own value before those of other programs' keys. */
export function readAgentField(
  ctx: ReadContext,
  name: string,
  written: WrittenFields,
  { vendorKeys = {}, ...part }: AgentField,
): unknown {
  const others = Object.entries(vendorKeys).filter(([key]) => written[key] !== undefined);
  const { kind } = part;
  if (kind.is === "map") {
    const own = readParts(ctx, name, written[name], kind);
    const theirs = readVendorParts(ctx, written, { others, kind });
    return own === undefined && Object.keys(theirs).length === 0 ? undefined : { ...theirs, ...own };
  }
  if (kind.is === "flag") return readFlag(ctx, name, written, { others, kind });
  const [theirs] = others.flatMap(([key, { values }]) =>
    values ? values.flatMap(([word, ours]) => (word === written[key] ? [ours] : [])) : [written[key]],
  );
  return readFieldPart(ctx, name, theirs === undefined ? written[name] : (written[name] ?? theirs), part);
}

type VendorKeys = [key: string, vendor: VendorKey][];

/** Of several keys of other programs for one number the lowest counts, else the first. */
function readVendorParts(
  ctx: ReadContext,
  written: WrittenFields,
  { others, kind }: { others: VendorKeys; kind: MapKind },
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [key, { part = "", isQuotedIn }] of others) {
    const own = kind.parts[part];
    if (own === undefined) continue;
    const isQuoted = isQuotedIn?.includes(ctx.format) && /^[0-9]+$/.test(String(written[key]));
    const value = readFieldPart(ctx, key, isQuoted ? Number(written[key]) : written[key], own);
    const before = found[part];
    if (typeof value === "number" && typeof before === "number") found[part] = Math.min(value, before);
    else if (value !== undefined) found[part] ??= value;
  }
  return found;
}

/** Of several voices the careful one counts. */
function readFlag(
  ctx: ReadContext,
  name: string,
  written: WrittenFields,
  { others, kind }: { others: VendorKeys; kind: Extract<ValueKind, { is: "flag" }> },
): boolean {
  const voices = [readBoolean(ctx, name, written[name], { absent: kind.default, bad: kind.bad })];
  for (const [key, { values = [] }] of others) {
    const bad = values.find(([, ours]) => ours === kind.bad)?.[0] === true;
    const read = readBoolean(ctx, key, written[key], { absent: !bad, bad });
    voices.push(values.find(([theirs]) => theirs === read)?.[1] === true);
  }
  return voices.includes(kind.bad) ? kind.bad : !kind.bad;
}

function readParts(
  ctx: ReadContext,
  path: string,
  value: unknown,
  kind: MapKind,
): Record<string, unknown> | undefined {
  const map = readMap(ctx, path, spellOut(value, kind), kind);
  if (map === "bad") {
    const instead = kind.isStrict ? UNUSABLE : "it is ignored";
    const severity = kind.isStrict ? "error" : "warning";
    badValue(ctx, path, { value, accepted: `a map such as ${kind.example}`, instead, severity });
  }
  if (kind.isOptional && (map === "bad" || map === undefined)) return undefined;
  const written = map === "bad" || map === undefined ? {} : map;
  const read = Object.entries(kind.parts).map(([part, own]) => [
    part,
    readFieldPart(ctx, `${path}.${part}`, written[part], own),
  ]);
  return Object.fromEntries(read.filter(([, each]) => each !== undefined));
}

/** A bare value as the part that it stands for. */
function spellOut(value: unknown, { short, parts }: MapKind): unknown {
  if (short === undefined || value === null || value === undefined || isRecord(value)) return value;
  const isNumber = parts[short]?.kind.is === "number";
  return isNumber === (typeof value === "number") && typeof value !== "boolean" ? { [short]: value } : value;
}

function readList(
  ctx: ReadContext,
  path: string,
  value: unknown,
  kind: Pick<NamesKind, "words" | "default">,
): readonly string[] | undefined {
  const { words, default: usual } = kind;
  const names = readNames(value);
  if (names === undefined) return usual;
  if (names !== "bad" && names.every((name) => words?.includes(name) !== false)) return names;
  const accepted = words ? `a list of ${words.join(", ")}` : "a list of names";
  badValue(ctx, path, {
    value,
    accepted,
    ...(words
      ? { instead: UNUSABLE, severity: "error" as const }
      : { instead: usual?.length === 0 ? "there are none" : "it is ignored" }),
  });
  return usual;
}
