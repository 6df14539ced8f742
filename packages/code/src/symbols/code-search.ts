import { messageOf, tryTo } from "@retinue/core/schema/error";
import { oneOf, type TypeIn, text, textWith, whole } from "@retinue/core/schema/shape";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { defineLook } from "../file-tools/define-look.ts";
import { describeLeftOut, type Search, searchFiles } from "../file-tools/ripgrep.ts";
import {
  type CodeSymbol,
  escapePattern,
  isUse,
  type NameQuery,
  rankKind,
  rateNameFit,
  readNameQuery,
  showLine,
} from "./code-symbol.ts";
import {
  classifyRole,
  compareByRole,
  findLanguage,
  findLanguageName,
  type Grammar,
  listCodeLanguages,
  listGrammars,
  parseSource,
  ROLE_ORDER,
} from "./languages.ts";
import { lookIntoFiles } from "./source-files.ts";
import { findTextSymbols } from "./text-symbols.ts";
import { findTreeSymbols } from "./tree-symbols.ts";

const DEFAULT_LIMIT = 40;
const MAX_LIMIT = 200;
const MAX_FILES = 1_500;
/** A name that more files hold than can be looked into is looked for first where it may be defined. */
const MAX_COMMON_FILES = 600;
const KINDS = [
  "any",
  "function",
  "class",
  "method",
  "type",
  "interface",
  "variable",
  "import",
  "call",
] as const;

const INPUT = describeInput({
  "query?": {
    ...textWith({ minLength: 1, maxLength: 200 }),
    description: "A name or a part of one, Type.member, or several words that a name holds.",
  },
  "kind?": { type: "string", ...oneOf(...KINDS), description: "Only such; any by default." },
  "language?": {
    ...textWith({ maxLength: 20 }),
    description: "Only files of this language, such as typescript or py.",
  },
  "path?": { ...text, description: "A folder or file; the project's folder by default." },
  "pattern?": {
    ...textWith({ minLength: 1, maxLength: 500 }),
    description:
      "An ast-grep pattern: code in which $X stands for one node and $$$ for any number, such as await $X($$$). With a query, only matches that hold it.",
  },
  "limit?": { ...whole, minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} by default.` },
});
type CodeSearchInput = TypeIn<typeof INPUT>;

/** Finds names and structures in code. */
export const codeSearch = defineLook({
  name: "code_search",
  description:
    "Finds where names are defined, exported, imported and called, best first: exact names before others, definitions before uses, sources before tests. Or finds code by its shape with a pattern. Gives path:line, kind, name and the line. JavaScript, TypeScript, CSS and HTML are parsed; other languages are searched by the look of their lines.",
  input: INPUT,
  check: ({ query, pattern, language }) => {
    if (query === undefined && pattern === undefined) return "give a 'query' or a 'pattern'";
    if (query !== undefined && !/[\p{L}\p{N}_$]/u.test(query)) return `'${query}' holds no name`;
    if (language !== undefined && !findLanguageName(language))
      return `there is no language '${language}'; known: ${listCodeLanguages().join(", ")}`;
    if (pattern !== undefined && language !== undefined && listGrammars(language).length === 0)
      return `patterns are for JavaScript, TypeScript, CSS and HTML, not for ${language}; use a query or grep`;
    return null;
  },
  look: (input, context) => {
    const { pattern } = input;
    return pattern === undefined
      ? searchNames(input, context)
      : searchPattern({ ...input, pattern }, context);
  },
});

async function searchNames(
  { query = "", kind = "any", language, limit = DEFAULT_LIMIT }: CodeSearchInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const wanted = readNameQuery(query);
  const files = await candidates(wanted, acceptsLanguage(language), context);
  if (files.fault && files.paths.length === 0) return { text: `code_search: ${files.fault}`, isError: true };
  const found = await lookIntoFiles(files.paths, context, async (path, text) => {
    const { symbols, parsed, language } = await findSymbols(path, text, wanted);
    return symbols.map((symbol): Placed => ({ ...symbol, path, ...(!parsed && { byText: language }) }));
  });
  const all = found.flatMap((each) => each ?? []);
  const { shown, notes } = rankSymbols(all, { query: wanted, kind, limit });
  const lines = shown.length > 0 ? shown : [nothing(wanted, kind)];
  return { text: [...lines, ...notes, ...describeLeftOut(files, "files that hold this")].join("\n") };
}

/** The files to look into, likely ones first; where very many hold the text, those that may define it go first. */
async function candidates(
  { needle, name, words }: NameQuery,
  accepts: (path: string) => boolean,
  context: ToolContext,
): Promise<Search> {
  const search = async (...pattern: readonly string[]) => {
    const found = await searchFiles(
      { args: ["--files-with-matches", ...pattern], accepts, max: MAX_FILES },
      context,
    );
    return { ...found, paths: found.paths.toSorted(compareByRole) };
  };
  const all = await search("--ignore-case", "--fixed-strings", `--regexp=${needle}`);
  if (!all.cut || words.length > 0) return all;
  context.progress(`more than ${MAX_FILES} files hold ${needle}; looking for its definition first`);
  const defining = `(?:function\\*?|class|interface|type|enum|const|let|var|def|fn|func|fun|struct|trait|module|mod)\\s+${escapePattern(name)}\\b`;
  const first = await search(`--regexp=${defining}`);
  return { ...all, paths: [...new Set([...first.paths, ...all.paths])].slice(0, MAX_COMMON_FILES) };
}

/** The names in a file that fit, by its structure where there is a parser for it. */
export async function findSymbols(
  path: string,
  text: string,
  query: NameQuery,
): Promise<{ symbols: CodeSymbol[]; parsed: boolean; language: string }> {
  const { name = "text", grammar } = findLanguage(path) ?? {};
  const tree = grammar ? await parseSource(text, grammar) : null;
  if (!tree || !grammar)
    return { symbols: findTextSymbols(text, name, query), parsed: false, language: name };
  return { symbols: findTreeSymbols(tree, text, grammar, query), parsed: true, language: name };
}

function acceptsLanguage(language: string | undefined): (path: string) => boolean {
  const name = language === undefined ? undefined : findLanguageName(language);
  return (path) => {
    const own = findLanguage(path);
    return own?.isCode === true && (name === undefined || own.name === name);
  };
}

function nothing({ name, within }: NameQuery, kind: string): string {
  const what = kind === "any" ? "name" : kind;
  return `no ${what} like '${within ? `${within}.` : ""}${name}' in the code; grep searches comments and strings too`;
}

/** A name at a place, and the file it is in. */
type Placed = CodeSymbol & {
  path: string;
  /** Its language, if that was not parsed. */
  byText?: string;
};

/** What to show of the names found. */
type Wanted = { query: NameQuery; kind: string; limit: number };

/**
 * The names as lines, best first: exact before prefix before contained, definition before export before use, source
 * before test before generated. Without a kind, uses leave room for definitions of longer names; what is left out is said.
 */
function rankSymbols(
  symbols: readonly Placed[],
  { query, kind, limit }: Wanted,
): { shown: string[]; notes: string[] } {
  const ranked = symbols
    .filter((symbol) => (kind === "any" ? !isModulePath(symbol) : symbol.kind === kind))
    .filter(
      ({ within }) => query.within === undefined || within?.toLowerCase() === query.within.toLowerCase(),
    )
    .map((symbol) => ({ symbol, rank: rankSymbol(symbol, query) }))
    .sort((a, b) => compare(a.rank, b.rank) || compareByPlace(a.symbol, b.symbol))
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
  return { shown: shown.map(formatSymbol), notes };
}

/** A file's name in an import tells something only to who asks for imports. */
function isModulePath({ kind, name }: Placed): boolean {
  return kind === "import" && /[./]/.test(name);
}

function rankSymbol(symbol: Placed, query: NameQuery): readonly number[] {
  return [
    rateNameFit(query, symbol.name) ?? 9,
    rankKind(symbol.kind),
    ROLE_ORDER[classifyRole(symbol.path)],
    symbol.local && !isUse(symbol.kind) ? 1 : 0,
    // A name of its own is more often meant than a member of the same name.
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

function compareByPlace(a: Placed, b: Placed): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line;
}

function formatSymbol({ path, line, kind, name, within, text }: Placed): string {
  return `${path}:${line}  ${kind} ${within && !isUse(kind) ? `${within}.` : ""}${name}  ${text}`;
}

const MAX_PATTERN_FILES = 2_000;
/** Files are looked into in lots, so that a pattern that fits everywhere ends early. */
const LOT = 64;

/** Finds code by its shape, sources first. */
async function searchPattern(
  { pattern, query, language = "typescript", limit = DEFAULT_LIMIT }: CodeSearchInput & { pattern: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const grammars = listGrammars(language);
  const wrong = await findPatternFault(pattern, grammars);
  if (wrong) return { text: wrong, isError: true };
  const parsable = (path: string) => grammars.some((grammar) => grammar === findLanguage(path)?.grammar);
  const needle = findNeedle(pattern) ?? query;
  const holding = ["--files-with-matches", "--fixed-strings", `--regexp=${needle}`];
  const search = needle
    ? { args: holding, accepts: parsable, max: MAX_PATTERN_FILES }
    : { args: ["--files"], max: MAX_PATTERN_FILES * 10 };
  const files = await searchFiles(search, context);
  const paths = files.paths.filter(parsable).toSorted(compareByRole);
  const shown: string[] = [];
  let looked = 0;
  while (looked < Math.min(paths.length, MAX_PATTERN_FILES) && shown.length <= limit) {
    const lot = paths.slice(looked, looked + LOT);
    const found = await lookIntoFiles(lot, context, (path, text) => findMatches(path, text, pattern, query));
    shown.push(...found.flatMap((each) => each ?? []));
    looked += lot.length;
  }
  files.cut ||= shown.length > limit || looked < paths.length;
  const lines = shown.slice(0, limit);
  return {
    text: [...(lines.length > 0 ? lines : ["no matches"]), ...describeLeftOut(files, "matches")].join("\n"),
  };
}

async function findMatches(
  path: string,
  text: string,
  pattern: string,
  query: string | undefined,
): Promise<string[]> {
  const grammar = findLanguage(path)?.grammar;
  const tree = grammar ? await parseSource(text, grammar) : null;
  const nodes = tryTo(() => tree?.findAll(pattern));
  return (nodes ?? []).flatMap((node) => {
    const code = node.text();
    if (query !== undefined && !code.includes(query)) return [];
    return [`${path}:${node.range().start.line + 1}  match  ${showLine(code.slice(0, 400))}`];
  });
}

/** Why no grammar takes the pattern; null if one does. */
async function findPatternFault(pattern: string, grammars: readonly Grammar[]): Promise<string | null> {
  let fault = "no parser runs on this machine; use grep";
  for (const grammar of grammars) {
    const tree = await parseSource("", grammar);
    if (!tree) return fault;
    try {
      tree.findAll(pattern);
      return null;
    } catch (thrown) {
      fault = `the pattern is not valid: ${messageOf(thrown)}`;
    }
  }
  return fault;
}

/** A word of the pattern that all code of its shape must hold. */
function findNeedle(pattern: string): string | undefined {
  const words = pattern.replace(/\$+\w*/g, " ").match(/[A-Za-z_]\w+/g) ?? [];
  return words.toSorted((a, b) => b.length - a.length)[0];
}
