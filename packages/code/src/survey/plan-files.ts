import { posix } from "node:path";
import { type AllowGitDir, worktreesIn } from "@retinue/core/git/git-folder";
import { messageOf } from "@retinue/core/schema/error";
import { type TypeIn, textWith, whole } from "@retinue/core/schema/shape";
import type { Tool, ToolContext, ToolOutput } from "@retinue/core/tools/tool";
import { describeInput } from "../describe-input.ts";
import { defineLook } from "../file-tools/define-look.ts";
import { findFilePlace } from "../file-tools/file-place.ts";
import { searchFiles } from "../file-tools/ripgrep.ts";
import { openForCall } from "../repository/call-repository.ts";
import { findSymbols } from "../symbols/code-search.ts";
import { type CodeSymbol, isUse, readNameQuery } from "../symbols/code-symbol.ts";
import { classifyRole, findLanguage } from "../symbols/languages.ts";
import { lookIntoFiles, readIfVisible } from "../symbols/source-files.ts";
import { findImports, groupImporters } from "./import-graph.ts";
import { type Concept, type Hits, isInPath, rankFiles, readQuery } from "./search-query.ts";

/** A file that a task may touch: the score of the best is 1 or more. */
type Likely = { path: string; score: number; reasons: readonly string[] };

/** What the words of a task lead to. */
type LikelyFiles = {
  files: Likely[];
  /** What was searched for. */
  terms: string[];
  /** Files that the task names and that are not there. */
  missing: string[];
};

const MAX_COUNTED = 3_000;
const MAX_NAMED = 500;
const MAX_RANKED = 60;
const LOOKED_INTO = 24;
const SHOWN_DEFINITIONS = 3;
/** Definitions are worth this much of what words in a text are. */
const DEFINES = 0.35;

/** Words of tasks that say what to do, not with what. */
const DOING =
  /\b(?:add|adds|adding|fix|fixes|fixing|change|changes|update|create|make|write|rewrite|refactor|rename|remove|delete|introduce|ensure|allow|improve|extend|support|move|replace|migrate|build|develop|enable|disable|should|must|new|feature|bug|issue|task|tests?|unit|documentation|document)\b/gi;

/** The files in which the things are that a task is about, by names, definitions and text. */
async function findLikelyFiles(task: string, context: ToolContext): Promise<LikelyFiles> {
  const asked = readQuery(task);
  const told = readQuery(task.replace(DOING, " "));
  const concepts = told.concepts.length > 0 ? told.concepts : asked.concepts;
  const named = await findNamedFiles(asked.paths, context);
  const hits = concepts.length > 0 ? await searchConcepts(concepts, context) : [];
  const ranked = rankFiles(hits).slice(0, MAX_RANKED);
  const best = Math.max(ranked[0]?.score ?? 1, Number.EPSILON);
  const definitions = await findDefinitions(
    ranked.slice(0, LOOKED_INTO).map(({ path }) => path),
    concepts,
    context,
  );
  const files = ranked.map(({ path, score }): Likely => {
    const defined = definitions.get(path) ?? [];
    const words = giveReasons(path, hits, defined);
    return {
      path,
      score: score / best + (classifyRole(path) === "source" ? DEFINES : 0) * Math.min(2, defined.length),
      reasons: words,
    };
  });
  const others = files.filter(({ path }) => !named.found.includes(path));
  const first = named.found.map((path): Likely => {
    const known = files.find((file) => file.path === path);
    return {
      path,
      score: 2 + (known?.score ?? 0),
      reasons: ["named in the task", ...(known?.reasons ?? [])],
    };
  });
  const sorted = [...first, ...others].sort((a, b) => b.score - a.score);
  return { files: sorted, terms: concepts.map(({ name }) => name), missing: named.missing };
}

async function findNamedFiles(
  paths: readonly string[],
  context: ToolContext,
): Promise<{ found: string[]; missing: string[] }> {
  const named = { found: [] as string[], missing: [] as string[] };
  for (const path of paths.filter((each) => findLanguage(each) && !each.split("/").includes(".."))) {
    const found = path.includes("/") ? [] : await findFilesNamed(path, context);
    const there = found.length > 0 || (await readIfVisible(path, context)) !== null;
    if (there) named.found.push(...(found.length > 0 ? found : [path]));
    else named.missing.push(path);
  }
  return named;
}

async function findFilesNamed(name: string, context: ToolContext): Promise<string[]> {
  const accepts = (path: string) => path === name || path.endsWith(`/${name}`);
  return (await searchFiles({ args: ["--files"], accepts, max: 5 }, context)).paths;
}

async function searchConcepts(concepts: readonly Concept[], context: ToolContext): Promise<Hits[]> {
  const accepts = (path: string) => concepts.some((concept) => isInPath(concept, path));
  const named = await searchFiles({ args: ["--files"], accepts, max: MAX_NAMED }, context);
  return Promise.all(
    concepts.map(async (concept) => {
      const args = ["--count", "--with-filename", "--ignore-case", `--regexp=${concept.pattern}`];
      const search = await searchFiles({ args, max: MAX_COUNTED }, context);
      const counts = new Map(search.found.map(({ path, rest }) => [path, Number(rest) || 0]));
      for (const path of named.paths) if (!counts.has(path) && isInPath(concept, path)) counts.set(path, 0);
      return { concept, counts, cut: search.cut };
    }),
  );
}

async function findDefinitions(
  paths: readonly string[],
  concepts: readonly Concept[],
  context: ToolContext,
): Promise<Map<string, CodeSymbol[]>> {
  const code = paths.filter((path) => findLanguage(path)?.isCode);
  const found = await lookIntoFiles(code, context, async (path, text) => {
    const all = await Promise.all(
      concepts.map(({ core }) => findSymbols(path, text, readNameQuery(core.replaceAll("\\", "")))),
    );
    const symbols = all
      .flatMap(({ symbols }) => symbols)
      .filter((each) => !isUse(each.kind) && !each.local && each.kind !== "export");
    return [...new Map(symbols.map((each) => [each.line, each])).values()];
  });
  return new Map(code.map((path, at) => [path, found[at] ?? []]));
}

function giveReasons(path: string, hits: readonly Hits[], defined: readonly CodeSymbol[]): string[] {
  const inName = hits.filter(({ concept }) => isInPath(concept, path)).map(({ concept }) => concept.name);
  const inText = hits.flatMap(({ concept, counts }) => {
    const count = counts.get(path) ?? 0;
    return count > 0 ? [`${concept.name} (${count})`] : [];
  });
  const names = defined.slice(0, SHOWN_DEFINITIONS).map(({ name, line }) => `${name} (line ${line})`);
  const more = defined.length > SHOWN_DEFINITIONS ? [`${defined.length - SHOWN_DEFINITIONS} more`] : [];
  return [
    ...(inName.length > 0 ? [`its name has ${inName.join(", ")}`] : []),
    ...(names.length > 0 ? [`defines ${[...names, ...more].join(", ")}`] : []),
    ...(inText.length > 0 ? [`lines with ${inText.join(", ")}`] : []),
  ];
}

const DEFAULT_LIMIT = 15;
const MAX_LIMIT = 50;
const MAX_REASONS = 4;
/** How many of the best files others are found by. */
const LEADING = 8;
const COMPANIONS = 3;

const INPUT = describeInput({
  task: {
    ...textWith({ minLength: 3, maxLength: 10_000 }),
    description: "The task in words, with the names it is about.",
  },
  "limit?": { ...whole, minimum: 1, maximum: MAX_LIMIT, description: `${DEFAULT_LIMIT} by default.` },
});
type PlanFilesInput = TypeIn<typeof INPUT>;

/** Makes the tool; `allowGitDir` says which folders of git outside of a project belong to it. */
function createPlanFiles(allowGitDir?: AllowGitDir): Tool<PlanFilesInput & { path?: string }> {
  return defineLook<PlanFilesInput & { path?: string }>({
    name: "plan_files",
    description:
      "Names the files that a task will likely touch, best first, each with the reasons: words of the task in names, definitions and lines; the tests of such files; who imports them; what changed together with them in the past.",
    input: INPUT,
    withSettings: (_, { dataDir }) => createPlanFiles(worktreesIn(dataDir)),
    look: (input, context) => planForTask(input, context, allowGitDir),
  });
}

/** Names the files that a task will likely touch. */
export const planFilesTool = createPlanFiles();

async function planForTask(
  { task, limit = DEFAULT_LIMIT }: PlanFilesInput,
  context: ToolContext,
  allowGitDir: AllowGitDir | undefined,
): Promise<ToolOutput> {
  const { files, terms, missing } = await findLikelyFiles(task, context);
  if (terms.length === 0 && files.length === 0 && missing.length === 0)
    return {
      text: "the task names nothing to search for; say which things of the project it is about",
      isError: true,
    };
  context.progress(`${files.length} files hold words of the task`);
  const likely = new Map(files.map((file) => [file.path, file]));
  const leading = files.slice(0, LEADING);
  const neighbours = await findNeighbours(
    leading.map((file) => file.path),
    context,
  );
  for (const { path, of, reason, share } of neighbours)
    raiseScore(likely, { path, reason, share, lead: likely.get(of)?.score ?? 0 });
  const history = await readHistory(context, allowGitDir);
  for (const { path: of, score: lead } of leading) {
    for (const { path, together, of: commits } of findCompanions(of, history).slice(0, COMPANIONS)) {
      if (!likely.has(path) && (await readIfVisible(path, context)) === null) continue;
      const share = 0.6 * (together / commits) * Math.min(1, together / 5);
      raiseScore(likely, {
        path,
        share,
        lead,
        reason: `changed with ${of} in ${together} of ${commits} commits`,
      });
    }
  }
  const ranked = [...likely.values()].sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  const notes = [
    ...missing.map((path) => `${path}  named in the task, and not there yet`),
    ...(terms.length > 0 ? [`(searched for: ${terms.join(", ")})`] : []),
    ...(history.fault ? [`(without the history: ${history.fault})`] : []),
  ];
  const lines = ranked.slice(0, limit).map(formatLikely);
  return { text: [...(lines.length > 0 ? lines : ["no file holds words of the task"]), ...notes].join("\n") };
}

/** A file that goes with another takes a share of its weight, and comes after it unless it came first already. */
function raiseScore(
  likely: Map<string, Likely>,
  { path, lead, share, reason }: { path: string; lead: number; share: number; reason: string },
): void {
  const { score, reasons }: Omit<Likely, "path"> = likely.get(path) ?? { score: 0, reasons: [] };
  if (reasons.includes(reason)) return;
  const raised = Math.max(score, Math.min(score + lead * share, lead * 0.95));
  likely.set(path, { path, score: raised, reasons: [...reasons, reason] });
}

function formatLikely({ path, reasons }: Likely): string {
  const role = classifyRole(path);
  const shown = reasons.slice(0, MAX_REASONS);
  const more = reasons.length > shown.length ? [`${reasons.length - shown.length} more reasons`] : [];
  return `${path}  ${role === "test" ? "test; " : ""}${[...shown, ...more].join("; ")}`;
}

/** The files of each of the last commits, or why there is no history. */
type History = { commits: readonly (readonly string[])[]; fault?: string };

/** How often a file changed in the same commits as another. */
type Companion = { path: string; together: number; of: number };

/** A commit of more files says nothing about which of them belong together. */
const MAX_COMMIT_FILES = 30;
const MAX_BYTES = 4_000_000;
const LOG =
  "log --no-merges --no-renames --no-ext-diff --no-textconv --name-only -z --format=%x01 --max-count=500".split(
    " ",
  );
const LEAST_TOGETHER = 2;
const LEAST_SHARE = 0.3;

/** Reads which files the last commits changed. */
async function readHistory(context: ToolContext, allowGitDir?: AllowGitDir): Promise<History> {
  const { signal, projectDir } = context;
  if (findFilePlace(context).root !== projectDir) return { commits: [] };
  try {
    const repository = await openForCall(context, allowGitDir);
    const { stdout } = await repository.git(LOG, { maxBytes: MAX_BYTES });
    const commits = stdout.split("\u0001").map((commit) => commit.split(/[\0\n]/).filter(Boolean));
    return { commits: commits.filter((files) => files.length > 0 && files.length <= MAX_COMMIT_FILES) };
  } catch (thrown) {
    signal.throwIfAborted();
    return { commits: [], fault: messageOf(thrown) };
  }
}

/** The files that changed in the same commits as this one, most often first. */
export function findCompanions(path: string, { commits }: History): Companion[] {
  const own = commits.filter((files) => files.includes(path));
  const counts = new Map<string, number>();
  for (const file of own.flat()) if (file !== path) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts]
    .filter(([, together]) => together >= LEAST_TOGETHER && together / own.length >= LEAST_SHARE)
    .map(([other, together]) => ({ path: other, together, of: own.length }))
    .sort((a, b) => b.together - a.together || (a.path < b.path ? -1 : 1));
}

/** A file that goes with another: its test, or one that imports it. `share` is how much of its weight it takes over. */
type Neighbour = { path: string; of: string; reason: string; share: number };

const MAX_IMPORTERS = 5;
const MAX_TESTS = 100;
const TEST_SHARE = 0.6;
const IMPORTING_TEST_SHARE = 0.35;
const IMPORTER_SHARE = 0.2;
const EVERYWHERE = new Set(["index", "main", "mod", "lib", "__init__", "types", "utils"]);

/** The tests of files, by name and by what they import, and the files that import them. */
async function findNeighbours(paths: readonly string[], context: ToolContext): Promise<Neighbour[]> {
  const sources = paths.filter((path) => classifyRole(path) !== "test");
  if (sources.length === 0) return [];
  const tests = await findNamesakes(sources, context);
  const imports = await findImports([...new Set(sources.map(stripEnding))], context);
  const importers = groupImporters(imports, new Set(sources));
  const importing = [...importers].flatMap(([of, from]) => {
    const inTests = [...from].filter((path) => classifyRole(path) === "test").slice(0, MAX_IMPORTERS);
    const inSources = [...from].filter((path) => classifyRole(path) === "source");
    return [
      ...inTests.map((path) => ({ path, of, reason: `imports ${of}`, share: IMPORTING_TEST_SHARE })),
      ...inSources.slice(0, MAX_IMPORTERS).map((path) => ({
        path,
        of,
        reason: inSources.length > 1 ? `imports ${of}, as ${inSources.length} files do` : `imports ${of}`,
        share: IMPORTER_SHARE / Math.sqrt(inSources.length),
      })),
    ];
  });
  return [...tests, ...importing];
}

/** Tests that carry the name of a file: `x.test.ts`, `x_test.go`, `test_x.py`, `XTest.java`, `x_spec.rb`. */
async function findNamesakes(sources: readonly string[], context: ToolContext): Promise<Neighbour[]> {
  const byStem = new Map<string, string[]>();
  for (const path of sources) {
    const stem = stripEnding(path).toLowerCase();
    if (!EVERYWHERE.has(stem)) byStem.set(stem, [...(byStem.get(stem) ?? []), path]);
  }
  const accepts = (path: string) => classifyRole(path) === "test" && byStem.has(stripTestEnding(path));
  const search = await searchFiles({ args: ["--files"], accepts, max: MAX_TESTS }, context);
  return search.paths.flatMap((path) =>
    (byStem.get(stripTestEnding(path)) ?? []).map((of) => ({
      path,
      of,
      reason: `the test of ${of} by its name`,
      share: posix.dirname(path) === posix.dirname(of) ? TEST_SHARE : TEST_SHARE / 1.5,
    })),
  );
}

function stripEnding(path: string): string {
  return posix.basename(path).replace(/\.(?:d\.)?\w+$/, "");
}

function stripTestEnding(path: string): string {
  return stripEnding(path)
    .replace(/^test_|[._-](?:test|spec)s?$|(?<=[a-z])(?:Tests?|Spec)$/g, "")
    .toLowerCase();
}
