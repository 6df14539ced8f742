import type { Tool, ToolContext, ToolOutput } from "../../../tools/tool.ts";
import { defineLook } from "../files/define-look.ts";
import { leftOut, type Search } from "../files/ripgrep.ts";
import { type CodeSymbol, escaped, type NameQuery, nameQuery, type SymbolKind } from "./code-symbol.ts";
import { byRole, codeLanguages, grammarsOf, languageNamed, languageOf } from "./languages.ts";
import { parseSource } from "./parse-source.ts";
import { type Placed, rankSymbols } from "./rank-symbols.ts";
import { searchPattern } from "./search-pattern.ts";
import { eachFile, filesWith } from "./source-files.ts";
import { symbolsInText } from "./text-symbols.ts";
import { symbolsInTree } from "./tree-symbols.ts";

/** What `code_search` takes. */
export type CodeSearchInput = {
  query?: string;
  kind?: "any" | Exclude<SymbolKind, "export">;
  language?: string;
  path?: string;
  pattern?: string;
  limit?: number;
};

const DEFAULT_LIMIT = 40;
const MAX_LIMIT = 200;
const MAX_FILES = 1_500;
/** A name that more files hold than can be looked into is looked for first where it may be defined. */
const MAX_COMMON_FILES = 600;
const KINDS = "any function class method type interface variable import call".split(" ");

/** Finds names and structures in code. */
export const codeSearch: Tool<CodeSearchInput> = defineLook<CodeSearchInput>({
  name: "code_search",
  description:
    "Finds where names are defined, exported, imported and called, best first: exact names before others, definitions before uses, sources before tests. Or finds code by its shape with a pattern. Gives path:line, kind, name and the line. JavaScript, TypeScript, CSS and HTML are parsed; other languages are searched by the look of their lines.",
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      description: "A name or a part of one, Type.member, or several words that a name holds.",
    },
    kind: { type: "string", enum: KINDS, description: "Only such; any by default." },
    language: {
      type: "string",
      maxLength: 20,
      description: "Only files of this language, such as typescript or py.",
    },
    path: { type: "string", description: "A folder or file; the project's folder by default." },
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: 500,
      description:
        "An ast-grep pattern: code in which $X stands for one node and $$$ for any number, such as await $X($$$). With a query, only matches that hold it.",
    },
    limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} by default.` },
  },
  check: ({ query, pattern, language }) => {
    if (query === undefined && pattern === undefined) return "give a 'query' or a 'pattern'";
    if (query !== undefined && !/[\p{L}\p{N}_$]/u.test(query)) return `'${query}' holds no name`;
    if (language !== undefined && !languageNamed(language))
      return `there is no language '${language}'; known: ${codeLanguages().join(", ")}`;
    if (pattern !== undefined && language !== undefined && grammarsOf(language).length === 0)
      return `patterns are for JavaScript, TypeScript, CSS and HTML, not for ${language}; use a query or grep`;
    return null;
  },
  look: async (input, context) => {
    const { pattern, query, language = "typescript", limit = DEFAULT_LIMIT } = input;
    if (pattern === undefined) return await searchNames(input, context);
    return await searchPattern({ pattern, query, grammars: grammarsOf(language), limit }, context);
  },
});

async function searchNames(
  { query = "", kind = "any", language, limit = DEFAULT_LIMIT }: CodeSearchInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const wanted = nameQuery(query);
  const files = await candidates(wanted, acceptsLanguage(language), context);
  if (files.fault && files.paths.length === 0) return { text: `code_search: ${files.fault}`, isError: true };
  const found = await eachFile(files.paths, context, async (path, text) => {
    const { symbols, parsed, language } = await symbolsIn(path, text, wanted);
    return symbols.map((symbol): Placed => ({ ...symbol, path, ...(!parsed && { byText: language }) }));
  });
  const all = found.flatMap((each) => each ?? []);
  const { shown, notes } = rankSymbols(all, { query: wanted, kind, limit });
  const lines = shown.length > 0 ? shown : [nothing(wanted, kind)];
  return { text: [...lines, ...notes, ...leftOut(files, "files that hold this")].join("\n") };
}

/** The files to look into, likely ones first; where very many hold the text, those that may define it go first. */
async function candidates(
  { needle, name, words }: NameQuery,
  accepts: (path: string) => boolean,
  context: ToolContext,
): Promise<Search & { paths: string[] }> {
  const all = await filesWith(
    ["--ignore-case", "--fixed-strings", `--regexp=${needle}`],
    accepts,
    MAX_FILES,
    context,
  );
  const paths = all.paths.toSorted(byRole);
  if (!all.cut || words.length > 0) return { ...all, paths };
  context.progress(`more than ${MAX_FILES} files hold ${needle}; looking for its definition first`);
  const defining = `(?:function\\*?|class|interface|type|enum|const|let|var|def|fn|func|fun|struct|trait|module|mod)\\s+${escaped(name)}\\b`;
  const first = await filesWith([`--regexp=${defining}`], accepts, MAX_FILES, context);
  return {
    ...all,
    paths: [...new Set([...first.paths.toSorted(byRole), ...paths])].slice(0, MAX_COMMON_FILES),
  };
}

/** The names in a file that fit, by its structure where there is a parser for it. */
export async function symbolsIn(
  path: string,
  text: string,
  query: NameQuery,
): Promise<{ symbols: CodeSymbol[]; parsed: boolean; language: string }> {
  const { name = "text", grammar } = languageOf(path) ?? {};
  const tree = grammar ? await parseSource(text, grammar) : null;
  if (!tree || !grammar) return { symbols: symbolsInText(text, name, query), parsed: false, language: name };
  return { symbols: symbolsInTree(tree, text, grammar, query), parsed: true, language: name };
}

function acceptsLanguage(language: string | undefined): (path: string) => boolean {
  const name = language === undefined ? undefined : languageNamed(language);
  return (path) => {
    const own = languageOf(path);
    return own?.isCode === true && (name === undefined || own.name === name);
  };
}

function nothing({ name, within }: NameQuery, kind: string): string {
  const what = kind === "any" ? "name" : kind;
  return `no ${what} like '${within ? `${within}.` : ""}${name}' in the code; grep searches comments and strings too`;
}
