import { relative, sep } from "node:path";
import { type TypeIn, text, whole } from "@retinue/core/schema/shape";
import { showCount } from "@retinue/core/show/measures";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { describeInput } from "../describe-input.ts";
import { defineLook } from "../file-tools/define-look.ts";
import { findFilePlace } from "../file-tools/file-place.ts";
import { describeLeftOut, searchFiles } from "../file-tools/ripgrep.ts";
import { classifyRole, findLanguage } from "../symbols/languages.ts";
import { readIfVisible } from "../symbols/source-files.ts";
import { findImports, groupImporters } from "./import-graph.ts";
import { createFacts, MANIFESTS, type ProjectFacts, USUAL_ENTRIES } from "./manifests.ts";

/** Text files by path from the folder that is looked at, with their lines. */
type Lines = ReadonlyMap<string, number>;

const DEFAULT_DEPTH = 2;
const MAX_DEPTH = 5;
const MAX_FILES = 60_000;
/** Above this, looking for the files that are imported most takes too long. */
const MAX_GRAPH_FILES = 20_000;
const MAX_LISTED = 30;
const CENTRAL = 10;
const README_CHARS = 600;
const TITLE_CHARS = 400;
const MAX_ITEM = 200;

const INPUT = describeInput({
  "path?": { ...text, description: "A folder; the project's by default." },
  "depth?": {
    ...whole,
    minimum: 1,
    maximum: MAX_DEPTH,
    description: `How many levels of folders to show; ${DEFAULT_DEPTH} by default.`,
  },
});

/** Shows what a project consists of. */
export const overview = defineLook({
  name: "overview",
  description:
    "Shows what a project or folder consists of: what it is, its languages, folders with counts of files, entry points, scripts, tests and their runner, and the files that others import most.",
  input: INPUT,
  look: survey,
});

async function survey(
  { depth = DEFAULT_DEPTH }: TypeIn<typeof INPUT>,
  context: ToolContext,
): Promise<ToolOutput> {
  context.progress("counting files");
  const args = ["--count", "--with-filename", "--max-filesize=5M", "--regexp=^"];
  const search = await searchFiles({ args, max: MAX_FILES }, context);
  if (search.fault && search.found.length === 0) return { text: `overview: ${search.fault}`, isError: true };
  const prefix = findPrefix(context);
  const lines: Lines = new Map(
    search.found.map(({ path, rest }) => [path.slice(prefix.length), Number(rest) || 0]),
  );
  if (lines.size === 0)
    return { text: ["there are no text files here", ...describeLeftOut(search, "files")].join("\n") };
  const facts = await readFacts(lines, prefix, context);
  const sections = [
    [toOneLine(facts.title ?? "", TITLE_CHARS), await readAbout(lines, prefix, context)].filter(Boolean),
    [`Languages, by lines: ${describeLanguages(lines)}`],
    ["Folders, with their text files:", ...drawFolders([...lines.keys()], depth)],
    listItems("Entry points:", listEntries(lines, facts)),
    listItems("Scripts:", facts.scripts),
    describeTests(lines, facts),
    listItems("Imported by most files:", await findCentralFiles(lines, prefix, context)),
    describeLeftOut(search, "files"),
  ];
  return {
    text: sections
      .filter((each) => each.length > 0)
      .map((each) => each.join("\n"))
      .join("\n\n"),
  };
}

/** What the names of files begin with that lie in the judged folder. */
function findPrefix(context: ToolContext): string {
  const { root, path } = findFilePlace(context);
  const inside = relative(root, path).replaceAll(sep, "/");
  return `${root === context.projectDir ? "" : "workspace:"}${inside === "" ? "" : `${inside}/`}`;
}

async function readFacts(lines: Lines, prefix: string, context: ToolContext): Promise<ProjectFacts> {
  const facts = createFacts();
  for (const [name, read] of Object.entries(MANIFESTS)) {
    const text = lines.has(name) ? await readIfVisible(`${prefix}${name}`, context) : null;
    if (text !== null) read(text, facts);
  }
  return facts;
}

/** The first paragraph of the README that is prose. */
async function readAbout(lines: Lines, prefix: string, context: ToolContext): Promise<string> {
  const name = [...lines.keys()].find((path) => /^readme(?:\.\w+)?$/i.test(path));
  const text = name ? await readIfVisible(`${prefix}${name}`, context) : null;
  const paragraphs = (text ?? "")
    .replace(/```[\s\S]*?(?:```|$)/g, "")
    .replace(/<!--[\s\S]*?-->/g, "")
    .split(/\r?\n\s*\r?\n/);
  const prose = paragraphs
    .map((each) =>
      each
        .replace(/^#.*$|^[=-]{3,}$/gm, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .find((each) => /^[\p{L}\p{N}*_`"“(]/u.test(each) && each.split(" ").length >= 4);
  return toOneLine(prose ?? "", README_CHARS);
}

function describeLanguages(lines: Lines): string {
  const counts = new Map<string, { lines: number; files: number }>();
  let all = 0;
  for (const [path, count] of lines) {
    if (classifyRole(path) === "generated") continue;
    const name = findLanguage(path)?.name ?? "other";
    const known = counts.get(name) ?? { lines: 0, files: 0 };
    counts.set(name, { lines: known.lines + count, files: known.files + 1 });
    all += count;
  }
  const ranked = [...counts].sort((a, b) => b[1].lines - a[1].lines);
  const shown = ranked.slice(0, 8).map(([name, { lines: count, files }]) => {
    const share = (100 * count) / Math.max(1, all);
    return `${name} ${share < 1 ? "<1" : Math.round(share)} % (${count} in ${showCount(files, "file")})`;
  });
  const more = ranked.length > shown.length ? [`${ranked.length - shown.length} more`] : [];
  return [...shown, ...more].join(", ") || "none, only generated files";
}

function listEntries(lines: Lines, facts: ProjectFacts): string[] {
  return [
    ...facts.entries.map((entry) => entry.replace(/^\.\//, "")),
    ...[...lines.keys()].filter((path) => USUAL_ENTRIES.test(path)),
  ];
}

function describeTests(lines: Lines, facts: ProjectFacts): string[] {
  const files = [...lines.keys()].filter(
    (path) => classifyRole(path) === "test" && findLanguage(path)?.isCode,
  );
  const runner = facts.runners.length > 0 ? `; runner: ${[...new Set(facts.runners)].join(", ")}` : "";
  if (files.length === 0) return runner ? [`Tests: no files found${runner}`] : [];
  const counts = new Map<string, number>();
  for (const path of files) {
    const folder = path.includes("/") ? `${path.slice(0, path.indexOf("/"))}/` : "./";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const folders = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 6)
    .map(([name, count]) => `${name} (${count})`);
  return [`Tests: ${files.length} files in ${folders.join(", ")}${runner}`];
}

async function findCentralFiles(lines: Lines, prefix: string, context: ToolContext): Promise<string[]> {
  if (lines.size > MAX_GRAPH_FILES) return [];
  const files = new Set([...lines.keys()].map((path) => `${prefix}${path}`));
  const importers = groupImporters(await findImports(null, context), files);
  return [...importers]
    .filter(([path, from]) => from.size > 2 && classifyRole(path) === "source")
    .sort((a, b) => b[1].size - a[1].size || (a[0] < b[0] ? -1 : 1))
    .slice(0, CENTRAL)
    .map(([path, from]) => `${path} (by ${from.size})`);
}

/** What files of the project say is shown on one line of its own, whatever it holds. */
function toOneLine(text: string, limit: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > limit ? `${cutAt(line, limit)}…` : line;
}

function listItems(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_LISTED ? [`- (${items.length - MAX_LISTED} more)`] : [];
  return [title, ...items.slice(0, MAX_LISTED).map((item) => `- ${toOneLine(item, MAX_ITEM)}`), ...more];
}

const MAX_SHOWN = 80;

type Folder = { name: string; files: number; folders: Map<string, Folder> };

/** Folders as an indented tree with the number of files in each and below; above a limit the smallest are left out. */
function drawFolders(paths: readonly string[], depth: number): string[] {
  const root = buildTree(paths, depth);
  const sizes = [...walkFolders(root)].map(({ folder }) => folder.files).sort((a, b) => b - a);
  const least = sizes[MAX_SHOWN - 1] ?? 0;
  const lines: string[] = [];
  let left = 0;
  for (const { folder, level } of walkFolders(root)) {
    if (folder.files < least || lines.length >= MAX_SHOWN) left++;
    else lines.push(`${"  ".repeat(level)}${folder.name}/ ${folder.files}`);
  }
  const own = paths.filter((path) => !path.includes("/")).length;
  return [
    ...lines,
    ...(left > 0 ? [`(${left} smaller folders left out)`] : []),
    ...(own > 0 ? [`(and ${own} beside these folders)`] : []),
  ];
}

function buildTree(paths: readonly string[], depth: number): Folder {
  const root: Folder = { name: "", files: 0, folders: new Map() };
  for (const path of paths) {
    let folder = root;
    for (const name of path.split("/").slice(0, -1).slice(0, depth)) {
      const below = folder.folders.get(name) ?? { name, files: 0, folders: new Map() };
      folder.folders.set(name, below);
      below.files++;
      folder = below;
    }
  }
  return root;
}

function* walkFolders(folder: Folder, level = 0): Generator<{ folder: Folder; level: number }> {
  for (const below of [...folder.folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    yield { folder: below, level };
    yield* walkFolders(below, level + 1);
  }
}
