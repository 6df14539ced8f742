import type { ToolContext } from "@retinue/core/tools/tool";
import { searchFiles } from "../file-tools/ripgrep.ts";
import { findSymbols } from "../symbols/code-search.ts";
import { type CodeSymbol, isUse, readNameQuery } from "../symbols/code-symbol.ts";
import { classifyRole, findLanguage } from "../symbols/languages.ts";
import { lookIntoFiles, readIfVisible } from "../symbols/source-files.ts";
import { type Concept, type Hits, isInPath, rankFiles, readQuery } from "./search-query.ts";

/** A file that a task may touch: the score of the best is 1 or more. */
export type Likely = { path: string; score: number; reasons: readonly string[] };

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
export async function findLikelyFiles(task: string, context: ToolContext): Promise<LikelyFiles> {
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
  const search = await searchFiles({ args: ["--files"], accepts, max: 5 }, context);
  return search.found.map(({ path }) => path);
}

async function searchConcepts(concepts: readonly Concept[], context: ToolContext): Promise<Hits[]> {
  const accepts = (path: string) => concepts.some((concept) => isInPath(concept, path));
  const named = await searchFiles({ args: ["--files"], accepts, max: MAX_NAMED }, context);
  return Promise.all(
    concepts.map(async (concept) => {
      const args = ["--count", "--with-filename", "--ignore-case", `--regexp=${concept.pattern}`];
      const search = await searchFiles({ args, max: MAX_COUNTED }, context);
      const counts = new Map(search.found.map(({ path, rest }) => [path, Number(rest) || 0]));
      for (const { path } of named.found)
        if (!counts.has(path) && isInPath(concept, path)) counts.set(path, 0);
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
