import type { SyntaxNode } from "./parse-source.ts";

/** A name that a file offers to others, and whether a documentation comment says what it is. */
export type ExportedName = { name: string; kind: string; line: number; documented: boolean };

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
export function exportedInTree(root: SyntaxNode): ExportedName[] {
  const local = new Map<string, Declared>();
  const exported = new Map<string, Declared>();
  const passedOn: { name: string; as: string }[] = [];
  for (const statement of root.namedChildren()) {
    const isExport = statement.kind() === "export_statement";
    for (const each of isExport ? exportsOf(statement) : declarationsIn(statement, statement))
      add(isExport ? exported : local, each);
    if (isExport && !statement.field("source")) passedOn.push(...specifiersIn(statement));
    for (const each of assignedExports(statement)) add(exported, each);
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

function exportsOf(statement: SyntaxNode): Declared[] {
  const declaration = statement.field("declaration");
  if (declaration) return declarationsIn(declaration, statement);
  const value = statement.field("value");
  if (!value) return [];
  const isName = value.kind() === "identifier";
  const documented = isDocumented(statement);
  return isName ? [] : [{ name: "default", kind: "default", node: statement, documented }];
}

function declarationsIn(declaration: SyntaxNode, statement: SyntaxNode): Declared[] {
  const kind = String(declaration.kind());
  const documented = isDocumented(statement);
  if (kind === "ambient_declaration" || kind === "expression_statement")
    return declaration.namedChildren().flatMap((each) => declarationsIn(each, statement));
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

function specifiersIn(statement: SyntaxNode): { name: string; as: string }[] {
  const value = statement.field("value");
  if (value?.kind() === "identifier") return [{ name: value.text(), as: value.text() }];
  const clause = statement.namedChildren().find((each) => each.kind() === "export_clause");
  return (clause?.namedChildren() ?? []).flatMap((each) => {
    const name = each.field("name")?.text();
    return name ? [{ name, as: each.field("alias")?.text() ?? name }] : [];
  });
}

/** `exports.name = …` and `module.exports.name = …`. */
function assignedExports(statement: SyntaxNode): Declared[] {
  if (statement.kind() !== "expression_statement") return [];
  const assignment = statement.namedChildren().find((each) => each.kind() === "assignment_expression");
  const name = /^(?:module\.)?exports\.([\w$]+)$/.exec(
    assignment?.field("left")?.text().slice(0, 200) ?? "",
  )?.[1];
  return name ? [{ name, kind: "variable", node: statement, documented: isDocumented(statement) }] : [];
}

/** Whether a `/**` comment stands directly above. */
function isDocumented(statement: SyntaxNode): boolean {
  let before = statement.prev();
  while (before?.kind() === "decorator") before = before.prev();
  if (before?.kind() !== "comment") return false;
  const gap = statement.range().start.line - before.range().end.line;
  return gap <= 1 && before.text().startsWith("/**");
}

/** The names that a file of another language offers, by the look of its lines; null if that language is not known. */
export function exportedInText(text: string, language: string): ExportedName[] | null {
  const lines = text.split("\n");
  if (language === "Python") return inPython(text, lines);
  if (language === "Go") return inGo(lines);
  return language === "Rust" ? inRust(lines) : null;
}

function inPython(text: string, lines: readonly string[]): ExportedName[] {
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

function inGo(lines: readonly string[]): ExportedName[] {
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

function inRust(lines: readonly string[]): ExportedName[] {
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
