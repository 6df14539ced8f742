import { findOwn } from "@retinue/core/schema/find-own";
import { type CodeSymbol, type NameQuery, rateNameFit, type SymbolKind, showLine } from "./code-symbol.ts";

type Line = readonly [kind: SymbolKind, pattern: RegExp];

const MAX_LINE_CHARS = 500;
const WORDS =
  "(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|virtual|async|export|default|declare|data|inline|const|readonly|partial|suspend|unsafe|extern|lateinit|mutating) )*";

const SCRIPT: readonly Line[] = [
  ["function", /^\s*(?:export )?(?:default )?(?:async )?function\*? ?([\w$]+)/],
  ["class", /^\s*(?:export )?(?:default )?(?:abstract )?class ([\w$]+)/],
  ["interface", /^\s*(?:export )?interface ([\w$]+)/],
  ["type", /^\s*(?:export )?(?:declare )?(?:const )?(?:type|enum|namespace) ([\w$]+)/],
  ["function", /^\s*(?:export )?(?:const|let|var) ([\w$]+)\s*=\s*(?:async )?(?:\([^)]*\)|[\w$]+)\s*=>/],
  ["variable", /^\s*(?:export )?(?:const|let|var) ([\w$]+)/],
  ["method", /^\s+(?:static |async |get |set )*([\w$]+)\s*\([^;]*\)\s*\{\s*$/],
];
const BRACES: readonly Line[] = [
  ["class", new RegExp(`^\\s*${WORDS}(?:class|struct|record|object|enum class|actor|mixin) (\\w+)`)],
  ["interface", new RegExp(`^\\s*${WORDS}(?:interface|trait|protocol) (\\w+)`)],
  ["type", new RegExp(`^\\s*${WORDS}(?:enum|typealias|typedef|namespace|type|extension|delegate) (\\w+)`)],
  ["function", new RegExp(`^\\s*${WORDS}(?:fun|func|def) (?:<[^>]*> ?)?(?:\\w+\\.)?(\\w+)`)],
  ["method", /^\s+(?:[\w@<>[\],.?]+ )+(\w+)\s*\([^;]*$/],
  ["variable", new RegExp(`^\\s*${WORDS}(?:val|var|let|final) (\\w+)`)],
];
const TABLE: Readonly<Record<string, readonly Line[]>> = {
  Python: [
    ["function", /^(?:async )?def (\w+)/],
    ["method", /^\s+(?:async )?def (\w+)/],
    ["class", /^\s*class (\w+)/],
    ["variable", /^([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)/],
  ],
  Go: [
    ["method", /^func \([^)]*\) (\w+)/],
    ["function", /^func (\w+)/],
    ["interface", /^type (\w+)(?:\[[^\]]*\])? interface\b/],
    ["class", /^type (\w+)(?:\[[^\]]*\])? struct\b/],
    ["type", /^type (\w+)/],
    ["variable", /^(?:var|const) (\w+)/],
  ],
  Rust: [
    ["method", /^\s+(?:pub(?:\([^)]*\))? )?(?:default |const |async |unsafe )*fn (\w+)/],
    ["function", /^(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe |extern "C" )*fn (\w+)/],
    ["class", /^\s*(?:pub(?:\([^)]*\))? )?(?:struct|union) (\w+)/],
    ["interface", /^\s*(?:pub(?:\([^)]*\))? )?(?:unsafe )?trait (\w+)/],
    ["type", /^\s*(?:pub(?:\([^)]*\))? )?(?:enum|type|mod) (\w+)/],
    ["function", /^\s*macro_rules! (\w+)/],
    ["variable", /^\s*(?:pub(?:\([^)]*\))? )?(?:const|static) (?:mut )?(\w+)\s*:/],
  ],
  Ruby: [
    ["method", /^\s*def (?:self\.)?(\w+[?!=]?)/],
    ["class", /^\s*class (?:\w+::)*(\w+)/],
    ["type", /^\s*module (?:\w+::)*(\w+)/],
    ["variable", /^\s*([A-Z]\w*)\s*=(?!=)/],
  ],
  PHP: [
    ["method", /^\s+(?:(?:public|private|protected|static|final|abstract) )+function &?(\w+)/],
    ["function", /^\s*function &?(\w+)/],
    ["class", /^\s*(?:final |abstract |readonly )*class (\w+)/],
    ["interface", /^\s*(?:interface|trait) (\w+)/],
    ["type", /^\s*enum (\w+)/],
    ["variable", /^\s*(?:(?:public|private|protected|static|final) )*const (\w+)/],
  ],
  C: [
    ["class", /^\s*(?:typedef )?(?:struct|union|class) (\w+)[^;()]*\{?\s*$/],
    ["type", /^\s*(?:typedef )?enum(?: class)? (\w+)/],
    ["type", /^typedef\b.*?(\w+)\s*;/],
    ["type", /^\s*(?:namespace|using) (\w+)/],
    ["variable", /^\s*#\s*define (\w+)/],
    ["function", /^[A-Za-z_][\w:<>,*& ]*[ *&](?:\w+::)*(~?\w+)\s*\([^;]*$/],
  ],
  Lua: [["function", /^\s*(?:local )?function (?:[\w]+[.:])*(\w+)/]],
  Elixir: [
    ["function", /^\s*defp? (\w+[?!]?)/],
    ["type", /^\s*def(?:module|protocol|impl) (?:\w+\.)*(\w+)/],
    ["function", /^\s*defmacrop? (\w+)/],
  ],
  Shell: [["function", /^\s*(?:function )?([\w-]+)\s*\(\)/]],
  SQL: [
    [
      "type",
      /^\s*create (?:or replace )?(?:temp(?:orary)? )?(?:table|view|type|index) (?:if not exists )?["`[]?(\w+)/i,
    ],
    ["function", /^\s*create (?:or replace )?(?:function|procedure|trigger) (?:\w+\.)?["`[]?(\w+)/i],
  ],
};
const LIKE: Readonly<Record<string, readonly Line[]>> = {
  "C++": TABLE.C ?? [],
  TypeScript: SCRIPT,
  JavaScript: SCRIPT,
  Vue: SCRIPT,
  Svelte: SCRIPT,
};
const IMPORT =
  /^\s*(?:import\b|from\s+\S+\s+import\b|use\s|using\s|require|#\s*include\b|extern crate\b|\w+\s*=\s*require\b|alias\s|include\s)/;
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:define|include)\b)|--|"""|''')/;
/** With one of these a line defines, whatever the name is. */
const DEFINING_WORD = /\b(?:fn|def|defp|func|fun|function)\b/;
const STATEMENT = /^\s*(?:return|else|new|await|throw)\b/;
/** Words before a bracket that call nothing. */
const NO_NAMES = new Set(
  "if for while switch catch return function else do with match when elif except new throw await yield sizeof".split(
    " ",
  ),
);

/** The names in a text that fit, by the look of its lines: what a comment or a string says may be among them. */
export function findTextSymbols(text: string, language: string, query: NameQuery): CodeSymbol[] {
  const table = findOwn(TABLE, language) ?? findOwn(LIKE, language) ?? BRACES;
  const needle = query.needle.toLowerCase();
  const call = /(?<![\p{L}\p{N}_$])([\p{L}_$][\p{L}\p{N}_$]*[?!]?)\s*\(/gu;
  return text.split("\n").flatMap((line, at) => {
    if (!line.toLowerCase().includes(needle) || COMMENT.test(line)) return [];
    const cut = line.slice(0, MAX_LINE_CHARS);
    const found: CodeSymbol[] = [];
    const add = (name: string | undefined, kind: SymbolKind) => {
      if (name && rateNameFit(query, name) !== undefined)
        found.push({ name, kind, line: at + 1, text: showLine(line) });
    };
    const definition = matchDefinition(cut, table);
    if (definition) add(definition.name, definition.kind);
    else if (IMPORT.test(cut))
      for (const name of cut.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []) add(name, "import");
    if (found.length === 0)
      for (const [, name = ""] of cut.matchAll(call)) if (!NO_NAMES.has(name)) add(name, "call");
    return found;
  });
}

function matchDefinition(
  line: string,
  table: readonly Line[],
): { name: string; kind: SymbolKind } | undefined {
  for (const [kind, pattern] of table) {
    const name = pattern.exec(line)?.[1];
    if (name && (DEFINING_WORD.test(line) || !(NO_NAMES.has(name) || STATEMENT.test(line))))
      return { name, kind };
  }
  return undefined;
}
