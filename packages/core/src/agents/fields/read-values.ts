import type { AgentFormat, Problem } from "../../schema/agent.ts";
import { isRecord } from "../../schema/json-object.ts";
import { describeRange, isInRange, type NumberRange } from "../../schema/number-range.ts";
import { closest } from "../closest.ts";
import { normalKey } from "./field-names.ts";
import type { KnownTools } from "./tool-names.ts";

/** What every field reader needs: where it reads, what is known, and the list it reports to. */
export type ReadContext = {
  readonly file: string;
  readonly format: AgentFormat;
  readonly known: KnownTools;
  /** Line of a dotted path; its nearest known parent's line if it has none of its own. */
  readonly findLine: (path: string) => number;
  readonly problems: Problem[];
};

type Report = { path: string; code: string; message: string; fix: string };

/** What becomes of an agent that would have more than was meant. */
export const UNUSABLE = "the agent cannot be used";

/** Adds a problem. An error means the agent cannot be used. */
export function report(ctx: ReadContext, severity: Problem["severity"], found: Report): void {
  const { path, code, message, fix } = found;
  ctx.problems.push({ severity, file: ctx.file, line: ctx.findLine(path), code, message, fix });
}

/** Reports a value that is not accepted, naming key, value, what is accepted and what is used instead. */
export function badValue(
  ctx: ReadContext,
  path: string,
  found: { value: unknown; accepted: string; instead: string; severity?: Problem["severity"] },
): void {
  report(ctx, found.severity ?? "warning", {
    path,
    code: "bad-value",
    message: `${path} is ${showValue(found.value)}, but must be ${found.accepted}; ${found.instead}`,
    fix: `set ${path} to ${found.accepted}`,
  });
}

/** A value as a person recognises it, at most 60 characters. */
export function showValue(value: unknown): string {
  let text: string;
  if (typeof value === "string") text = JSON.stringify(value);
  else if (Array.isArray(value)) text = `a list of ${value.length}`;
  else if (typeof value === "object" && value !== null) text = `a map of ${Object.keys(value).join(", ")}`;
  else text = String(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** A number in range, or undefined after reporting. Absent stays undefined. */
export function readNumber(
  ctx: ReadContext,
  path: string,
  value: unknown,
  range: NumberRange,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (isInRange(value, range)) return value;
  badValue(ctx, path, { value, accepted: describeRange(range), instead: "it is ignored" });
  return undefined;
}

/**
 * A limit in range, or undefined after an error: without it the agent would have more than was meant. So an empty value is
 * no limit, either.
 */
export function readLimit(
  ctx: ReadContext,
  path: string,
  value: unknown,
  range: NumberRange,
  instead = UNUSABLE,
): number | undefined {
  if (value === undefined) return undefined;
  if (isInRange(value, range)) return value;
  badValue(ctx, path, { value, accepted: describeRange(range), instead, severity: "error" });
  return undefined;
}

/** What words a value may be; without a default it may be absent, which `false` says as well. */
type WordChoice<Word extends string> = {
  words: readonly Word[];
  also?: Readonly<Record<string, string>>;
  default?: Word;
  bad?: Word;
};

/** One of the words, or the fallback after reporting. */
export function readOneOf<Word extends string>(
  ctx: ReadContext,
  path: string,
  value: unknown,
  { words, also = {}, default: absent, bad = absent }: WordChoice<Word>,
): Word | undefined {
  if (value === undefined || value === null || (value === false && absent === undefined)) return absent;
  const meant = typeof value === "string" && Object.hasOwn(also, value) ? also[value] : value;
  const word = words.find((each) => each === meant);
  if (word !== undefined) return word;
  const guess = typeof value === "string" ? closest(value, words) : undefined;
  const hint = guess === undefined ? "" : ` (did you mean '${guess}'?)`;
  const accepted = words.length === 1 ? `${words[0]}` : `one of ${words.join(", ")}`;
  const instead = bad === undefined ? "it is ignored" : `'${bad}' is used`;
  badValue(ctx, path, { value, accepted: `${accepted}${hint}`, instead });
  return bad;
}

/** A boolean, or the safe value after reporting. */
export function readBoolean(
  ctx: ReadContext,
  path: string,
  value: unknown,
  other: { absent: boolean; bad: boolean },
): boolean {
  if (value === undefined || value === null) return other.absent;
  if (typeof value === "boolean") return value;
  badValue(ctx, path, { value, accepted: "true or false", instead: `${other.bad} is used` });
  return other.bad;
}

/** The text without control and direction characters, which could rewrite a terminal; line ends and tabs stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, (char) =>
    char === "\n" || char === "\t" ? char : "",
  );
}

/** Text, with a number or boolean taken as written by YAML's own reading; undefined after reporting. */
export function readLabel(ctx: ReadContext, path: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return withoutControls(value).trim() || undefined;
  badValue(ctx, path, { value, accepted: "text (put it in quotes)", instead: "it is ignored" });
  return undefined;
}

/** A list of texts from a YAML list or a comma-separated line; "bad" when it is neither. */
export function readNames(value: unknown): string[] | "bad" | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return splitCommas(value);
  if (!Array.isArray(value)) return "bad";
  const names: string[] = [];
  for (const item of value) {
    if (typeof item !== "string") return "bad";
    names.push(item);
  }
  return joinBrackets(names);
}

/** Joins `[Agent(a, b)]`, which YAML splits at the comma inside the brackets; as it was if a bracket stays open. */
export function joinBrackets(names: readonly string[]): string[] {
  const joined: string[] = [];
  let open = false;
  for (const name of names) {
    const last = joined.at(-1);
    if (open && last !== undefined) joined[joined.length - 1] = `${last}, ${name}`;
    else joined.push(name);
    const text = joined.at(-1) ?? "";
    open = text.split("(").length > text.split(")").length;
  }
  return open ? [...names] : joined;
}

/** Splits at commas outside parentheses; ASCII blanks around an item belong to the list, not to the item. */
export function splitCommas(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const char = text[index];
    if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === undefined || (char === "," && depth === 0)) {
      const item = text.slice(start, index).replaceAll(/^[ \t\n]+|[ \t\n]+$/g, "");
      if (item !== "") items.push(item);
      start = index + 1;
    }
  }
  return items;
}

/** The keys of a map, each perhaps with another spelling. */
type MapShape<Key extends string> = {
  parts: Readonly<Record<Key, { readonly about?: string; readonly spelling?: string } | null>>;
  isStrict?: true;
};

/**
 * A nested map by its canonical keys; "bad" means it was no map. Keys that are unknown or there twice are reported: as errors
 * where what they were meant to hold back would stay open.
 */
export function readMap<Key extends string>(
  ctx: ReadContext,
  path: string,
  value: unknown,
  { parts, isStrict = undefined }: MapShape<Key>,
): Partial<Record<Key, unknown>> | "bad" | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isRecord(value)) return "bad";
  const severity = isStrict ? "error" : "warning";
  const keys = Object.keys(parts) as Key[];
  const result: Partial<Record<Key, unknown>> = {};
  for (const [written, inner] of Object.entries(value)) {
    const spellings = (key: Key) => [key, parts[key]?.spelling ?? key];
    const key = keys.find((each) => spellings(each).some((one) => normalKey(one) === normalKey(written)));
    const at = `${path}.${written}`;
    if (key === undefined) report(ctx, severity, unknownKey(at, written, { keys, severity }));
    else if (Object.hasOwn(result, key)) report(ctx, severity, givenTwice(at, key));
    else result[key] = inner;
  }
  return result;
}

function unknownKey(
  path: string,
  written: string,
  { keys, severity }: { keys: readonly string[]; severity: Problem["severity"] },
): Report {
  const guess = closest(written, keys) ?? keys.find((key) => normalKey(written).endsWith(normalKey(key)));
  const hint = guess === undefined ? "" : `; did you mean '${guess}'?`;
  const effect =
    severity === "error" ? `is not a known key; ${UNUSABLE}` : "is not a known key and has no effect";
  return {
    path,
    code: "unknown-key",
    message: `${path} ${effect}${hint}`,
    fix: guess === undefined ? `use one of ${keys.join(", ")}` : `rename it to '${guess}'`,
  };
}

function givenTwice(path: string, key: string): Report {
  const message = `${path} is another spelling of ${key}, which is there already; only the first was read`;
  return { path, code: "duplicate-key", message, fix: "join them into one" };
}
