import { compileWildcard, matchesWildcard, type Wildcard } from "../../text/wildcard.ts";

/** A compiled path pattern: its segments, `**` standing for any number of them. */
export type PathGlob = readonly Segment[];

type Segment = typeof ANY_DEPTH | { readonly pieces: Wildcard } | { readonly tokens: readonly Token[] };
type Token = string | typeof STAR | typeof ONE | CharacterClass;
type CharacterClass = { readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };

/** The segment `**`. */
export const ANY_DEPTH = Symbol("**");
const STAR = Symbol("*");
const ONE = Symbol("?");
const MAX_ALTERNATIVES = 256;

/** Compiles segments of `*`, `?`, `[a-z]`, `**` and `\` before a literal character; a leading dot is not special. */
export function compileSegments(segments: readonly string[]): PathGlob {
  const compiled: Segment[] = [];
  for (const segment of segments) {
    if (segment !== "**") compiled.push(compileSegment(segment));
    else if (compiled.at(-1) !== ANY_DEPTH) compiled.push(ANY_DEPTH);
  }
  return compiled;
}

/** Whether the glob covers the whole path. */
export function matchesPathGlob(glob: PathGlob, path: readonly string[]): boolean {
  return covers(glob, path, (segment) => segment === ANY_DEPTH, matchesSegment);
}

/** Whether parts cover all items. Only the latest star is ever retried, so the work is at most length × length. */
function covers<Part>(
  parts: readonly Part[],
  items: ArrayLike<string>,
  isStar: (part: Part | undefined) => boolean,
  matches: (part: Part, item: string) => boolean,
): boolean {
  let at = 0;
  let from = 0;
  let retryAt = -1;
  let retryFrom = 0;
  while (from < items.length) {
    const part = parts[at];
    if (isStar(part)) {
      retryAt = at++;
      retryFrom = from;
    } else if (part !== undefined && matches(part, items[from] ?? "")) {
      at++;
      from++;
    } else if (retryAt >= 0) {
      at = retryAt + 1;
      from = ++retryFrom;
    } else return false;
  }
  while (isStar(parts[at])) at++;
  return at === parts.length;
}

/** Whether a written segment names one thing and not several. */
export function isLiteralSegment(segment: string): boolean {
  return !/(?<!\\)[*?[]/.test(segment);
}

/** Spells out `{a,b}`; undefined if that would give too many patterns. */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    if (open.length + done.length > MAX_ALTERNATIVES) return undefined;
    const text = open.pop() ?? "";
    const group = innermostGroup(text);
    if (!group) done.push(text);
    else
      for (const choice of group.choices)
        open.push(text.slice(0, group.start) + choice + text.slice(group.end));
  }
  return done;
}

type Group = { start: number; end: number; choices: string[] };

function innermostGroup(text: string): Group | undefined {
  let start = -1;
  let commas: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === "\\") index++;
    else if (character === "{") {
      start = index;
      commas = [];
    } else if (character === "," && start >= 0) commas.push(index);
    else if (character === "}" && start >= 0) {
      if (commas.length > 0)
        return { start, end: index + 1, choices: choicesBetween(text, start, commas, index) };
      start = -1;
    }
  }
  return undefined;
}

function choicesBetween(text: string, start: number, commas: readonly number[], end: number): string[] {
  const bounds = [start, ...commas, end];
  return bounds.slice(1).map((bound, index) => text.slice((bounds[index] ?? start) + 1, bound));
}

function compileSegment(segment: string): Segment {
  if (!/[?[\\]/.test(segment)) return { pieces: compileWildcard(segment) };
  const tokens: Token[] = [];
  for (let index = 0; index < segment.length; index++) {
    const character = segment[index] ?? "";
    const close = character === "[" ? segment.indexOf("]", index + 2) : -1;
    if (character === "\\") tokens.push(segment[++index] ?? "\\");
    else if (character === "*") tokens.push(STAR);
    else if (character === "?") tokens.push(ONE);
    else if (close > 0) {
      tokens.push(compileClass(segment.slice(index + 1, close)));
      index = close;
    } else tokens.push(character);
  }
  return { tokens };
}

function compileClass(body: string): CharacterClass {
  const negated = body[0] === "!" || body[0] === "^";
  const ranges: [string, string][] = [];
  for (let index = negated ? 1 : 0; index < body.length; index++) {
    const from = body[index] ?? "";
    const ranged = body[index + 1] === "-" && index + 2 < body.length;
    ranges.push([from, ranged ? (body[index + 2] ?? from) : from]);
    if (ranged) index += 2;
  }
  return { negated, ranges };
}

function matchesSegment(segment: Segment, text: string): boolean {
  if (segment === ANY_DEPTH) return true;
  return "pieces" in segment ? matchesWildcard(segment.pieces, text) : matchesTokens(segment.tokens, text);
}

function matchesTokens(tokens: readonly Token[], text: string): boolean {
  return covers(tokens, text, (token) => token === STAR, matchesCharacter);
}

function matchesCharacter(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  if (typeof token === "symbol") return token === ONE;
  const inside = token.ranges.some(([from, to]) => from <= character && character <= to);
  return inside !== token.negated;
}
