import type { Rule } from "@ast-grep/napi";
import {
  type CodeSymbol,
  escapePattern,
  type NameQuery,
  rateNameFit,
  type SymbolKind,
  showLine,
} from "./code-symbol.ts";
import type { Grammar, SyntaxNode } from "./languages.ts";

const KINDS: Readonly<Record<string, SymbolKind>> = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  method_definition: "method",
  method_signature: "method",
  abstract_method_signature: "method",
  interface_declaration: "interface",
  type_alias_declaration: "type",
  enum_declaration: "type",
  internal_module: "type",
};
const FUNCTIONS = new Set(["arrow_function", "function_expression", "generator_function", "function"]);
const CONTAINERS = new Set([
  "class_declaration",
  "abstract_class_declaration",
  "class",
  "interface_declaration",
]);
const BODIES = new Set([
  "method_definition",
  "function_declaration",
  "generator_function_declaration",
  ...FUNCTIONS,
]);

const MAX_SPELLINGS = 20;
/** More names that fit than this in one file say nothing more, and each is looked at with all that is around it. */
const MAX_NODES = 1_000;

type Found = { node: SyntaxNode; name: SyntaxNode; kind: SymbolKind };

/** Which nodes hold a name that fits; the name is `{ matches: "fits" }`, so that it is compiled once. */
const FITS: Rule = { matches: "fits" };
const CALLED: Rule = {
  any: [
    { kind: "identifier", ...FITS },
    { kind: "member_expression", has: { field: "property", ...FITS } },
  ],
};
const ELEMENTS: readonly Rule[] = ["jsx_opening_element", "jsx_self_closing_element"].map((kind) => ({
  kind,
  has: { field: "name", ...FITS },
}));
const SHARED: readonly Rule[] = [
  { kind: "pair", has: { field: "key", ...FITS } },
  {
    kind: "assignment_expression",
    has: { field: "left", kind: "member_expression", has: { field: "property", ...FITS } },
  },
  { kind: "import_statement", ...FITS },
  { kind: "export_specifier", ...FITS },
  { kind: "call_expression", has: { field: "function", ...CALLED } },
  { kind: "new_expression", has: { field: "constructor", ...CALLED } },
];
const SCRIPT_KINDS =
  "function_declaration generator_function_declaration class_declaration method_definition variable_declarator";
const TYPE_KINDS =
  "function_signature abstract_class_declaration method_signature abstract_method_signature public_field_definition property_signature interface_declaration type_alias_declaration enum_declaration internal_module";
const TYPED = defineNamed(`${SCRIPT_KINDS} ${TYPE_KINDS}`);
const RULES: Readonly<Record<Grammar, Rule>> = {
  JavaScript: { any: [defineNamed(`${SCRIPT_KINDS} field_definition`), ...SHARED, ...ELEMENTS] },
  TypeScript: { any: [TYPED, ...SHARED] },
  Tsx: { any: [TYPED, ...SHARED, ...ELEMENTS] },
  Css: {
    any: ["class_name", "id_name", "keyframes_name", "property_name"].map((kind) => ({ kind })),
    ...FITS,
  },
  Html: { kind: "attribute_value", ...FITS },
};

/** The names in a syntax tree that fit: definitions, exports, imports and calls. */
export function findTreeSymbols(
  root: SyntaxNode,
  text: string,
  grammar: Grammar,
  query: NameQuery,
): CodeSymbol[] {
  const fits = spellingsIn(text, query.needle);
  if (fits === null) return [];
  const lines = text.split("\n");
  const seen = new Set<string>();
  return findAll(root, RULES[grammar], fits)
    .slice(0, MAX_NODES)
    .flatMap((node) => namesAt(node, grammar, fits))
    .flatMap(({ node, name, kind }) => {
      const bare = name.text().replace(/^["']|["']$/g, "");
      const line = name.range().start.line + 1;
      const key = `${line} ${kind} ${bare}`;
      if (rateNameFit(query, bare) === undefined || seen.has(key)) return [];
      seen.add(key);
      const { within, local } = surroundings(node);
      const symbol: CodeSymbol = { name: bare, kind, line, text: showLine(lines[line - 1]) };
      return [{ ...symbol, ...(within && { within }), ...(local && { local }) }];
    });
}

/**
 * The ways in which a text spells a word, as a regular expression: to compile one that ignores case takes longer than to
 * search a file.
 */
function spellingsIn(text: string, needle: string): string | null {
  const found = new Set(text.match(new RegExp(escapePattern(needle), "giu")));
  if (found.size === 0) return null;
  if (found.size > MAX_SPELLINGS) return `(?i)${escapePattern(needle)}`;
  return [...found].map(escapePattern).join("|");
}

function namesAt(node: SyntaxNode, grammar: Grammar, fits: string): Found[] {
  if (grammar === "Css") return styleName(node);
  if (grammar === "Html") return markupName(node);
  switch (node.kind()) {
    case "import_statement":
      return findAll(node, { any: [{ kind: "identifier" }, { kind: "string_fragment" }], ...FITS }, fits).map(
        (name): Found => ({ node, name, kind: "import" }),
      );
    case "export_specifier":
      return [node.field("alias"), node.field("name")].flatMap((name): Found[] =>
        name?.matches({ rule: FITS, utils: { fits: { regex: fits } } })
          ? [{ node, name, kind: "export" }]
          : [],
      );
    case "call_expression":
    case "new_expression":
    case "jsx_opening_element":
    case "jsx_self_closing_element":
      return calledName(node);
    case "pair":
      return assignedName(node, node.field("key"), node.field("value"));
    case "assignment_expression":
      return assignedName(node, node.field("left")?.field("property"), node.field("right"));
    default:
      return definedNames(node, fits);
  }
}

function definedNames(node: SyntaxNode, fits: string): Found[] {
  const name = node.field("name");
  if (!name) return [];
  if (!/_pattern$/.test(String(name.kind())))
    return [{ node, name, kind: KINDS[String(node.kind())] ?? kindOfValue(node.field("value")) }];
  const any = [{ kind: "shorthand_property_identifier_pattern" }, { kind: "identifier" }];
  return findAll(name, { any, ...FITS }, fits).map((each): Found => ({ node, name: each, kind: "variable" }));
}

/** `a.b = function …` and `{ b: function … }` define; with other values they only set. */
function assignedName(
  node: SyntaxNode,
  name: SyntaxNode | null | undefined,
  value: SyntaxNode | null,
): Found[] {
  const kind = kindOfValue(value);
  return name && kind !== "variable" ? [{ node, name, kind }] : [];
}

function calledName(node: SyntaxNode): Found[] {
  const called = node.field("function") ?? node.field("constructor") ?? node.field("name");
  const name = called?.field("property") ?? called;
  return name ? [{ node, name, kind: "call" }] : [];
}

function styleName(name: SyntaxNode): Found[] {
  const kind = String(name.kind());
  if (kind === "property_name" && !name.text().startsWith("--")) return [];
  if (kind === "class_name" && name.parent()?.kind() === "pseudo_class_selector") return [];
  return [{ node: name, name, kind: kind === "class_name" ? "class" : "variable" }];
}

function markupName(name: SyntaxNode): Found[] {
  // Quotes are a node of their own.
  const above = name.parent();
  const attribute = above?.kind() === "attribute" ? above : above?.parent();
  return attribute?.child(0)?.text().toLowerCase() === "id" ? [{ node: name, name, kind: "variable" }] : [];
}

/** Nodes of these kinds whose name fits. */
function defineNamed(kinds: string): Rule {
  return { any: kinds.split(" ").map((kind) => ({ kind })), has: { field: "name", ...FITS } };
}

function kindOfValue(value: SyntaxNode | null): SymbolKind {
  const kind = String(value?.kind() ?? "");
  if (FUNCTIONS.has(kind)) return "function";
  return kind === "class" ? "class" : "variable";
}

/** The class or interface that a node belongs to, and whether it is inside a function. */
function surroundings(node: SyntaxNode): { within?: string; local?: boolean } {
  const above = node.ancestors();
  const at = above.findIndex((each) => CONTAINERS.has(String(each.kind())));
  const body = above.findIndex((each) => BODIES.has(String(each.kind())));
  const within = at >= 0 && (body < 0 || at < body) ? above[at]?.field("name")?.text() : undefined;
  return { ...(within && { within }), local: body >= 0 };
}

function findAll(node: SyntaxNode, rule: Rule, fits: string): SyntaxNode[] {
  return node.findAll({ rule, utils: { fits: { regex: fits } } });
}
