import { findOwn } from "../../../schema/find-own.ts";
import type { Tool, ToolContext, ToolOutput } from "../../../tools/tool.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { defineLook, FOLDER_WORDS } from "./define-look.ts";
import { type Found, globTest, leftOut, searchFiles } from "./ripgrep.ts";

type GrepInput = {
  pattern: string;
  path?: string;
  glob?: string;
  mode?: "lines" | "files" | "count";
  ignoreCase?: boolean;
  fixed?: boolean;
  limit?: number;
  /** Lines around each match, and the same for one side only. */
  context?: number;
  before?: number;
  after?: number;
};

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
const MAX_LINE_CHARS = 300;
const AROUND = { type: "integer", minimum: 0, maximum: 100 } as const;
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

/** Searches the text of files. */
export const grep: Tool<GrepInput> = defineLook<GrepInput>({
  name: "grep",
  description:
    "Searches the text of files; ignored, hidden and binary ones are passed over. Gives path:line:text.",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: 10_000,
      description: "A regular expression.",
    },
    path: { type: "string", description: "A folder or file; the project by default." },
    glob: { type: "string", description: "Only such files: *.ts, src/**/*.test.ts." },
    mode: {
      type: "string",
      enum: ["lines", "files", "count"],
      description: "lines by default; files: names only; count: path:count.",
    },
    ignoreCase: { type: "boolean" },
    fixed: { type: "boolean", description: "The pattern is plain text." },
    limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} by default.` },
    context: AROUND,
    before: AROUND,
    after: AROUND,
  },
  required: ["pattern"],
  untold: ["context", "before", "after"],
  words: GREP_WORDS,
  accept: acceptGrep,
  look: async (input, context) => {
    return await search(input, context);
  },
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

async function search(input: GrepInput, context: ToolContext): Promise<ToolOutput> {
  const { pattern, glob, mode = "lines", ignoreCase = false, fixed = false, limit = DEFAULT_LIMIT } = input;
  const { context: around = 0, before = around, after = around } = input;
  const accepts = glob === undefined ? undefined : globTest(glob);
  if (glob !== undefined && !accepts)
    return { text: `the glob ${glob} has too many alternatives`, isError: true };
  const args = [
    "--no-heading",
    "--with-filename",
    ...MODES[mode],
    ...(mode === "lines" && before + after > 0 ? linesAround(before, after) : []),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(fixed ? ["--fixed-strings"] : []),
    `--regexp=${pattern}`,
  ];
  const max = mode === "count" ? MAX_COUNTED : limit;
  const result = await searchFiles({ args, accepts, max }, context);
  if (result.fault && result.found.length === 0)
    return { text: `grep: ${sayFault(result.fault, pattern)}`, isError: true };
  let shown = mode === "files" ? result.found.map(({ path }) => path) : showLines(result.found);
  if (mode === "count") {
    const sorted = result.found.toSorted((a, b) => Number(b.rest) - Number(a.rest));
    shown = sorted.slice(0, limit).map(({ path, rest }) => `${path}:${rest}`);
    result.cut ||= sorted.length > limit;
  }
  const notes = leftOut(result, mode === "lines" ? "matching lines" : "matching files");
  return { text: [...(shown.length > 0 ? shown : ["no matches"]), ...notes].join("\n") };
}

function linesAround(before: number, after: number): string[] {
  return [`--before-context=${before}`, `--after-context=${after}`, "--no-context-separator"];
}

/** Lines as grep shows them: `path:3:text` for a match, `path-4-text` around it, and `--` where lines were left out. */
function showLines(found: readonly Found[]): string[] {
  let hasContext = false;
  const rows = found.map(({ path, rest }) => {
    const [, number = "", mark = ":"] = /^(\d+)([:-])/.exec(rest) ?? [];
    hasContext ||= mark === "-";
    return { path, number: Number(number), text: `${path}${mark}${cut(rest)}` };
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

function cut(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MAX_LINE_CHARS ? `${cutAt(text, MAX_LINE_CHARS)}… (${text.length} characters)` : text;
}
