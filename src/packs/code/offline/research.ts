import { needsModel } from "../../../models/offline/offline-words.ts";
import type { Move, OfflineCall, PastCall, Situation } from "../../../models/offline/procedure.ts";
import { countsIn, type Hits, namedFolder, type Ranked, rankFiles } from "./rank-files.ts";
import { linesIn } from "./read-code.ts";
import { readResults } from "./read-results.ts";
import { type Findings, reportFindings } from "./report-findings.ts";
import { type Concept, type Query, queryOf } from "./search-terms.ts";

const COUNTED_FILES = 80;
const SHOWN_LINES = 60;
const READ_FILES = 4;
const READ_LINES = 120;
const LINES_BEFORE = 12;

type Made = (call: OfflineCall) => PastCall | undefined;

/**
 * Answers a question from the project's files in a few turns: count hits by file, and again in a folder that the
 * question names, look at the lines of the best files, read around them, report.
 */
export function research(situation: Situation): Move {
  const { question, results } = split(situation.task);
  const query = withPathsOf(queryOf(question), results);
  const lacking = ["grep", "read"].filter((tool) => !situation.tools.includes(tool));
  if (lacking.length > 0)
    return {
      cannot: needsModel(
        `look into files without ${lacking.join(" and ")}`,
        "search and read where it has these tools",
      ),
    };
  if (query.concepts.length === 0 && query.paths.length === 0) {
    return {
      cannot: needsModel(
        `answer “${question.slice(0, 120)}”: it names nothing to search for`,
        "look up names, words and files that a question names",
      ),
    };
  }
  const made: Made = (call) => situation.calls.find((past) => isSame(past, call));
  for (const stage of [countStage, folderStage, lineStage, readStage]) {
    const calls = stage(query, made).filter((call) => !made(call));
    if (calls.length > 0 && !situation.wrapUp && !situation.condensed) return { calls };
  }
  return { say: reportFindings(findingsOf(question, query, situation.calls, made)) };
}

function countStage({ concepts, paths }: Query): OfflineCall[] {
  return [
    ...concepts.map((concept) => countCall(concept)),
    ...paths.filter(isFile).map((path) => ({ tool: "read", input: { path, limit: READ_LINES * 2 } })),
  ];
}

function countCall({ pattern }: Concept): OfflineCall {
  return { tool: "grep", input: { pattern, mode: "count", ignoreCase: true, limit: COUNTED_FILES } };
}

/** A second look into the folder that the question names: the first one may have been cut before its small files. */
function folderStage({ concepts, paths }: Query, made: Made): OfflineCall[] {
  const folder =
    paths.find((path) => !isFile(path)) ?? namedFolder(concepts, rankFiles(hitsOf(concepts, made)));
  if (folder === undefined) return [];
  const input = {
    pattern: anyOf(concepts),
    mode: "count",
    ignoreCase: true,
    limit: COUNTED_FILES / 2,
    path: folder,
  };
  return [{ tool: "grep", input }];
}

/** All concepts at once, in the best files. */
function lineStage(query: Query, made: Made): OfflineCall[] {
  const best = rankedOf(query, made).slice(0, READ_FILES + 2);
  if (best.length === 0) return [];
  const glob = `{${best.map(({ path }) => path).join(",")},}`;
  return [
    { tool: "grep", input: { pattern: anyOf(query.concepts), ignoreCase: true, limit: SHOWN_LINES, glob } },
  ];
}

function anyOf(concepts: readonly Concept[]): string {
  return concepts.map(({ pattern }) => pattern).join("|") || DEFINING;
}

/** Files by all counts there are. Those of a named folder count once more, and they alone if the question has no words. */
function rankedOf(query: Query, made: Made): Ranked[] {
  const hits = hitsOf(query.concepts, made);
  for (const call of folderStage(query, made)) {
    const name = String(call.input.path);
    const concept = {
      name,
      core: name,
      pattern: `${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}/`,
      weight: 1,
    };
    hits.push({ concept, counts: countsIn(made(call)?.result ?? "") });
  }
  return rankFiles(hits);
}

/** What usually begins a definition, for questions that only name a folder. */
const DEFINING =
  "^\\s*(export |public |pub )?(async |abstract |default )*(class|function|interface|def|fn|func|struct|trait)\\s";

/** Windows around the first telling hit of the best files. */
function readStage(query: Query, made: Made): OfflineCall[] {
  const named = query.paths.filter(isFile);
  const ranked = rankedOf(query, made).filter(({ path }) => !named.includes(path));
  const lines = Map.groupBy(
    lineStage(query, made).flatMap((call) => hitLines(made(call)?.result ?? "")),
    ({ path }) => path,
  );
  return ranked.slice(0, Math.max(1, READ_FILES - named.length)).map(({ path }) => ({
    tool: "read",
    input: { path, offset: Math.max(1, firstOf(lines.get(path) ?? []) - LINES_BEFORE), limit: READ_LINES },
  }));
}

/** Import lines are hits too, but nothing to read. */
function firstOf(lines: readonly { at: number; text: string }[]): number {
  const telling = lines.filter(({ text }) => !/^\s*(?:import|from|using|#include|require)\b/.test(text));
  return (telling[0] ?? lines[0])?.at ?? 1;
}

function findingsOf(question: string, query: Query, calls: readonly PastCall[], made: Made): Findings {
  const reads = [...countStage(query), ...readStage(query, made)].filter(({ tool }) => tool === "read");
  const files = reads.flatMap((call) => {
    const past = made(call);
    return past && !past.failed ? [{ path: String(call.input.path), lines: linesIn(past.result) }] : [];
  });
  const counted = hitsOf(query.concepts, made);
  const others = rankedOf(query, made).map(({ path }) => path);
  const faults = calls
    .filter((past) => past.failed)
    .map(({ tool, input, result }) => `${tool} ${String(input.path ?? input.pattern ?? "")}: ${result}`);
  return { question, query, files, counted, others, faults };
}

function hitsOf(concepts: readonly Concept[], made: Made): Hits[] {
  return concepts.map((concept) => {
    const past = made(countCall(concept));
    if (!past || past.failed) return { concept, counts: new Map() };
    return { concept, counts: countsIn(past.result), cut: past.result.includes("\n(there are more ") };
  });
}

function hitLines(result: string): { path: string; at: number; text: string }[] {
  return [...result.matchAll(/^(.+?):(\d+):(.*)$/gm)].map(([, path = "", at, text = ""]) => ({
    path,
    at: Number(at),
    text,
  }));
}

function isSame(past: PastCall, call: OfflineCall): boolean {
  return past.tool === call.tool && JSON.stringify(past.input) === JSON.stringify(call.input);
}

function isFile(path: string): boolean {
  return /\.\w+$/.test(path);
}

/** The question itself, and the results of others that it was handed. */
function split(task: string): { question: string; results: string } {
  const [question = "", ...sections] = task.split(/\n\n(?=## |<context )/);
  return {
    question,
    results: readResults(sections.join("\n\n"))
      .map(({ details }) => details)
      .join("\n"),
  };
}

/** A question that builds on results and names no file looks at the files those name. */
function withPathsOf(query: Query, results: string): Query {
  if (query.paths.length > 0 || results === "") return query;
  return { ...query, paths: queryOf(results).paths.slice(0, 2) };
}
