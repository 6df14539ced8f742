import { cutAt } from "@retinue/core/tools/truncate";

/** One replacement: `old` must occur exactly once, or with `all` at least once. */
export type Edit = { old: string; new: string; all?: boolean };

/** A changed text and the lines at which it was changed, or why nothing was. */
export type Applied = { ok: true; text: string; lines: number[] } | { ok: false; message: string };

const MAX_PLACES_NAMED = 10;
const BOM = "\uFEFF";

/**
 * Applies edits in order, all or none. Line ends do not matter for finding a text; what is put in takes the line ends of
 * what it replaces, or else those that the file has most. Everything else, a byte order mark too, stays as it is.
 */
export function applyEdits(text: string, edits: readonly Edit[]): Applied {
  const mark = text.startsWith(BOM) ? BOM : "";
  let body = text.slice(mark.length);
  const lines: number[] = [];
  for (const [index, edit] of edits.entries()) {
    const applied = applyOne(body, edit);
    if (!applied.ok) {
      const which = edits.length > 1 ? `edit ${index + 1} of ${edits.length}: ` : "";
      return { ok: false, message: `${which}${applied.message}` };
    }
    body = applied.text;
    lines.push(...applied.lines);
  }
  return { ok: true, text: mark + body, lines };
}

/** The line end that a text has most, `\n` if it has none. */
export function findLineEnd(text: string): "\r\n" | "\n" {
  const windows = text.split("\r\n").length - 1;
  const all = text.split("\n").length - 1;
  return windows > all - windows ? "\r\n" : "\n";
}

function applyOne(raw: string, edit: Edit): Applied {
  const text = unifyLineEnds(raw);
  const old = unifyLineEnds(edit.old.startsWith(BOM) ? edit.old.slice(1) : edit.old);
  const put = unifyLineEnds(edit.new.startsWith(BOM) ? edit.new.slice(1) : edit.new);
  if (old === "") return { ok: false, message: "the text to replace is empty; to make a new file use write" };
  if (old === put) return { ok: false, message: "the old text and the new one are the same" };
  const places = findPlaces(text, old, edit.all === true);
  const lines = findLineNumbers(text, places);
  if (places.length === 0)
    return {
      ok: false,
      message: `the text to replace does not occur in the file; ${describeNearLines(text, old)}`,
    };
  if (places.length > 1 && !edit.all) {
    const named =
      lines.slice(0, MAX_PLACES_NAMED).join(", ") + (lines.length > MAX_PLACES_NAMED ? ", …" : "");
    return {
      ok: false,
      message: `the text to replace occurs ${places.length} times (lines ${named}); give more of what is around it, or replace every occurrence`,
    };
  }
  const toRaw = mapPositions(raw);
  const usual = findLineEnd(raw);
  let result = "";
  let done = 0;
  for (const place of places) {
    const from = toRaw(place);
    const to = toRaw(place + old.length);
    const replaced = raw.slice(from, to);
    const end = replaced.includes("\n") ? lineEndLike(replaced, usual) : usual;
    result += raw.slice(done, from) + (end === "\n" ? put : put.replaceAll("\n", "\r\n"));
    done = to;
  }
  return { ok: true, text: result + raw.slice(done), lines };
}

/** Where a text occurs; overlapping places count too unless all of them are to be replaced. */
function findPlaces(text: string, wanted: string, all: boolean): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + (all ? wanted.length : 1)))
    places.push(at);
  return places;
}

/** The numbers of the lines that hold these positions, which ascend. */
function findLineNumbers(text: string, places: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return places.map((place) => {
    for (let at = text.indexOf("\n", from); at >= 0 && at < place; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return line;
  });
}

function unifyLineEnds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function lineEndLike(replaced: string, usual: "\r\n" | "\n"): "\r\n" | "\n" {
  const ends = new Set(replaced.match(/\r?\n/g));
  if (ends.size > 1) return usual;
  return ends.has("\r\n") ? "\r\n" : "\n";
}

/** Turns positions of the text with `\n` only, asked for in ascending order, into those of the text itself. */
function mapPositions(raw: string): (position: number) => number {
  let dropped = 0;
  let next = raw.indexOf("\r\n");
  return (position) => {
    while (next >= 0 && next - dropped < position) {
      dropped++;
      next = raw.indexOf("\r\n", next + 2);
    }
    return position + dropped;
  };
}

const MAX_LINES = 50_000;
const MAX_WANTED = 60;
const MAX_SHOWN = 12;
const MAX_LINE_CHARS = 300;
const LEAST_LIKENESS = 0.5;
/** Fewer characters, such as a bracket, are inside of many lines. */
const LEAST_INSIDE = 6;

/** What a file has where a text was expected that it does not hold: the lines most like it, with their numbers. */
export function describeNearLines(text: string, wanted: string): string {
  const lines = text.split("\n").slice(0, MAX_LINES);
  const sought = trimBlankLines(wanted.split("\n")).slice(0, MAX_WANTED);
  if (sought.length === 0) return "it holds only white space";
  const same = findSqueezed(lines, squeeze(wanted));
  if (same) return `but for white space it is in these lines:\n${showRange(lines, same.start, same.count)}`;
  const best = findMostVoted(lines, sought);
  const longest = sought.reduce((one, other) => (squeeze(other).length > squeeze(one).length ? other : one));
  // A bracket that occurs tells less than a line that is like one of these.
  const like = best && best.chars >= LEAST_INSIDE ? undefined : findMostLike(lines, longest);
  if (like !== undefined) {
    const which = sought.length === 1 ? "it" : "its longest one";
    return `the line most like ${which}:\n${showRange(lines, like - 1, 3)}`;
  }
  if (!best) return "nothing close to it was found; read the file again";
  const count = `${best.votes} ${best.votes === 1 ? "is" : "are"}`;
  return `of its ${sought.length} lines, ${count} here:\n${showRange(lines, best.start, sought.length)}`;
}

/** The lines that hold a text, white space and line breaks aside. */
function findSqueezed(
  lines: readonly string[],
  wanted: string,
): { start: number; count: number } | undefined {
  const bare = lines.map(squeeze);
  const at = bare.join("").indexOf(wanted);
  if (at < 0) return undefined;
  let start = -1;
  let end = 0;
  for (const [index, line] of bare.entries()) {
    end += line.length;
    if (start < 0 && end > at) start = index;
    if (end >= at + wanted.length) return { start, count: index - start + 1 };
  }
  return undefined;
}

/** The start at which most of the sought lines are in their places, or in a longer line there, white space aside. */
function findMostVoted(lines: readonly string[], sought: readonly string[]) {
  const keys = sought.map(squeeze);
  const votes = new Map<number, { votes: number; chars: number }>();
  for (const [at, line] of lines.entries()) {
    const bare = squeeze(line);
    if (bare === "") continue;
    for (const [place, key] of keys.entries()) {
      if (bare !== key && (key.length < LEAST_INSIDE || !bare.includes(key))) continue;
      const { votes: count, chars } = votes.get(at - place) ?? { votes: 0, chars: 0 };
      votes.set(at - place, { votes: count + 1, chars: chars + key.length });
    }
  }
  let best: { start: number; votes: number; chars: number } | undefined;
  for (const [start, found] of votes) if (found.chars > (best?.chars ?? 0)) best = { start, ...found };
  return best;
}

function findMostLike(lines: readonly string[], wanted: string): number | undefined {
  const pairs = pairLetters(wanted);
  let best: number | undefined;
  let most = LEAST_LIKENESS;
  for (const [at, line] of lines.entries()) {
    const others = pairLetters(line);
    if (others.size === 0) continue;
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    const likeness = (2 * shared) / (pairs.size + others.size);
    if (likeness > most) [most, best] = [likeness, at];
  }
  return best;
}

function pairLetters(line: string): Set<string> {
  const text = squeeze(line).slice(0, MAX_LINE_CHARS);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function showRange(lines: readonly string[], start: number, count: number): string {
  const from = Math.max(0, start);
  return lines
    .slice(from, from + Math.min(count, MAX_SHOWN))
    .map((line, at) => `${from + at + 1}\t${cutAt(line, MAX_LINE_CHARS)}`)
    .join("\n");
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, "");
}

function trimBlankLines(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => squeeze(line) !== "");
  const last = lines.findLastIndex((line) => squeeze(line) !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
