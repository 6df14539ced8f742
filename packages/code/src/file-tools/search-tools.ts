import { join } from "node:path";
import { listInside } from "@retinue/core/files/open-inside";
import { findOwn } from "@retinue/core/schema/find-own";
import { flag, oneOf, type Shape, type TypeIn, text, textWith } from "@retinue/core/schema/shape";
import type { ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { describeInput } from "../describe-input.ts";
import { defineLook, FOLDER_WORDS } from "./define-look.ts";
import { findFilePlace, toReadTarget } from "./file-place.ts";
import { compileGlob, describeLeftOut, type Found, searchFiles } from "./ripgrep.ts";

const MAX_ENTRIES = 1_000;

/** Lists a folder. */
export const ls = defineLook({
  name: "ls",
  description: "Lists a folder; names of folders end with a slash.",
  words: FOLDER_WORDS,
  input: describeInput({ "path?": { ...text, description: "The project by default." } }),
  look: (_, context) => listFolder(context),
});

/** What is in the folder that a call names, without what the run may not see. */
export async function listFolder(context: ToolContext): Promise<string> {
  const place = findFilePlace(context);
  const entries = await listInside(place.root, place.path);
  const shown = entries.filter(({ name }) =>
    context.maySee(toReadTarget(join(place.path, name), place, context)),
  );
  const names = shown.map((entry) => `${entry.name}${entry.isFolder ? "/" : ""}`).sort();
  const more = names.length > MAX_ENTRIES ? [`(${names.length - MAX_ENTRIES} more)`] : [];
  const notes = describeLeftOut({ hidden: entries.length - shown.length, cut: false }, "entries");
  return [...names.slice(0, MAX_ENTRIES), ...more, ...notes].join("\n") || "(the folder is empty)";
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
const LIMIT: Shape<number> = {
  type: "integer",
  minimum: 1,
  maximum: MAX_LIMIT,
  description: `${DEFAULT_LIMIT} by default.`,
};

/** Finds files by name. */
export const glob = defineLook({
  name: "glob",
  description: "Finds files by name; ignored and hidden ones are passed over.",
  input: describeInput({
    pattern: {
      ...textWith({ minLength: 1, maxLength: 1_000 }),
      description: "Such as src/**/*.ts; without a slash, in every folder.",
    },
    "path?": { ...text, description: "A folder; the project by default." },
    "limit?": LIMIT,
  }),
  words: {
    ...FOLDER_WORDS,
    glob: "pattern",
    query: "pattern",
    head_limit: "limit",
    max_results: "limit",
  },
  look: async ({ pattern, limit = DEFAULT_LIMIT }, context) => {
    const accepts = compileGlob(pattern);
    if (!accepts) return { text: `the pattern ${pattern} has too many alternatives`, isError: true };
    const result = await searchFiles({ args: ["--files"], accepts, max: limit }, context);
    if (result.fault && result.found.length === 0) return { text: `glob: ${result.fault}`, isError: true };
    const names = result.paths.length > 0 ? result.paths : ["no files match"];
    return [...names, ...describeLeftOut(result, "files")].join("\n");
  },
});

const MAX_LINE_CHARS = 300;
const AROUND: Shape<number> = { type: "integer", minimum: 0, maximum: 100 };
/** Counts are sorted, so more of them are looked at than shown. */
const MAX_COUNTED = 20_000;
const MODES = { lines: ["--line-number"], files: ["--files-with-matches"], count: ["--count"] };

const GREP_WORDS = {
  ...FOLDER_WORDS,
  query: "pattern",
  regex: "pattern",
  include: "glob",
  include_pattern: "glob",
  output_mode: "mode",
  head_limit: "limit",
  max_results: "limit",
  "-i": "ignoreCase",
  case_insensitive: "ignoreCase",
  "-F": "fixed",
  "-C": "context",
  "-B": "before",
  "-A": "after",
  context_lines: "context",
  before_context: "before",
  after_context: "after",
};

const GREP_INPUT = describeInput({
  pattern: { ...textWith({ minLength: 1, maxLength: 10_000 }), description: "A regular expression." },
  "path?": { ...text, description: "A folder or file; the project by default." },
  "glob?": { ...text, description: "Only such files: *.ts, src/**/*.test.ts." },
  "mode?": {
    type: "string",
    ...oneOf("lines", "files", "count"),
    description: "lines by default; files: names only; count: path:count.",
  },
  "ignoreCase?": flag,
  "fixed?": { ...flag, description: "The pattern is plain text." },
  "limit?": LIMIT,
  "context?": AROUND,
  "before?": AROUND,
  "after?": AROUND,
});

/** Searches the text of files. */
export const grep = defineLook({
  name: "grep",
  description:
    "Searches the text of files; ignored, hidden and binary ones are passed over. Gives path:line:text.",
  input: GREP_INPUT,
  untold: ["context", "before", "after"],
  words: GREP_WORDS,
  accept: acceptGrep,
  look: searchText,
});

const MODE_WORDS: Readonly<Record<string, string>> = { content: "lines", files_with_matches: "files" };
/** What grep here does always. */
const ALWAYS: ReadonlySet<string> = new Set(["-n", "-r", "-H", "line_numbers"]);

/** Takes ripgrep's switches and the names that other systems give to the modes and file types. */
function acceptGrep(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type, ...renamed } = input;
  const known = Object.fromEntries(Object.entries(renamed).filter(([key]) => !ALWAYS.has(key)));
  const { mode } = known;
  return {
    ...known,
    ...(typeof mode === "string" && { mode: findOwn(MODE_WORDS, mode) ?? mode }),
    ...(typeof type === "string" && known.glob === undefined && { glob: `*.${type}` }),
  };
}

async function searchText(input: TypeIn<typeof GREP_INPUT>, context: ToolContext): Promise<ToolOutput> {
  const { pattern, glob, mode = "lines", ignoreCase = false, fixed = false, limit = DEFAULT_LIMIT } = input;
  const { context: around = 0, before = around, after = around } = input;
  const accepts = glob === undefined ? undefined : compileGlob(glob);
  if (glob !== undefined && !accepts)
    return { text: `the glob ${glob} has too many alternatives`, isError: true };
  const args = [
    "--no-heading",
    "--with-filename",
    ...MODES[mode],
    ...(mode === "lines" && before + after > 0 ? askForContext(before, after) : []),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(fixed ? ["--fixed-strings"] : []),
    `--regexp=${pattern}`,
  ];
  const max = mode === "count" ? MAX_COUNTED : limit;
  const result = await searchFiles({ args, accepts, max }, context);
  if (result.fault && result.found.length === 0)
    return { text: `grep: ${sayFault(result.fault, pattern)}`, isError: true };
  let shown = mode === "files" ? result.paths : showLines(result.found);
  if (mode === "count") {
    const sorted = result.found.toSorted((a, b) => Number(b.rest) - Number(a.rest));
    shown = sorted.slice(0, limit).map(({ path, rest }) => `${path}:${rest}`);
    result.cut ||= sorted.length > limit;
  }
  const notes = describeLeftOut(result, mode === "lines" ? "matching lines" : "matching files");
  return { text: [...(shown.length > 0 ? shown : ["no matches"]), ...notes].join("\n") };
}

function askForContext(before: number, after: number): string[] {
  return [`--before-context=${before}`, `--after-context=${after}`, "--no-context-separator"];
}

/** Lines as grep shows them: `path:3:text` for a match, `path-4-text` around it, and `--` where lines were left out. */
function showLines(found: readonly Found[]): string[] {
  let hasContext = false;
  const rows = found.map(({ path, rest }) => {
    const [, number = "", mark = ":"] = /^(\d+)([:-])/.exec(rest) ?? [];
    hasContext ||= mark === "-";
    return { path, number: Number(number), text: `${path}${mark}${cutLine(rest)}` };
  });
  if (!hasContext) return rows.map(({ text }) => text);
  return rows.flatMap(({ path, number, text }, index) => {
    const last = rows[index - 1];
    const isNext = !last || (last.path === path && last.number === number - 1);
    return isNext ? [text] : ["--", text];
  });
}

/** What ripgrep says of a pattern, which it shows in a form of its own and with advice for a command line. */
function sayFault(fault: string, pattern: string): string {
  const said = /^error: (.*)$/m.exec(fault)?.[1];
  if (!/^(?:rg: )?regex parse error/.test(fault) && !/look-around|backreferences/.test(fault)) return fault;
  const why = said ?? fault.split("\n").find((line) => /look-around|backreferences/.test(line)) ?? "";
  return `${cutAt(pattern, MAX_LINE_CHARS)} is no regular expression here: ${why.trim()}; with fixed it is plain text`;
}

function cutLine(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MAX_LINE_CHARS ? `${cutAt(text, MAX_LINE_CHARS)}… (${text.length} characters)` : text;
}
