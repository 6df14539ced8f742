import { RetinueError } from "./error.ts";
import type { JsonSchema } from "./json-schema.ts";

/** What a number must be: finite, at least `min` (or above it), at most `max`, and whole where it counts something. */
export type NumberRange = { min: number; whole?: boolean; max?: number; above?: boolean };

/** The largest number that any limit takes: beyond it sums are not exact, and a product may be infinite. */
export const LARGEST = Number.MAX_SAFE_INTEGER;

/** A number of things of which none is possible. */
export const COUNT: NumberRange = { min: 0, whole: true };
/** A number of things of which one must be possible. */
export const AT_LEAST_ONE: NumberRange = { min: 1, whole: true };
/** An amount above nothing. */
export const POSITIVE: NumberRange = { min: 0, above: true };
/** An amount, or nothing. */
export const AMOUNT: NumberRange = { min: 0 };
/** By how much the limits of agents can be raised or lowered. */
export const SCALE: NumberRange = { min: 0, above: true, max: 100 };
/** What models take as their temperature. */
export const TEMPERATURE: NumberRange = { min: 0, max: 2 };

/** How often something is tried again. */
export const RETRIES: NumberRange = { min: 0, max: 10, whole: true };
/** Milliseconds before another try. */
export const BACKOFF_MS: NumberRange = { min: 0, max: 3_600_000 };

/** Whether a value is a number of the range. */
export function isInRange(value: unknown, range: NumberRange): value is number {
  const { min, max = LARGEST, whole = false, above = false } = range;
  if (typeof value !== "number" || !Number.isFinite(value) || value > max) return false;
  return (above ? value > min : value >= min) && (!whole || Number.isInteger(value));
}

/** What a range accepts, in words. */
export function describeRange({ min, max, whole = false, above = false }: NumberRange): string {
  const kind = whole ? "a whole number" : "a number";
  const upper = max === undefined ? "" : ` and at most ${max}`;
  return above ? `${kind} above ${min}${upper}` : `${kind} of at least ${min}${upper}`;
}

/** The same for editors and validators. */
export function describeAsSchema({
  min,
  max = LARGEST,
  whole = false,
  above = false,
}: NumberRange): JsonSchema {
  return { type: whole ? "integer" : "number", [above ? "exclusiveMinimum" : "minimum"]: min, maximum: max };
}

/** Throws for a number that is not in its range, by its name; absent is fine. */
export function checkNumber(name: string, value: unknown, range: NumberRange): void {
  if (value !== undefined) mustBeInRange(name, value, range);
}

/** Throws for a number that is not in its range or not there, by its name. */
export function mustBeInRange(name: string, value: unknown, range: NumberRange): void {
  if (isInRange(value, range)) return;
  const accepted = describeRange(range);
  const why = typeof value === "number" && value > LARGEST ? " that is not beyond all measure" : "";
  throw new RetinueError(
    "input",
    `${name} is ${show(value)}, but must be ${accepted}${why}`,
    `set ${name} to ${accepted}`,
  );
}

/** Throws for anything but an object; `of` says what it has to hold. */
export function checkObject(
  name: string,
  value: unknown,
  of = "numbers by their names",
): asserts value is object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new RetinueError(
    "input",
    `${name} is ${show(value)}, but must be an object of ${of}`,
    `set ${name} to an object`,
  );
}

function show(value: unknown): string {
  const isPlain = typeof value !== "string" && (typeof value !== "object" || value === null);
  return isPlain ? String(value) : (JSON.stringify(value) ?? "no JSON").slice(0, 60);
}
