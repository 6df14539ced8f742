import { posix } from "node:path";
import type { ToolContext } from "@retinue/core/tools/tool";
import { searchFiles } from "../file-tools/ripgrep.ts";
import { escapePattern } from "../symbols/code-symbol.ts";

/** One file that names another in an import. */
type ImportLine = { from: string; module: string };

const MAX_IMPORTS = 60_000;

const ENDINGS = [
  "",
  ...".ts .tsx .mts .cts .js .jsx .mjs .cjs .d.ts .vue .svelte".split(" "),
  ..."/index.ts /index.tsx /index.js /index.mjs /index.jsx".split(" "),
];

/** What TypeScript calls by the name of what it is compiled to. */
const COMPILED: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
  ".jsx": [".tsx"],
};

/** The imports of files of the project by other files, in the languages that name a file or module; only those that hold one of `names`. */
export async function findImports(
  names: readonly string[] | null,
  context: ToolContext,
): Promise<ImportLine[]> {
  const name = names === null ? "" : `(?:${names.map(escapePattern).join("|")})`;
  const quoted = `["']\\.{1,2}/[^"'\\n]{0,200}?${name}[^"'\\n]{0,20}["']`;
  const patterns = [
    `(?:\\bfrom|\\bimport|\\brequire_relative|\\brequire\\(|\\bimport\\()\\s*${quoted}`,
    `require_relative\\s+["'][^"'\\n]{0,200}?${name}["']`,
    `^\\s*#\\s*include\\s*"[^"\\n]{0,200}?${name}[^"\\n]{0,10}"`,
    `^\\s*from\\s+[\\w.]*${name}[\\w.]*\\s+import\\b|^\\s*from\\s+[\\w.]+\\s+import\\s+[\\w, ]*${name}|^\\s*import\\s+[\\w.]*${name}[\\w.]*`,
  ];
  const form = ["--no-heading", "--with-filename", "--only-matching", "--no-line-number"];
  const args = [...form, ...patterns.map((pattern) => `--regexp=${pattern}`)];
  const { found } = await searchFiles({ args, max: MAX_IMPORTS }, context);
  return found.flatMap(({ path, rest }) => readModules(path, rest).map((module) => ({ from: path, module })));
}

/** Which of these files an import means. */
export function resolveImport({ from, module }: ImportLine, files: ReadonlySet<string>): string | undefined {
  if (/\.pyi?$/.test(from)) return resolvePython(from, module, files);
  const base = posix.join(posix.dirname(from), module);
  const end = posix.extname(base);
  const compiled = (COMPILED[end] ?? []).map((other) => base.slice(0, -end.length) + other);
  return [...ENDINGS.map((ending) => base + ending), ...compiled, `${base}.rb`].find((path) =>
    files.has(path),
  );
}

/** Who imports each of these files. */
export function groupImporters(
  imports: readonly ImportLine[],
  files: ReadonlySet<string>,
): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const line of imports) {
    const file = resolveImport(line, files);
    if (!file || file === line.from) continue;
    const known = importers.get(file) ?? new Set();
    importers.set(file, known.add(line.from));
  }
  return importers;
}

function readModules(path: string, text: string): string[] {
  const quoted = /["']([^"'\n]+)["']/.exec(text)?.[1];
  if (quoted !== undefined) return [quoted];
  if (!/\.pyi?$/.test(path)) return [];
  const [, module = "", names = ""] = /^\s*from\s+([\w.]+)\s+import\s*([\w, ]*)/.exec(text) ?? [];
  if (!module) return [/^\s*import\s+([\w.]+)/.exec(text)?.[1] ?? ""].filter(Boolean);
  const dot = module.endsWith(".") ? "" : ".";
  return [...names.split(",").map((name) => `${module}${dot}${name.trim()}`), module].filter(
    (each) => !each.endsWith(".") || each === module,
  );
}

function resolvePython(from: string, module: string, files: ReadonlySet<string>): string | undefined {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0;
  const inner = module.slice(dots).replaceAll(".", "/");
  let folder = posix.dirname(from);
  for (let up = 1; up < dots; up++) folder = posix.dirname(folder);
  const roots = dots > 0 ? [folder] : [".", "src", "lib", posix.dirname(from)];
  return roots
    .map((root) => posix.join(root, inner))
    .flatMap((base) => [`${base}.py`, `${base}/__init__.py`])
    .find((path) => files.has(path));
}
