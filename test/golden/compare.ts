import { readFileSync } from "node:fs";
import type { GoldenRecord } from "./normalise.ts";

const EXCERPT_CHARS = 180;
/** Fields that follow from others, and are shown after them. */
const DERIVED = /(?:context_size|context_token_count|duration_ms)$/;
/** The most differences that are shown of one scenario. */
const SHOWN = 12;

/** Every field in which a scenario's record is not as before; empty if there is none. */
export function compareRecords(scenario: string, before: GoldenRecord, now: GoldenRecord): string[] {
  const differences: string[] = [];
  const derived: string[] = [];
  const length = Math.max(before.lines.length, now.lines.length);
  for (let row = 0; row < length; row++) {
    const [then, today] = [before.lines[row], now.lines[row]];
    const place = `${scenario}, row ${row + 1} (${today?.at ?? then?.at})`;
    if (!then || !today || then.at !== today.at || then.type !== today.type) {
      const name = (line: typeof then) =>
        line ? `${line.at}${line.type ? ` ${line.type}` : ""}` : "nothing";
      differences.push(`${place}\n    before: ${name(then)}\n    now:    ${name(today)}`);
      // What follows stands one row further up or down.
      break;
    }
    const [old, fresh] = [flatten(then), flatten(today)];
    for (const field of new Set([...old.keys(), ...fresh.keys()])) {
      const [was, is] = [old.get(field), fresh.get(field)];
      if (was === is) continue;
      const list = DERIVED.test(field) ? derived : differences;
      list.push(`${place}, ${field}\n${describeChange(was, is, before, now)}`);
    }
  }
  const all = [...differences, ...derived];
  const more = all.length - SHOWN;
  return more > 0 ? [...all.slice(0, SHOWN), `${scenario}: ${more} more differences`] : all;
}

function flatten(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return into.set(path, JSON.stringify(value));
  for (const [key, each] of Object.entries(value)) flatten(each, path === "" ? key : `${path}.${key}`, into);
  return into;
}

function describeChange(
  was: string | undefined,
  is: string | undefined,
  before: GoldenRecord,
  now: GoldenRecord,
): string {
  const [old, fresh] = [findText(was, before), findText(is, now)];
  if (old === undefined || fresh === undefined) {
    const at = findDifference(was ?? "", is ?? "");
    return `    before: ${excerpt(was, at)}\n    now:    ${excerpt(is, at)}`;
  }
  const [oldLines, freshLines] = [old.split("\n"), fresh.split("\n")];
  const at = oldLines.findIndex((line, index) => line !== freshLines[index]);
  const line = at === -1 ? oldLines.length : at;
  return `    line ${line + 1} of a text\n${describeChange(oldLines[line], freshLines[line], before, now)}`;
}

function findDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** A long value around the place where it differs. */
function excerpt(value: string | undefined, at: number): string {
  if (value === undefined) return "nothing";
  const from = Math.max(0, at - EXCERPT_CHARS / 3);
  const cut = value.slice(from, from + EXCERPT_CHARS);
  return `${from > 0 ? "…" : ""}${cut}${from + EXCERPT_CHARS < value.length ? "…" : ""}`;
}

function findText(field: string | undefined, { texts }: GoldenRecord): string | undefined {
  const hash = /^"?text:([0-9a-f]{12})"?$/.exec(field ?? "")?.[1];
  return hash === undefined ? undefined : texts.get(hash);
}

/** Reads the lines of a file that has one JSON value a line. */
export function readJsonLines<Value>(file: URL): Value[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Value);
}
