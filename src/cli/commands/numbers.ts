import { InvalidArgumentError } from "commander";
import {
  AT_LEAST_ONE,
  COUNT,
  describeRange,
  isInRange,
  type NumberRange,
  POSITIVE,
  SCALE,
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

/** Limits that suit strong models with large windows. */
const ROOMY = 3;

/** Reads by how much the limits of agents are raised: a word, or a number. */
export function limitsScale(text: string): number {
  if (text === "roomy") return ROOMY;
  if (text === "normal") return 1;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isInRange(value, SCALE)) return value;
  throw new InvalidArgumentError(`It must be roomy, normal, or ${describeRange(SCALE)}.`);
}

function readInRange(text: string, range: NumberRange): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isInRange(value, range)) return value;
  throw new InvalidArgumentError(`It must be ${describeRange(range)}.`);
}
