import { cutAt } from "../../../tools/truncate.ts";

const MAX_LINES = 50_000;
const MAX_WANTED = 60;
const MAX_SHOWN = 12;
const MAX_LINE_CHARS = 300;
const LEAST_LIKENESS = 0.5;

/** What a file has where a text was expected that it does not hold: the lines most like it, with their numbers. */
export function nearLines(text: string, wanted: string): string {
  const lines = text.split("\n").slice(0, MAX_LINES);
  const sought = withoutBlankEnds(wanted.split("\n")).slice(0, MAX_WANTED);
  if (sought.length === 0) return "it holds only white space";
  const best = mostVoted(lines, sought);
  if (best) {
    const all = best.votes === sought.filter((line) => squeezed(line) !== "").length;
    const what = all
      ? "these lines differ from it only in white space"
      : `of its ${sought.length} lines, ${best.votes} are here`;
    return `${what}:\n${shown(lines, best.start, sought.length)}`;
  }
  const like = mostLike(lines, sought.find((line) => squeezed(line) !== "") ?? "");
  if (like === undefined) return "no line of the file is like it";
  return `the line most like its first one:\n${shown(lines, like - 1, 3)}`;
}

/** The start at which most of the sought lines stand in their places, white space aside. */
function mostVoted(lines: readonly string[], sought: readonly string[]) {
  const places = new Map<string, number[]>();
  for (const [at, line] of sought.entries()) {
    const key = squeezed(line);
    if (key !== "") places.set(key, [...(places.get(key) ?? []), at]);
  }
  const votes = new Map<number, number>();
  for (const [at, line] of lines.entries())
    for (const place of places.get(squeezed(line)) ?? [])
      votes.set(at - place, (votes.get(at - place) ?? 0) + 1);
  let best: { start: number; votes: number } | undefined;
  for (const [start, count] of votes) if (count > (best?.votes ?? 0)) best = { start, votes: count };
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
