import { plainLine } from "../plain-text.ts";

const MAX_PARTS = 6;
const MAX_READ = 400;
const MAX_SHOWN = 120;

/** What a call is about, in few words: the plain values of its input, without their names. */
export function shortInput(input: unknown): string {
  return plainLine(partsOf(input).join(" "), MAX_SHOWN);
}

function partsOf(input: unknown): string[] {
  if (typeof input !== "object" || input === null) return [shown(input)];
  return Object.values(input)
    .slice(0, MAX_PARTS)
    .flatMap((value) => (typeof value === "object" ? [] : [shown(value)]));
}

function shown(value: unknown): string {
  return value === undefined || value === null ? "" : String(value).slice(0, MAX_READ);
}
