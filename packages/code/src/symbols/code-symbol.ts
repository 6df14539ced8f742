import { splitWords } from "@retinue/core/text/terms";
import { cutAt } from "@retinue/core/tools/truncate";

/** What a name stands for at a place in the code. */
export type SymbolKind =
  | "function"
  | "class"
  | "method"
  | "type"
  | "interface"
  | "variable"
  | "export"
  | "import"
  | "call";

/** A name at a place in the code. */
export type CodeSymbol = {
  name: string;
  kind: SymbolKind;
  line: number;
  /** The class or type that it belongs to. */
  within?: string;
  /** It is inside a function. */
  local?: boolean;
  text: string;
};

/** What is searched for: a name, or the words of one. */
export type NameQuery = {
  name: string;
  /** Only members of this. */
  within?: string;
  words: readonly string[];
  /** The part that any text which holds the name must hold, in whatever case. */
  needle: string;
};

const MAX_TEXT = 160;

/** Understands `name`, `name()`, `Type.member`, `Type#member` and several words of a name. */
export function readNameQuery(text: string): NameQuery {
  const bare = text.trim().replace(/\(.*\)$|;$/, "");
  const parts = bare.split(/\.|#|::|->/).filter(Boolean);
  const name = parts.at(-1)?.trim() || bare;
  const within = parts.length > 1 ? parts.at(-2)?.trim() : undefined;
  const words = /\s/.test(name) ? splitWords(name) : [];
  const needle = words.length > 0 ? longest(words) : name;
  return { name, ...(within && { within }), words, needle };
}

/** How well a name fits: 0 exactly, 1 but for case, 2 it begins so, 3 it holds it; undefined not at all. */
export function rateNameFit({ name, words }: NameQuery, candidate: string): number | undefined {
  if (words.length > 0) {
    const own = splitWords(candidate);
    return words.every((word) => own.some((each) => each.startsWith(word))) ? 3 : undefined;
  }
  const bare = candidate.replace(/^#/, "");
  if (bare === name) return 0;
  const low = bare.toLowerCase();
  const wanted = name.toLowerCase();
  if (low === wanted) return 1;
  if (low.startsWith(wanted)) return 2;
  return low.includes(wanted) ? 3 : undefined;
}

/** Definitions before exports before uses. */
export function rankKind(kind: SymbolKind): number {
  if (kind === "export") return 1;
  return isUse(kind) ? 2 : 0;
}

/** Whether this only uses what is defined elsewhere. */
export function isUse(kind: SymbolKind): boolean {
  return kind === "import" || kind === "call";
}

/** One line of code as a result shows it. */
export function showLine(line: string | undefined): string {
  const text = (line ?? "").trim().replace(/\s+/g, " ");
  return text.length > MAX_TEXT ? `${cutAt(text, MAX_TEXT)}…` : text;
}

/** A pattern that matches this text and nothing else, for JavaScript as for Rust. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function longest(words: readonly string[]): string {
  return words.reduce((best, word) => (word.length > best.length ? word : best), "");
}
