import { type TypeIn, text, whole } from "@retinue/core/schema/shape";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { defineLook } from "../file-tools/define-look.ts";
import { describeLeftOut, searchFiles } from "../file-tools/ripgrep.ts";
import { classifyRole, findLanguage, parseSource, type SyntaxNode } from "./languages.ts";
import { lookIntoFiles } from "./source-files.ts";

type Counted = ExportedName & { path: string; language: string };

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
const MAX_FILES = 5_000;
const COVERED = new Set(["TypeScript", "JavaScript", "Python", "Go", "Rust"]);

const INPUT = describeInput({
  "path?": { ...text, description: "A folder or file; the project's folder by default." },
  "limit?": {
    ...whole,
    minimum: 1,
    maximum: MAX_LIMIT,
    description: `How many undocumented names to list; ${DEFAULT_LIMIT} by default.`,
  },
});

/** Says which exported names have documentation. */
export const docsCoverage = defineLook({
  name: "docs_coverage",
  description:
    "Counts the exported names of the sources that have a documentation comment, and lists those that have none with path:line. For TypeScript, JavaScript, Python, Go and Rust; tests and generated files are left out.",
  input: INPUT,
  look: measure,
});

async function measure(
  { limit = DEFAULT_LIMIT }: TypeIn<typeof INPUT>,
  context: ToolContext,
): Promise<ToolOutput> {
  const accepts = (path: string) =>
    COVERED.has(findLanguage(path)?.name ?? "") && classifyRole(path) === "source";
  const files = await searchFiles({ args: ["--files"], accepts, max: MAX_FILES }, context);
  if (files.fault && files.found.length === 0)
    return { text: `docs_coverage: ${files.fault}`, isError: true };
  const paths = files.paths.filter((path) => classifyRole(path) === "source");
  const looked = await lookIntoFiles(paths, context, namesIn);
  const names = looked.flatMap((each) => each ?? []);
  const unread = looked.filter((each) => each === null).length;
  const notes = [
    ...(unread > 0 ? [`(${unread} files left out: too large, or not readable as text)`] : []),
    ...describeLeftOut(files, "files"),
  ];
  if (names.length === 0)
    return { text: ["no exported names in sources of a known language", ...notes].join("\n") };
  const lacking = names.filter(({ documented }) => !documented);
  const shown = lacking
    .slice(0, limit)
    .map(({ path, line, kind, name }) => `${path}:${line}  ${kind} ${name}`);
  const more =
    lacking.length > limit ? [`(${lacking.length - limit} more; set a path or a higher limit)`] : [];
  const list = shown.length > 0 ? ["Without documentation:", ...shown, ...more] : [];
  return { text: [...summary(names), ...list, ...notes].join("\n") };
}

async function namesIn(path: string, text: string): Promise<Counted[]> {
  const { name: language = "", grammar } = findLanguage(path) ?? {};
  const tree = grammar ? await parseSource(text, grammar) : null;
  const names = tree ? findTreeExports(tree) : findTextExports(text, language);
  return (names ?? []).map((each) => ({ ...each, path, language }));
}

function summary(names: readonly Counted[]): string[] {
  const languages = [...new Set(names.map(({ language }) => language))].sort();
  const line = (what: string, some: readonly Counted[]) => {
    const documented = some.filter((each) => each.documented).length;
    const share = Math.floor((100 * documented) / some.length);
    return `${what}${documented} of ${some.length} exported names are documented (${share} %)`;
  };
  if (languages.length === 1) return [line("", names)];
  return [
    line("", names),
    ...languages.map((language) =>
      line(
        `- ${language}: `,
        names.filter((each) => each.language === language),
      ),
    ),
  ];
}

/** A name that a file offers to others, and whether a documentation comment says what it is. */
type ExportedName = { name: string; kind: string; line: number; documented: boolean };

type Declared = { name: string; kind: string; node: SyntaxNode; documented: boolean };

const WORDS: Readonly<Record<string, string>> = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  interface_declaration: "interface",
  type_alias_declaration: "type",
  enum_declaration: "enum",
  internal_module: "namespace",
  module: "module",
};

/** The names that a JavaScript or TypeScript module exports itself; what it passes on from others is theirs. */
function findTreeExports(root: SyntaxNode): ExportedName[] {
  const local = new Map<string, Declared>();
  const exported = new Map<string, Declared>();
  const passedOn: { name: string; as: string }[] = [];
  for (const statement of root.namedChildren()) {
    const isExport = statement.kind() === "export_statement";
    for (const each of isExport ? readExport(statement) : findDeclarations(statement, statement))
      add(isExport ? exported : local, each);
    if (isExport && !statement.field("source")) passedOn.push(...findSpecifiers(statement));
    for (const each of findAssignedExports(statement)) add(exported, each);
  }
  for (const { name, as } of passedOn) {
    const declared = local.get(name);
    if (declared) add(exported, { ...declared, name: as });
  }
  for (const [name, declared] of exported) {
    const documented = declared.documented || local.get(name)?.documented === true;
    exported.set(name, { ...declared, documented });
  }
  return [...exported.values()].map(({ name, kind, node, documented }) => ({
    name,
    kind,
    line: node.range().start.line + 1,
    documented,
  }));
}

/** Signatures of one function are one name, documented if one of them is. */
function add(names: Map<string, Declared>, declared: Declared): void {
  const known = names.get(declared.name);
  names.set(
    declared.name,
    known ? { ...known, documented: known.documented || declared.documented } : declared,
  );
}

function readExport(statement: SyntaxNode): Declared[] {
  const declaration = statement.field("declaration");
  if (declaration) return findDeclarations(declaration, statement);
  const value = statement.field("value");
  if (!value) return [];
  const isName = value.kind() === "identifier";
  const documented = isDocumented(statement);
  return isName ? [] : [{ name: "default", kind: "default", node: statement, documented }];
}

function findDeclarations(declaration: SyntaxNode, statement: SyntaxNode): Declared[] {
  const kind = String(declaration.kind());
  const documented = isDocumented(statement);
  if (kind === "ambient_declaration" || kind === "expression_statement")
    return declaration.namedChildren().flatMap((each) => findDeclarations(each, statement));
  if (kind === "lexical_declaration" || kind === "variable_declaration")
    return declaration
      .namedChildren()
      .filter((each) => each.kind() === "variable_declarator")
      .flatMap((node) => {
        const name = node.field("name");
        return name?.kind() === "identifier"
          ? [{ name: name.text(), kind: "variable", node, documented }]
          : [];
      });
  const name = declaration.field("name");
  return WORDS[kind] && name ? [{ name: name.text(), kind: WORDS[kind], node: declaration, documented }] : [];
}

function findSpecifiers(statement: SyntaxNode): { name: string; as: string }[] {
  const value = statement.field("value");
  if (value?.kind() === "identifier") return [{ name: value.text(), as: value.text() }];
  const clause = statement.namedChildren().find((each) => each.kind() === "export_clause");
  return (clause?.namedChildren() ?? []).flatMap((each) => {
    const name = each.field("name")?.text();
    return name ? [{ name, as: each.field("alias")?.text() ?? name }] : [];
  });
}

/** `exports.name = …` and `module.exports.name = …`. */
function findAssignedExports(statement: SyntaxNode): Declared[] {
  if (statement.kind() !== "expression_statement") return [];
  const assignment = statement.namedChildren().find((each) => each.kind() === "assignment_expression");
  const name = /^(?:module\.)?exports\.([\w$]+)$/.exec(
    assignment?.field("left")?.text().slice(0, 200) ?? "",
  )?.[1];
  return name ? [{ name, kind: "variable", node: statement, documented: isDocumented(statement) }] : [];
}

/** Whether a `/**` comment is directly above. */
function isDocumented(statement: SyntaxNode): boolean {
  let before = statement.prev();
  while (before?.kind() === "decorator") before = before.prev();
  if (before?.kind() !== "comment") return false;
  const gap = statement.range().start.line - before.range().end.line;
  return gap <= 1 && before.text().startsWith("/**");
}

/** The names that a file of another language offers, by the look of its lines; null if that language is not known. */
function findTextExports(text: string, language: string): ExportedName[] | null {
  const lines = text.split("\n");
  if (language === "Python") return findPythonExports(text, lines);
  if (language === "Go") return findGoExports(lines);
  return language === "Rust" ? findRustExports(lines) : null;
}

function findPythonExports(text: string, lines: readonly string[]): ExportedName[] {
  const listed = /^__all__\s*(?::[^=]+)?=\s*[[(]([^\])]*)/m.exec(text)?.[1]?.match(/\w+/g);
  return lines.flatMap((line, at) => {
    const [, word, name = ""] = /^(?:async )?(def|class) (\w+)/.exec(line) ?? [];
    if (!word || (listed ? !listed.includes(name) : name.startsWith("_"))) return [];
    const end = lines.slice(at, at + 40).findIndex((each) => /:\s*(?:#.*)?$/.test(each));
    const next = lines.slice(at + end + 1, at + end + 6).find((each) => each.trim() !== "") ?? "";
    const documented = end >= 0 && /^\s+[rRuUbB]?(?:"|')/.test(next);
    return [{ name, kind: word === "def" ? "function" : "class", line: at + 1, documented }];
  });
}

function findGoExports(lines: readonly string[]): ExportedName[] {
  return lines.flatMap((line, at) => {
    const [, word = "", receiver, name = ""] =
      /^(func|type|var|const) (?:\(\w*\s*\*?(\w+)[^)]*\) )?([A-Z]\w*)/.exec(line) ?? [];
    if (!name || (receiver && !/^[A-Z]/.test(receiver))) return [];
    const above = lines[at - 1]?.trim() ?? "";
    const documented = (above.startsWith("//") && !above.startsWith("//go:")) || above.endsWith("*/");
    const kind = word === "func" ? (receiver ? "method" : "function") : word === "type" ? "type" : "variable";
    return [{ name: receiver ? `${receiver}.${name}` : name, kind, line: at + 1, documented }];
  });
}

function findRustExports(lines: readonly string[]): ExportedName[] {
  const tests = lines.findIndex((line) => /^#\[cfg\(test\)\]/.test(line));
  return lines.slice(0, tests < 0 ? lines.length : tests).flatMap((line, at) => {
    const [, kind, name = ""] =
      /^\s*pub (?:const |async |unsafe |extern "C" )*(fn|struct|enum|trait|type|const|static|mod|union) (?:mut )?(\w+)/.exec(
        line,
      ) ?? [];
    if (!kind) return [];
    let above = at - 1;
    while (/^\s*#\[(?!doc)/.test(lines[above] ?? "")) above--;
    const documented = /^\s*(?:\/\/\/|\/\*\*|#\[doc)|\*\/\s*$/.test(lines[above] ?? "");
    return [{ name, kind: kind === "fn" ? "function" : kind, line: at + 1, documented }];
  });
}
