import {
  type Concept,
  type Hits,
  isInPath,
  type Query,
  type RankedFile,
  rankFiles,
  rateStanding,
  readQuery,
} from "@retinue/code/survey/search-query";
import { splitSentences } from "@retinue/core/text/split-sentences";
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
  reportFaults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { extractSummary } from "./extract-summary.ts";
import { locate } from "./find-definition.ts";
import { findTests, globFiles } from "./find-tests.ts";
import { needsModel, shortenLine } from "./offline-words.ts";
import {
  type Definition,
  fenceCode,
  findDefinedName,
  readCounts,
  readDefinitions,
  readNumberedLines,
  type SourceLine,
  splitProse,
} from "./read-code.ts";

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
  if (tests && "calls" in tests) return tests;
  const open = findings && explainOpen(findings);
  if (open) return { cannot: open };
  const found = findings ? reportFindings(findings) : (located?.report ?? "");
  return { say: tests ? addTests(found, tests.report) : found };
}

/** The summary tells of both, the tests come before the rest of the details. */
function addTests(found: string, tests: { summary: string; details: string }): string {
  const [summary = "", ...details] = found.split("\n\n");
  const rest = details.filter((section) => section !== "**Details**");
  return [`${summary} ${tests.summary}`, "**Details**", tests.details, ...rest].join("\n\n");
}

/** What a question is after: a name's place, tests, or what else its words say. */
type AskedName = { query: Query; name?: string; covering: boolean };

const COVERING =
  /\btests?\b.*\b(?:cover|exercis|check|verif|touch|exist|there)\w*|\bcover(?:ed|age|ing|s)?\b.*\btests?\b|\btested\b|\btests? (?:for|of)\b/i;
const ABOUT_TESTS = /^(?:test|cover|exercis|check|verif|touch|exist)/;
const WHERE = /\bwhere\b|\bdefin|\blocate\b|\bplace\b/i;

/** Reads off a question whether it asks for a name's place and for tests; words about tests are no words to search for. */
function readAsked(question: string, query: Query): AskedName {
  const covering = COVERING.test(question);
  const concepts = covering ? query.concepts.filter(({ name }) => !ABOUT_TESTS.test(name)) : query.concepts;
  const left = concepts.length > 0 || query.paths.length > 0 ? { ...query, concepts } : query;
  const name =
    covering || WHERE.test(question) ? findAskedName(question, left.concepts, covering) : undefined;
  return { query: left, covering, ...(name !== undefined && query.paths.length === 0 && { name }) };
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
  const input = { pattern, mode: "count", ignoreCase: true, limit: COUNTED_FILES };
  return { tool: "grep", input: { ...input, ...(folder !== undefined && { path: folder }) } };
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

/** The share of a question's words that one place must speak of to be an answer. */
const ENOUGH_WORDS = 2 / 3;

/** Why places that were found are no answer: none of them speaks of what the question asks as a whole. */
function explainOpen(findings: SearchFindings): string | null {
  const { question, query, counted, others } = findings;
  const best = findBestDefinition(findings);
  if (!best) return null;
  const used = counted.filter(({ counts }) => counts.size > 0).map(({ concept }) => concept);
  const met = used.filter(
    (concept) => rateFit(new RegExp(concept.pattern, "i"), best) > 0 || isInPath(concept, best.path),
  );
  if (met.length >= Math.ceil(used.length * ENOUGH_WORDS)) return null;
  const words = query.concepts.map(({ name }) => `“${name}”`).join(", ");
  return needsModel(
    `answer “${shorten(question)}”: its words (${words}) are used in ${others.slice(0, 3).join(", ")}, but no one place speaks of them together`,
    "look up names, files, and words that stand together",
  );
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
