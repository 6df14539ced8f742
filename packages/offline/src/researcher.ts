import {
  type Definition,
  fenceCode,
  findDefinedName,
  readDefinitions,
  readNumberedLines,
  type SourceLine,
  splitProse,
} from "@retinue/code/survey/read-code";
import {
  type Concept,
  findNamedFolder,
  type Hits,
  isInPath,
  type Query,
  type RankedFile,
  rankFiles,
  rateStanding,
  readCounts,
  readQuery,
} from "@retinue/code/survey/search-query";
import { escapePattern } from "@retinue/code/symbols/code-symbol";
import { extractSummary } from "@retinue/core/text/extract-summary";
import { splitSentences } from "@retinue/core/text/split-sentences";
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
  reportFaults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { findTests, globFiles } from "./find-tests.ts";
import { locate, readAsked } from "./locate.ts";
import { needsModel, shortenLine } from "./offline-words.ts";

const COUNTED_FILES = 80;
const SHOWN_LINES = 60;
const READ_FILES = 4;
const READ_LINES = 120;
const LINES_BEFORE = 12;

type Made = (call: OfflineCall) => PastCall | undefined;

/** The researcher: answers questions from the project's files. */
export const researcher: Procedure = {
  agents: ["researcher"],
  next: (situation) => researchQuestion(situation),
};

/**
 * Answers a question from the project's files in a few turns. A name is looked up where it is defined; anything else is
 * counted by file, and again in a folder that the question names, then looked at in the best files and read. If tests
 * are asked for, those that name what was found come on top.
 */
export function researchQuestion(situation: Situation): OfflineMove {
  const question = taskText(situation.task);
  const { query, name, covering } = readAsked(question, addPaths(readQuery(question), situation.task));
  const fault = refuseSearch(question, query, situation);
  if (fault) return { cannot: fault };
  const located = name === undefined ? null : locate(name, situation);
  if (located && "calls" in located) return located;
  const places = located?.places ?? [];
  const [place] = places;
  const made: Made = (call) => findAnswer(situation.calls, call);
  const stages = [countStage, folderStage, lineStage, readStage].map(
    (stage): CallStage =>
      () =>
        stage(query, made),
  );
  const searching = place ? null : findNextCalls(situation, stages);
  if (searching) return searching;
  const findings = place ? null : collectFindings(question, query, situation, made);
  const subject = place ?? (findings && findBestDefinition(findings));
  const tests = covering && subject ? findTests(subject, situation) : null;
  if (tests && "calls" in tests) return tests;
  const found = findings ? reportFindings(findings) : (located?.report ?? "");
  return { say: tests ? addTests(found, tests.report) : found };
}

/** The summary tells of both, the tests come before the rest of the details. */
function addTests(found: string, tests: { summary: string; details: string }): string {
  const [summary = "", ...details] = found.split("\n\n");
  const rest = details.filter((section) => section !== "**Details**");
  return [`${summary} ${tests.summary}`, "**Details**", tests.details, ...rest].join("\n\n");
}

function refuseSearch(question: string, query: Query, { tools }: Situation): string | null {
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
    paths.find((path) => !isFile(path)) ?? findNamedFolder(concepts, rankFiles(countHits(concepts, made)));
  if (folder === undefined) return [];
  const input = {
    pattern: matchAny(concepts),
    mode: "count",
    ignoreCase: true,
    limit: COUNTED_FILES / 2,
    path: folder,
  };
  return [{ tool: "grep", input }];
}

/** All concepts at once, in the best files. */
function lineStage(query: Query, made: Made): OfflineCall[] {
  const best = rankByHits(query, made).slice(0, READ_FILES + 2);
  if (best.length === 0) return [];
  const glob = globFiles(best.map(({ path }) => path));
  return [
    {
      tool: "grep",
      input: { pattern: matchAny(query.concepts), ignoreCase: true, limit: SHOWN_LINES, glob },
    },
  ];
}

function matchAny(concepts: readonly Concept[]): string {
  return concepts.map(({ pattern }) => pattern).join("|") || DEFINING;
}

/** Files by all counts there are. Those of a named folder count once more, and they alone if the question has no words. */
function rankByHits(query: Query, made: Made): RankedFile[] {
  const hits = countHits(query.concepts, made);
  for (const call of folderStage(query, made)) {
    const name = String(call.input.path);
    const concept = {
      name,
      core: name,
      pattern: `${escapePattern(name)}/`,
      weight: 1,
    };
    hits.push({ concept, counts: readCounts(made(call)?.result ?? "") });
  }
  return rankFiles(hits);
}

/** What usually begins a definition, for questions that only name a folder. */
const DEFINING =
  "^\\s*(export |public |pub )?(async |abstract |default )*(class|function|interface|def|fn|func|struct|trait)\\s";

/** Windows around the first telling hit of the best files. */
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

/** Import lines are hits too, but nothing to read. */
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
  const counted = countHits(query.concepts, made);
  const others = rankByHits(query, made).map(({ path }) => path);
  return { question, query, files, counted, others, faults: listFaults(calls), condensed };
}

function countHits(concepts: readonly Concept[], made: Made): Hits[] {
  return concepts.map((concept) => {
    const past = made(countCall(concept));
    if (!past || past.failed) return { concept, counts: new Map() };
    return { concept, counts: readCounts(past.result), cut: past.result.includes("\n(there are more ") };
  });
}

function readHitLines(result: string): { path: string; at: number; text: string }[] {
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
function addPaths(query: Query, task: string): Query {
  const results = readResults(taskSections(task));
  if (query.paths.length > 0 || results.length === 0) return query;
  const text = results.map(({ details }) => details).join("\n");
  return { ...query, paths: readQuery(text).paths.slice(0, 2) };
}

/** All that was found out about a question. */
type SearchFindings = {
  question: string;
  query: Query;
  files: readonly { path: string; lines: readonly SourceLine[] }[];
  counted: readonly Hits[];
  /** Files with hits, best first. */
  others: readonly string[];
  /** Calls that did not work. */
  faults: readonly string[];
  /** Some of what was found is no longer in the conversation. */
  condensed: boolean;
};

type Scored = Definition & { score: number };

const IN_SUMMARY = 3;

/** What scores less than this share of the best is not worth a place in the summary. */
const CLOSE_TO_BEST = 0.4;
const IN_DETAILS = 8;
const PER_FILE = 3;
const KEY_LINES = 3;
const MAX_LINE = 160;
const PROSE = /\.(?:md|rst|txt|adoc)$/i;

/** A report that a reader can check: places with file and line, what the code says there, and what was searched. */
function reportFindings(findings: SearchFindings): string {
  const { question, query, files, others, faults } = findings;
  const perFile = query.concepts.length > 0 ? PER_FILE : Math.max(2, Math.floor(IN_DETAILS / files.length));
  const definitions = files.flatMap((file) => rankDefinitions(file, query.concepts).slice(0, perFile));
  const ranked = definitions.toSorted((a, b) => b.score - a.score).slice(0, IN_DETAILS);
  const prose = files.filter(({ path }) => PROSE.test(path)).flatMap(({ lines }) => splitProse(lines));
  const comments = ranked.flatMap(({ comment }) => splitSentences(comment));
  const gist = extractSummary([...comments, ...prose], { count: 4, about: question });
  if (ranked.length === 0 && gist.length === 0 && others.length === 0) return reportNothing(findings);
  const unread = others.filter((path) => !files.some((file) => file.path === path)).slice(0, 6);
  const sections = [
    `**Summary**: ${summariseFindings(ranked, gist, others)}`,
    "**Details**",
    ...groupByFile(ranked).map(([path, own]) => showPlace(path, own, query.concepts)),
    gist.length > 1 ? `In its own words:\n${gist.map((sentence) => `- ${sentence}`).join("\n")}` : "",
    unread.length > 0 ? `Hits also in (not read): ${unread.join(", ")}` : "",
    describeSearch(findings),
    findings.condensed
      ? "A part of what was found had to be dropped from the conversation and is missing here."
      : "",
    reportFaults(faults.map(shorten)),
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The definition that answers a question best, if one was read. */
function findBestDefinition({ files, query }: SearchFindings): Definition | null {
  const [best] = files
    .flatMap((file) => rankDefinitions(file, query.concepts))
    .sort((a, b) => b.score - a.score);
  return best ?? null;
}

/** The definitions of a file that say most about the question; all count if the question only names the file. */
function rankDefinitions(
  { path, lines }: SearchFindings["files"][number],
  concepts: readonly Concept[],
): Scored[] {
  if (PROSE.test(path)) return [];
  return readDefinitions(path, lines)
    .map((definition) => ({ ...definition, score: rateDefinition(definition, concepts) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** Names and comments count most, then the body; a concept in the path lifts all that is in the file. */
function rateDefinition(definition: Definition, concepts: readonly Concept[]): number {
  const { signature, comment, path } = definition;
  let score = concepts.length === 0 ? 1 : 0;
  let distinct = 0;
  for (const concept of concepts) {
    const other = rateFit(new RegExp(concept.pattern, "i"), definition);
    const core =
      concept.core === concept.pattern ? other : rateFit(new RegExp(concept.core, "i"), definition);
    const fit = (other + core) / 2 + (isInPath(concept, path) ? 1 : 0);
    if (fit > 0) distinct++;
    score += concept.weight * fit;
  }
  const main = /\b(?:class|export|def|func|fn|struct|trait|interface|function)\b/.test(signature) ? 1.4 : 1;
  const covered = concepts.length === 0 ? 1 : 0.3 + distinct / concepts.length;
  return score * covered * main * (comment ? 1.2 : 1) * rateStanding(path);
}

function rateFit(test: RegExp, { name, signature, comment, body }: Definition): number {
  const inside = body.some(({ text }) => test.test(text)) ? 1 : 0;
  return (test.test(name) ? 3 : 0) + (test.test(signature) ? 1 : 0) + (test.test(comment) ? 3 : 0) + inside;
}

function summariseFindings(
  ranked: readonly Scored[],
  gist: readonly string[],
  others: readonly string[],
): string {
  const told = new Set<string>();
  const least = (ranked[0]?.score ?? 0) * CLOSE_TO_BEST;
  const chosen = ranked
    .filter(({ path, score }) => score >= least && !told.has(path) && told.add(path))
    .slice(0, IN_SUMMARY);
  if (chosen.length > 0) {
    return chosen
      .map(
        ({ name, path, at, comment, signature }) =>
          `\`${name}\` (${path}:${at}): ${splitSentences(comment)[0] ?? `\`${signature}\``}`,
      )
      .join(" ");
  }
  return (
    gist.slice(0, 2).join(" ") ||
    `Nothing is defined under these words; they are used in ${others.slice(0, 3).join(", ")}.`
  );
}

function groupByFile(ranked: readonly Scored[]): [string, Scored[]][] {
  return [...Map.groupBy(ranked, ({ path }) => path)];
}

function showPlace(path: string, definitions: readonly Scored[], concepts: readonly Concept[]): string {
  const lines = definitions.flatMap((definition) => [
    `- ${path}:${definition.at} \`${definition.signature}\`${definition.comment ? `: ${definition.comment}` : ""}`,
    ...fenceCode(
      chooseKeyLines(definition, concepts).map(({ at, text }) => `${at} | ${shorten(text.trim())}`),
      "  ",
    ),
  ]);
  return [`**${path}**`, "", ...lines].join("\n");
}

/** Lines of the body that show the thing itself: those that hit, decisions first; then comparisons, if there is room. */
function chooseKeyLines({ body }: Definition, concepts: readonly Concept[]): SourceLine[] {
  const tests = concepts.map(({ pattern }) => new RegExp(pattern, "i"));
  const rank = ({ text }: SourceLine) =>
    (tests.some((test) => test.test(text)) ? COMPARES + 1 : 0) + rateLine(text);
  const chosen = body
    .filter(({ text }) => !NO_CODE.test(text) && findDefinedName(text) === undefined)
    .filter((line) => rank(line) >= COMPARES)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, concepts.length > 0 ? KEY_LINES : 0);
  return chosen.toSorted((a, b) => a.at - b.at);
}

const NO_CODE = /^\s*(?:\*|\/\/|\/\*|#\s|import\b)/;
const COMPARES = 3;

function rateLine(text: string): number {
  if (/>=|<=|\s[<>]\s|[!=]==?\s/.test(text)) return COMPARES;
  if (/\b(?:if|while|throw|raise|unless|case)\b/.test(text)) return 2;
  return /\b(?:return|await|yield)\b/.test(text) ? 1 : 0;
}

function describeSearch({ counted, files }: SearchFindings): string {
  const counts = counted.map(({ concept, counts: hits, cut }) => {
    const lines = [...hits.values()].reduce((sum, each) => sum + each, 0);
    const least = cut ? "at least " : "";
    return `“${concept.name}” and the like: ${least}${lines} lines in ${least}${hits.size} files`;
  });
  const read = files.map(({ path }) => path).join(", ");
  return [counts.length > 0 ? `Searched: ${counts.join("; ")}.` : "", read ? `Read: ${read}.` : ""]
    .filter(Boolean)
    .join(" ");
}

function reportNothing({ query, faults, condensed }: SearchFindings): string {
  if (condensed)
    return "**Summary**: The conversation was condensed before this could be answered; ask for less at once, or name a file or folder.";
  const words = query.concepts.map(({ name }) => `“${name}”`).join(", ");
  const named = query.paths.length > 0 ? ` or the path ${query.paths.join(", ")}` : "";
  const broken = faults.length > 0 ? ` What did not work: ${faults.map(shorten).join("; ")}.` : "";
  return `**Summary**: Nothing in the project's files matches ${words || "this"}${named}.${broken} Hidden files and those that .gitignore names were not searched.`;
}

function shorten(text: string): string {
  return shortenLine(text, MAX_LINE);
}
