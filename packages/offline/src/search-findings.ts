import {
  type Concept,
  type Hits,
  isInPath,
  type Query,
  rateStanding,
} from "@retinue/code/survey/search-query";
import { splitSentences } from "@retinue/core/text/split-sentences";
import { reportFaults } from "./conversation.ts";
import { extractSummary } from "./extract-summary.ts";
import { capitalise, needsModel, shortenLine } from "./offline-words.ts";
import {
  type Definition,
  fenceCode,
  findDefinedName,
  readDefinitions,
  type SourceLine,
  splitProse,
} from "./read-code.ts";

/** All that was found for a question. */
export type SearchFindings = {
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

/** Definitions below this share of the best score are not in the summary. */
const CLOSE_TO_BEST = 0.4;
const IN_DETAILS = 8;
const PER_FILE = 3;
const KEY_LINES = 3;
const MAX_LINE = 160;
const PROSE = /\.(?:md|rst|txt|adoc)$/i;

/** A report that a reader can check: places with file and line, what the code says there, and what was searched. */
export function reportFindings(findings: SearchFindings): string {
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
    ...[...Map.groupBy(ranked, ({ path }) => path)].map(([path, own]) =>
      showPlace(path, own, query.concepts),
    ),
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

/** The share of a question's words that one place must have to be an answer. */
const ENOUGH_WORDS = 2 / 3;

/** Why the places that were found do not answer the question: none of them has enough of its words. */
export function explainOpen(findings: SearchFindings): string | null {
  const { question, query, counted, others } = findings;
  const best = findBestDefinition(findings);
  if (!best) return null;
  const used = counted.filter(({ counts }) => counts.size > 0).map(({ concept }) => concept);
  const met = used.filter(
    (concept) => rateFit(new RegExp(concept.pattern, "i"), best) > 0 || isInPath(concept, best.path),
  );
  if (met.length >= Math.ceil(used.length * ENOUGH_WORDS)) return null;
  const words = query.concepts.map(({ name }) => `“${name}”`).join(", ");
  const why = `No answer: ${words} are used in ${others.slice(0, 3).join(", ")}, but no one place that was read speaks of them together.`;
  return `**Summary**: ${why}\n\n${capitalise(needsModel(`answer “${shorten(question)}” from what the words mean`, "look up names, files, and words that stand together"))}`;
}

/** The definition that answers a question best, if one was read. */
export function findBestDefinition({ files, query }: SearchFindings): Definition | null {
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

/** The telling lines of the body: those with hits; then comparisons, if there is room. */
function chooseKeyLines({ body }: Definition, concepts: readonly Concept[]): SourceLine[] {
  const tests = concepts.map(({ pattern }) => new RegExp(pattern, "i"));
  const code = body.filter(({ text }) => !NO_CODE.test(text) && findDefinedName(text) === undefined);
  const hits = code.filter(({ text }) => tests.some((test) => test.test(text)));
  const others = code.filter((line) => COMPARES.test(line.text) && !hits.includes(line));
  const chosen = concepts.length > 0 ? [...hits, ...others].slice(0, KEY_LINES) : [];
  return chosen.toSorted((a, b) => a.at - b.at);
}

const COMPARES = />=|<=|\s[<>]\s|[!=]==?\s/;
const NO_CODE = /^\s*(?:\*|\/\/|\/\*|#\s|import\b)/;

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
