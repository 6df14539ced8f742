import { InvalidArgumentError } from "commander";
import {
  AT_LEAST_ONE,
  COUNT,
  describeRange,
  isInRange,
  type NumberRange,
  POSITIVE,
} from "../../schema/number-range.ts";

/** Reads a whole number of at least 1. */
export function wholeNumber(text: string): number {
  return readInRange(text, AT_LEAST_ONE);
}

/** Reads a whole number of at least 0. */
export function countNumber(text: string): number {
  return readInRange(text, COUNT);
}

/** Reads an amount above 0. */
export function amount(text: string): number {
  return readInRange(text, POSITIVE);
}

function readInRange(text: string, range: NumberRange): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isInRange(value, range)) return value;
  throw new InvalidArgumentError(`It must be ${describeRange(range)}.`);
}
