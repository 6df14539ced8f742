import type { SgNode } from "@ast-grep/napi";
import { findOwn } from "@retinue/core/schema/find-own";

/** The grammars that files can be parsed with. */
export type Grammar = "TypeScript" | "Tsx" | "JavaScript" | "Css" | "Html";

/** A language, by the ends of its files' names. Without a grammar it is read as text. */
type Language = { readonly name: string; readonly grammar?: Grammar; readonly isCode: boolean };

/** What a file is for; what is aside shows, measures or explains the sources. */
type FileRole = "source" | "aside" | "test" | "generated";

const CODE: readonly (readonly [name: string, ends: string, grammar?: Grammar])[] = [
  ["Python", "py pyi"],
  ["Go", "go"],
  ["Rust", "rs"],
  ["Java", "java"],
  ["Kotlin", "kt kts"],
  ["Scala", "scala"],
  ["Ruby", "rb rake"],
  ["PHP", "php"],
  ["C", "c h"],
  ["C++", "cc cpp cxx hpp hh hxx"],
  ["C#", "cs"],
  ["Swift", "swift"],
  ["Dart", "dart"],
  ["Lua", "lua"],
  ["Elixir", "ex exs"],
  ["Shell", "sh bash zsh"],
  ["SQL", "sql"],
  ["Vue", "vue"],
  ["Svelte", "svelte"],
  ["TypeScript", "ts mts cts", "TypeScript"],
  ["TypeScript", "tsx", "Tsx"],
  ["JavaScript", "js mjs cjs jsx", "JavaScript"],
  ["CSS", "css", "Css"],
  ["HTML", "html htm", "Html"],
];
const OTHER: readonly (readonly [name: string, ends: string])[] = [
  ["Markdown", "md mdx"],
  ["JSON", "json jsonc"],
  ["YAML", "yml yaml"],
  ["TOML", "toml"],
  ["XML", "xml svg"],
  ["Text", "txt rst adoc csv"],
];
const ALIASES: Readonly<Record<string, string>> = { golang: "Go", bash: "Shell" };

const BY_EXTENSION = new Map<string, Language>([
  ...CODE.flatMap(([name, ends, grammar]) =>
    entries({ name, isCode: true, ...(grammar && { grammar }) }, ends),
  ),
  ...OTHER.flatMap(([name, ends]) => entries({ name, isCode: false }, ends)),
]);

const GENERATED =
  /(?:^|\/)(?:dist|build|out|target|vendor|third_party|generated|__generated__|node_modules|coverage)\/|\.(?:min\.(?:js|css)|map|snap|lock|d\.[cm]?ts|pb\.go|g\.dart)$|(?:^|\/)[\w.-]*-lock\.\w+$|(?:^|[._-])generated\./i;
const TEST =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|specs?|e2e|fixtures?|testdata)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)(?:test_[^/]+|conftest)\.py$|[a-z](?:Tests?|Spec)\.(?:java|kt|cs|scala|swift|php)$/;

const ASIDE = /(?:^|\/)(?:bench|benchmarks?|examples?|samples?|demos?|docs?)\//i;

/** The language of a file, from its name. */
export function findLanguage(path: string): Language | undefined {
  return BY_EXTENSION.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
}

/** The name of the language that a person or model means: by name, by the end of a file's name, or by another name. */
export function findLanguageName(text: string): string | undefined {
  const wanted = text.trim().toLowerCase().replace(/^\./, "");
  const byName = [...BY_EXTENSION.values()].find(({ name }) => name.toLowerCase() === wanted);
  return byName?.name ?? findOwn(ALIASES, wanted) ?? BY_EXTENSION.get(wanted)?.name;
}

/** The names of the languages whose definitions can be found. */
export function listCodeLanguages(): string[] {
  return [...new Set(CODE.map(([name]) => name))].sort();
}

/** The grammars of a language; JavaScript and TypeScript are searched together, since projects mix them. */
export function listGrammars(language: string): Grammar[] {
  const name = findLanguageName(language);
  if (name === "TypeScript" || name === "JavaScript") return ["TypeScript", "Tsx", "JavaScript"];
  return CODE.flatMap(([each, , grammar]) => (grammar && each === name ? [grammar] : []));
}

/** What a file is for, from its path: what builds leave behind is generated, whatever else it is. */
export function classifyRole(path: string): FileRole {
  if (GENERATED.test(path)) return "generated";
  if (TEST.test(path)) return "test";
  return ASIDE.test(path) ? "aside" : "source";
}

/** Sources before tests before generated files, each in the order of their paths. */
export function compareByRole(a: string, b: string): number {
  return ROLE_ORDER[classifyRole(a)] - ROLE_ORDER[classifyRole(b)] || (a < b ? -1 : a > b ? 1 : 0);
}

/** The place of each role in a list. */
export const ROLE_ORDER: Readonly<Record<FileRole, number>> = { source: 0, aside: 1, test: 2, generated: 3 };

function entries(language: Language, ends: string): [string, Language][] {
  return ends.split(" ").map((end) => [end, language]);
}

/** A node of a syntax tree. */
export type SyntaxNode = SgNode;

let parser: Promise<typeof import("@ast-grep/napi") | null> | undefined;

/** The tree of a source text, parsed off this thread; null if no parser runs on this machine. */
export async function parseSource(text: string, grammar: Grammar): Promise<SyntaxNode | null> {
  parser ??= import("@ast-grep/napi").catch(() => null);
  const library = await parser;
  return library ? (await library.parseAsync(grammar, text)).root() : null;
}
