import { InvalidArgumentError } from "commander";

/** Reads a whole number of at least 1. */
export function wholeNumber(text: string): number {
  return number(text, Number.isSafeInteger, 1, "a whole number of at least 1");
}

/** Reads a whole number of at least 0. */
export function countNumber(text: string): number {
  return number(text, Number.isSafeInteger, 0, "a whole number of at least 0");
}

/** Reads an amount above 0. */
export function amount(text: string): number {
  return number(text, Number.isFinite, Number.MIN_VALUE, "a number above 0");
}

function number(text: string, fits: (value: number) => boolean, least: number, wanted: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (fits(value) && value >= least) return value;
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}
