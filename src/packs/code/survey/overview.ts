import { relative, sep } from "node:path";
import type { Tool, ToolContext, ToolOutput } from "../../../tools/tool.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { defineLook } from "../files/define-look.ts";
import { placeOf } from "../files/place.ts";
import { leftOut, searchFiles } from "../files/ripgrep.ts";
import { languageOf, roleOf } from "../symbols/languages.ts";
import { readIfVisible } from "../symbols/source-files.ts";
import { drawFolders } from "./draw-folders.ts";
import { findImports, importersOf } from "./import-graph.ts";
import { MANIFESTS, noFacts, type ProjectFacts, USUAL_ENTRIES } from "./manifests.ts";

type OverviewInput = { path?: string; depth?: number };

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

/** Shows what a project consists of. */
export const overview: Tool<OverviewInput> = defineLook<OverviewInput>({
  name: "overview",
  description:
    "Shows what a project or folder consists of: what it is, its languages, folders with counts of files, entry points, scripts, tests and their runner, and the files that others import most.",
  properties: {
    path: { type: "string", description: "A folder; the project's by default." },
    depth: {
      type: "integer",
      minimum: 1,
      maximum: MAX_DEPTH,
      description: `How many levels of folders to show; ${DEFAULT_DEPTH} by default.`,
    },
  },
  look: async (input, context) => {
    return await survey(input, context);
  },
});

async function survey({ depth = DEFAULT_DEPTH }: OverviewInput, context: ToolContext): Promise<ToolOutput> {
  context.progress("counting files");
  const args = ["--count", "--with-filename", "--max-filesize=5M", "--regexp=^"];
  const search = await searchFiles({ args, max: MAX_FILES }, context);
  if (search.fault && search.found.length === 0) return { text: `overview: ${search.fault}`, isError: true };
  const prefix = prefixOf(context);
  const lines: Lines = new Map(
    search.found.map(({ path, rest }) => [path.slice(prefix.length), Number(rest) || 0]),
  );
  if (lines.size === 0)
    return { text: ["there are no text files here", ...leftOut(search, "files")].join("\n") };
  const facts = await readFacts(lines, prefix, context);
  const sections = [
    [oneLine(facts.title ?? "", TITLE_CHARS), await aboutOf(lines, prefix, context)].filter(Boolean),
    [`Languages, by lines: ${languagesIn(lines)}`],
    ["Folders, with their text files:", ...drawFolders([...lines.keys()], depth)],
    listed("Entry points:", entriesOf(lines, facts)),
    listed("Scripts:", facts.scripts),
    testsIn(lines, facts),
    listed("Imported by most files:", await centralFiles(lines, prefix, context)),
    leftOut(search, "files"),
  ];
  return {
    text: sections
      .filter((each) => each.length > 0)
      .map((each) => each.join("\n"))
      .join("\n\n"),
  };
}

/** What the names of files begin with that lie in the judged folder. */
function prefixOf(context: ToolContext): string {
  const { root, path } = placeOf(context);
  const inside = relative(root, path).replaceAll(sep, "/");
  return `${root === context.projectDir ? "" : "workspace:"}${inside === "" ? "" : `${inside}/`}`;
}

async function readFacts(lines: Lines, prefix: string, context: ToolContext): Promise<ProjectFacts> {
  const facts = noFacts();
  for (const [name, read] of Object.entries(MANIFESTS)) {
    const text = lines.has(name) ? await readIfVisible(`${prefix}${name}`, context) : null;
    if (text !== null) read(text, facts);
  }
  return facts;
}

/** The first paragraph of the README that is prose. */
async function aboutOf(lines: Lines, prefix: string, context: ToolContext): Promise<string> {
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
  return oneLine(prose ?? "", README_CHARS);
}

function languagesIn(lines: Lines): string {
  const counts = new Map<string, { lines: number; files: number }>();
  let all = 0;
  for (const [path, count] of lines) {
    if (roleOf(path) === "generated") continue;
    const name = languageOf(path)?.name ?? "other";
    const known = counts.get(name) ?? { lines: 0, files: 0 };
    counts.set(name, { lines: known.lines + count, files: known.files + 1 });
    all += count;
  }
  const ranked = [...counts].sort((a, b) => b[1].lines - a[1].lines);
  const shown = ranked.slice(0, 8).map(([name, { lines: count, files }]) => {
    const share = (100 * count) / Math.max(1, all);
    return `${name} ${share < 1 ? "<1" : Math.round(share)} % (${count} in ${files} ${files === 1 ? "file" : "files"})`;
  });
  const more = ranked.length > shown.length ? [`${ranked.length - shown.length} more`] : [];
  return [...shown, ...more].join(", ") || "none, only generated files";
}

function entriesOf(lines: Lines, facts: ProjectFacts): string[] {
  return [
    ...facts.entries.map((entry) => entry.replace(/^\.\//, "")),
    ...[...lines.keys()].filter((path) => USUAL_ENTRIES.test(path)),
  ];
}

function testsIn(lines: Lines, facts: ProjectFacts): string[] {
  const files = [...lines.keys()].filter((path) => roleOf(path) === "test" && languageOf(path)?.isCode);
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

async function centralFiles(lines: Lines, prefix: string, context: ToolContext): Promise<string[]> {
  if (lines.size > MAX_GRAPH_FILES) return [];
  const files = new Set([...lines.keys()].map((path) => `${prefix}${path}`));
  const importers = importersOf(await findImports(null, context), files);
  return [...importers]
    .filter(([path, from]) => from.size > 2 && roleOf(path) === "source")
    .sort((a, b) => b[1].size - a[1].size || (a[0] < b[0] ? -1 : 1))
    .slice(0, CENTRAL)
    .map(([path, from]) => `${path} (by ${from.size})`);
}

/** What files of the project say is shown on one line of its own, whatever it holds. */
function oneLine(text: string, limit: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > limit ? `${cutAt(line, limit)}…` : line;
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > MAX_LISTED ? [`- (${items.length - MAX_LISTED} more)`] : [];
  return [title, ...items.slice(0, MAX_LISTED).map((item) => `- ${oneLine(item, MAX_ITEM)}`), ...more];
}
