import { type CodeSymbol, fitOf, isUse, type NameQuery, rankOfKind } from "./code-symbol.ts";
import { ROLE_ORDER, roleOf } from "./languages.ts";

/** A name at a place, and the file it is in. */
export type Placed = CodeSymbol & {
  path: string /** Its language, if that was not parsed. */;
  byText?: string;
};

/** What to show of the names found. */
export type Wanted = { query: NameQuery; kind: string; limit: number };

/**
 * The names as lines, best first: exact before prefix before contained, definition before export before use, source
 * before test before generated. Without a kind, uses leave room for definitions of longer names; what is left out is said.
 */
export function rankSymbols(
  symbols: readonly Placed[],
  { query, kind, limit }: Wanted,
): { shown: string[]; notes: string[] } {
  const ranked = symbols
    .filter((symbol) => (kind === "any" ? !isModulePath(symbol) : symbol.kind === kind))
    .filter(
      ({ within }) => query.within === undefined || within?.toLowerCase() === query.within.toLowerCase(),
    )
    .map((symbol) => ({ symbol, rank: rankOf(symbol, query) }))
    .sort((a, b) => compare(a.rank, b.rank) || byPlace(a.symbol, b.symbol))
    .map(({ symbol }) => symbol);
  const uses = ranked.filter((symbol) => isUse(symbol.kind));
  const others = ranked.length - uses.length;
  const room = kind === "any" ? Math.max(Math.ceil(limit / 2), limit - others) : limit;
  const shownUses = new Set(uses.slice(0, room));
  const kept = ranked.filter((symbol) => !isUse(symbol.kind) || shownUses.has(symbol));
  const shown = kept.slice(0, limit);
  const left = ranked.length - shown.length;
  const leftUses = uses.length - shown.filter((symbol) => isUse(symbol.kind)).length;
  const detail =
    leftUses > 0 && leftUses < left ? `, ${leftUses} of them uses` : leftUses > 0 ? ", all uses" : "";
  const byText = new Set(shown.flatMap((symbol) => symbol.byText ?? []));
  const notes = [
    ...(left > 0 ? [`(${left} more${detail}; set a kind, a path or a higher limit)`] : []),
    ...(byText.size > 0 ? [`(${[...byText].sort().join(", ")}: by text, not by structure)`] : []),
  ];
  return { shown: shown.map(lineOf), notes };
}

/** A file's name in an import tells something only to who asks for imports. */
function isModulePath({ kind, name }: Placed): boolean {
  return kind === "import" && /[./]/.test(name);
}

function rankOf(symbol: Placed, query: NameQuery): readonly number[] {
  return [
    fitOf(query, symbol.name) ?? 9,
    rankOfKind(symbol.kind),
    ROLE_ORDER[roleOf(symbol.path)],
    symbol.local && !isUse(symbol.kind) ? 1 : 0,
    // What stands by itself is more often meant than a member of the same name.
    symbol.kind === "variable" ? 2 : symbol.kind === "method" ? 1 : 0,
  ];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const difference = value - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function byPlace(a: Placed, b: Placed): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line;
}

function lineOf({ path, line, kind, name, within, text }: Placed): string {
  return `${path}:${line}  ${kind} ${within && !isUse(kind) ? `${within}.` : ""}${name}  ${text}`;
}
