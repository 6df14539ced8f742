import { cutAt } from "../../../tools/truncate.ts";

const MAX_LINES = 50_000;
const MAX_WANTED = 60;
const MAX_SHOWN = 12;
const MAX_LINE_CHARS = 300;
const LEAST_LIKENESS = 0.5;
/** Fewer characters, such as a bracket, are inside of many lines. */
const LEAST_INSIDE = 6;

/** What a file has where a text was expected that it does not hold: the lines most like it, with their numbers. */
export function nearLines(text: string, wanted: string): string {
  const lines = text.split("\n").slice(0, MAX_LINES);
  const sought = withoutBlankEnds(wanted.split("\n")).slice(0, MAX_WANTED);
  if (sought.length === 0) return "it holds only white space";
  const same = findSqueezed(lines, squeezed(wanted));
  if (same) return `but for white space it is in these lines:\n${shown(lines, same.start, same.count)}`;
  const best = mostVoted(lines, sought);
  const longest = sought.reduce((one, other) =>
    squeezed(other).length > squeezed(one).length ? other : one,
  );
  // A bracket that occurs tells less than a line that is like one of these.
  const like = best && best.chars >= LEAST_INSIDE ? undefined : mostLike(lines, longest);
  if (like !== undefined) {
    const which = sought.length === 1 ? "it" : "its longest one";
    return `the line most like ${which}:\n${shown(lines, like - 1, 3)}`;
  }
  if (!best) return "nothing close to it was found; read the file again";
  const count = `${best.votes} ${best.votes === 1 ? "is" : "are"}`;
  return `of its ${sought.length} lines, ${count} here:\n${shown(lines, best.start, sought.length)}`;
}

/** The lines that hold a text, white space and line breaks aside. */
function findSqueezed(
  lines: readonly string[],
  wanted: string,
): { start: number; count: number } | undefined {
  const bare = lines.map(squeezed);
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

/** The start at which most of the sought lines stand in their places, or in a longer line there, white space aside. */
function mostVoted(lines: readonly string[], sought: readonly string[]) {
  const keys = sought.map(squeezed);
  const votes = new Map<number, { votes: number; chars: number }>();
  for (const [at, line] of lines.entries()) {
    const bare = squeezed(line);
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

function mostLike(lines: readonly string[], wanted: string): number | undefined {
  const pairs = pairsOf(wanted);
  let best: number | undefined;
  let most = LEAST_LIKENESS;
  for (const [at, line] of lines.entries()) {
    const others = pairsOf(line);
    if (others.size === 0) continue;
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared++;
    const likeness = (2 * shared) / (pairs.size + others.size);
    if (likeness > most) [most, best] = [likeness, at];
  }
  return best;
}

function pairsOf(line: string): Set<string> {
  const text = squeezed(line).slice(0, MAX_LINE_CHARS);
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function shown(lines: readonly string[], start: number, count: number): string {
  const from = Math.max(0, start);
  return lines
    .slice(from, from + Math.min(count, MAX_SHOWN))
    .map((line, at) => `${from + at + 1}\t${cutAt(line, MAX_LINE_CHARS)}`)
    .join("\n");
}

function squeezed(line: string): string {
  return line.replace(/\s+/g, "");
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => squeezed(line) !== "");
  const last = lines.findLastIndex((line) => squeezed(line) !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
