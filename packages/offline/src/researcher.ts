import {
  type Concept,
  type Hits,
  type Query,
  type RankedFile,
  rankFiles,
  readQuery,
} from "@retinue/code/survey/search-query";
import { splitWords } from "@retinue/core/text/terms";
import {
  type CallStage,
  findAnswer,
  findNextCalls,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  readResults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { locate } from "./find-definition.ts";
import { findTests, globFiles } from "./find-tests.ts";
import { needsModel } from "./offline-words.ts";
import { readCounts, readHitLines, readNumberedLines } from "./read-code.ts";
import { explainOpen, findBestDefinition, reportFindings, type SearchFindings } from "./search-findings.ts";
import { isFile } from "./source-line.ts";

const COUNTED_FILES = 80;
const SHOWN_LINES = 60;
const READ_FILES = 4;
const READ_LINES = 120;
const LINES_BEFORE = 12;

type Made = (call: OfflineCall) => PastCall | undefined;

/** The researcher: answers questions from the project's files. */
export const researcher: Procedure = { agents: ["researcher"], next: researchQuestion };

/**
 * Answers a question from the project's files in a few turns. A name is looked up where it is defined; anything else is
 * counted by file, and again in a folder that the question names, then looked at in the best files and read. If tests
 * are asked for, those that name what was found come on top.
 */
function researchQuestion(situation: Situation): OfflineMove {
  const question = taskText(situation.task);
  const asked = readAsked(question, addPaths(readQuery(question), situation.task));
  const { query, covering } = asked;
  const name = situation.tools.includes("code_search") ? asked.name : undefined;
  const fault = refuseSearch(question, query, situation);
  if (fault) return { cannot: fault };
  const located = name === undefined ? null : locate(name, situation);
  if (located && !("places" in located)) return located;
  const places = located?.places ?? [];
  const [place] = places;
  const made: Made = (call) => findAnswer(situation.calls, call);
  const stages = [countStage, lineStage, readStage].map(
    (stage): CallStage =>
      () =>
        stage(query, made),
  );
  const searching = place ? null : findNextCalls(situation, stages);
  if (searching) return searching;
  const findings = place ? null : collectFindings(question, query, situation, made);
  const subject = place ?? (findings && findBestDefinition(findings));
  const tests = covering && subject ? findTests(subject, situation) : null;
  if (tests && !("details" in tests)) return tests;
  const open = findings && explainOpen(findings);
  if (open) return { say: open };
  const found = findings ? reportFindings(findings) : (located?.report ?? "");
  return { say: tests ? addTests(found, tests) : found };
}

/** The summary has both, and the tests come first in the details. */
function addTests(found: string, tests: { summary: string; details: string }): string {
  const [summary = "", ...details] = found.split("\n\n");
  const rest = details.filter((section) => section !== "**Details**");
  return [`${summary} ${tests.summary}`, "**Details**", tests.details, ...rest].join("\n\n");
}

/** What a question asks for: where a name is defined, its tests, or other words. */
type AskedName = { query: Query; name?: string; covering: boolean };

const COVERING =
  /\btests?\b.*\b(?:cover|exercis|check|verif|touch|exist|there)\w*|\bcover(?:ed|age|ing|s)?\b.*\btests?\b|\btested\b|\btests? (?:for|of)\b/i;
const ABOUT_TESTS = /^(?:test|cover|exercis|check|verif|touch|exist)/;
const WHERE = /\bwhere\b|\bdefin|\blocate\b|\bplace\b/i;

/** Reads from a question whether it asks where a name is defined and for tests; words about tests are not searched for. */
function readAsked(question: string, query: Query): AskedName {
  const covering = COVERING.test(question);
  const concepts = covering ? query.concepts.filter(({ name }) => !ABOUT_TESTS.test(name)) : query.concepts;
  const left = concepts.length > 0 || query.paths.length > 0 ? { ...query, concepts } : query;
  const name =
    covering || WHERE.test(question) ? findAskedName(question, left.concepts, covering) : undefined;
  return { query: left, covering, name: query.paths.length === 0 ? name : undefined };
}

/** A name that only code has; where tests are asked for, a single plain word counts as one too, spelled as it was. */
function findAskedName(
  question: string,
  concepts: readonly Concept[],
  covering: boolean,
): string | undefined {
  const exact = concepts.find(({ weight, name }) => weight > 1 && IDENTIFIER.test(name));
  if (exact) return exact.name.replace(/\(\)$/, "");
  if (!covering) return undefined;
  const words = [...new Set(question.match(WORDS) ?? [])].filter((word) =>
    splitWords(word).some((each) => concepts.some(({ name }) => name === each)),
  );
  return words.length === 1 ? words[0] : undefined;
}

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*(?:[.#][\p{L}\p{N}_$]+)*(?:\(\))?$/u;
const WORDS = /[\p{L}_$][\p{L}\p{N}_$]*(?:[.#][\p{L}\p{N}_$]+)*/gu;

function refuseSearch(question: string, query: Query, { tools }: Situation): string | null {
  const lacking = ["grep", "read"].filter((tool) => !tools.includes(tool));
  if (lacking.length > 0)
    return needsModel(
      `look into files without ${lacking.join(" and ")}`,
      "search and read where it has these tools",
    );
  if (query.concepts.length > 0 || query.paths.some(isFile)) return null;
  return needsModel(
    `answer “${question.slice(0, 120)}”: it names nothing to search for`,
    "look up names, words and files that a question names",
  );
}

function countStage({ concepts, paths }: Query): OfflineCall[] {
  return [
    ...concepts.map((concept) => countCall(concept, paths)),
    ...paths.filter(isFile).map((path) => ({ tool: "read", input: { path, limit: READ_LINES * 2 } })),
  ];
}

/** In the folder that the question names, or everywhere. */
function countCall({ pattern }: Concept, paths: readonly string[]): OfflineCall {
  const folder = paths.find((path) => !isFile(path));
  const input = { pattern, mode: "count", ignoreCase: true, limit: COUNTED_FILES, path: folder };
  return { tool: "grep", input };
}

/** All concepts at once, in the best files. */
function lineStage(query: Query, made: Made): OfflineCall[] {
  const best = rankByHits(query, made).slice(0, READ_FILES + 2);
  if (best.length === 0) return [];
  const glob = globFiles(best.map(({ path }) => path));
  return [
    {
      tool: "grep",
      input: {
        pattern: query.concepts.map(({ pattern }) => pattern).join("|"),
        ignoreCase: true,
        limit: SHOWN_LINES,
        glob,
      },
    },
  ];
}

/** Files by all counts there are. */
function rankByHits({ concepts, paths }: Query, made: Made): RankedFile[] {
  return rankFiles(countHits(concepts, paths, made));
}

/** Reads around the first telling hit of the best files. */
function readStage(query: Query, made: Made): OfflineCall[] {
  const named = query.paths.filter(isFile);
  const ranked = rankByHits(query, made).filter(({ path }) => !named.includes(path));
  const lines = Map.groupBy(
    lineStage(query, made).flatMap((call) => readHitLines(made(call)?.result ?? "")),
    ({ path }) => path,
  );
  return ranked.slice(0, Math.max(1, READ_FILES - named.length)).map(({ path }) => ({
    tool: "read",
    input: {
      path,
      offset: Math.max(1, findFirstLine(lines.get(path) ?? []) - LINES_BEFORE),
      limit: READ_LINES,
    },
  }));
}

/** Import lines are hits too, but say little. */
function findFirstLine(lines: readonly { at: number; text: string }[]): number {
  const telling = lines.filter(({ text }) => !/^\s*(?:import|from|using|#include|require)\b/.test(text));
  return (telling[0] ?? lines[0])?.at ?? 1;
}

function collectFindings(
  question: string,
  query: Query,
  { calls, condensed }: Situation,
  made: Made,
): SearchFindings {
  const files = calls
    .filter(({ tool, failed }) => tool === "read" && !failed)
    .map(({ input, result }) => ({ path: String(input.path), lines: readNumberedLines(result) }));
  const counted = countHits(query.concepts, query.paths, made);
  const others = rankByHits(query, made).map(({ path }) => path);
  return { question, query, files, counted, others, faults: listFaults(calls), condensed };
}

function countHits(concepts: readonly Concept[], paths: readonly string[], made: Made): Hits[] {
  return concepts.map((concept) => {
    const past = made(countCall(concept, paths));
    if (!past || past.failed) return { concept, counts: new Map() };
    return { concept, counts: readCounts(past.result), cut: past.result.includes("\n(there are more ") };
  });
}

/** A question that builds on other results and names no file looks at the files that those name. */
function addPaths(query: Query, task: string): Query {
  const results = readResults(taskSections(task));
  if (query.paths.length > 0 || results.length === 0) return query;
  const text = results.map(({ details }) => details).join("\n");
  return { ...query, paths: readQuery(text).paths.slice(0, 2) };
}
