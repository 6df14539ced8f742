import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo, faultsIn, nextCalls, type Stage } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, PastCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { readResults } from "../../../models/offline/read-results.ts";
import { taskSections, taskText } from "../../../models/offline/task-text.ts";
import { countsIn, type Hits, namedFolder, type Ranked, rankFiles } from "../offline/rank-files.ts";
import { linesIn } from "../offline/read-code.ts";
import { type Concept, type Query, queryOf } from "../offline/search-terms.ts";
import { filesGlob } from "./files-glob.ts";
import { askedFor, locate } from "./locate.ts";
import { bestDefinition, type Findings, reportFindings } from "./report-findings.ts";
import { testsOf } from "./tests-of.ts";

const COUNTED_FILES = 80;
const SHOWN_LINES = 60;
const READ_FILES = 4;
const READ_LINES = 120;
const LINES_BEFORE = 12;

type Made = (call: OfflineCall) => PastCall | undefined;

/** The researcher: answers questions from the project's files. */
export const researcher: Procedure = { agents: ["researcher"], next: (situation) => research(situation) };

/**
 * Answers a question from the project's files in a few turns. A name is looked up where it is defined; anything else is
 * counted by file, and again in a folder that the question names, then looked at in the best files and read. If tests
 * are asked for, those that name what was found come on top.
 */
export function research(situation: Situation): Move {
  const question = taskText(situation.task);
  const { query, name, covering } = askedFor(question, withPathsOf(queryOf(question), situation.task));
  const fault = cannotSearch(question, query, situation);
  if (fault) return { cannot: fault };
  const located = name === undefined ? null : locate(name, situation);
  if (located && "calls" in located) return located;
  const places = located?.places ?? [];
  const [place] = places;
  const made: Made = (call) => answerTo(situation.calls, call);
  const stages = [countStage, folderStage, lineStage, readStage].map(
    (stage): Stage =>
      () =>
        stage(query, made),
  );
  const searching = place ? null : nextCalls(situation, stages);
  if (searching) return searching;
  const findings = place ? null : findingsOf(question, query, situation, made);
  const subject = place ?? (findings && bestDefinition(findings));
  const tests = covering && subject ? testsOf(subject, situation) : null;
  if (tests && "calls" in tests) return tests;
  const found = findings ? reportFindings(findings) : (located?.report ?? "");
  return { say: tests ? withTests(found, tests.report) : found };
}

/** The summary tells of both, the tests come before the rest of the details. */
function withTests(found: string, tests: { summary: string; details: string }): string {
  const [summary = "", ...details] = found.split("\n\n");
  const rest = details.filter((section) => section !== "**Details**");
  return [`${summary} ${tests.summary}`, "**Details**", tests.details, ...rest].join("\n\n");
}

function cannotSearch(question: string, query: Query, { tools }: Situation): string | null {
  const lacking = ["grep", "read"].filter((tool) => !tools.includes(tool));
  if (lacking.length > 0)
    return needsModel(
      `look into files without ${lacking.join(" and ")}`,
      "search and read where it has these tools",
    );
  if (query.concepts.length > 0 || query.paths.length > 0) return null;
  return needsModel(
    `answer “${question.slice(0, 120)}”: it names nothing to search for`,
    "look up names, words and files that a question names",
  );
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
  const glob = filesGlob(best.map(({ path }) => path));
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

function findingsOf(question: string, query: Query, { calls, condensed }: Situation, made: Made): Findings {
  const files = calls
    .filter(({ tool, failed }) => tool === "read" && !failed)
    .map(({ input, result }) => ({ path: String(input.path), lines: linesIn(result) }));
  const counted = hitsOf(query.concepts, made);
  const others = rankedOf(query, made).map(({ path }) => path);
  return { question, query, files, counted, others, faults: faultsIn(calls), condensed };
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

function isFile(path: string): boolean {
  return /\.\w+$/.test(path);
}

/** A question that builds on results of others and names no file looks at the files those name. */
function withPathsOf(query: Query, task: string): Query {
  const results = readResults(taskSections(task));
  if (query.paths.length > 0 || results.length === 0) return query;
  const text = results.map(({ details }) => details).join("\n");
  return { ...query, paths: queryOf(text).paths.slice(0, 2) };
}
