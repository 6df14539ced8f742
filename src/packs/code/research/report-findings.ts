import { extractSummary } from "../../../text/extract-summary.ts";
import { splitSentences } from "../../../text/split-sentences.ts";
import { fenceCode } from "../offline/fence-code.ts";
import { type Hits, isInPath, standing } from "../offline/rank-files.ts";
import {
  type Definition,
  type Line,
  nameDefined,
  sentencesOfProse,
  takeDefinitions,
} from "../offline/read-code.ts";
import type { Concept, Query } from "../offline/search-terms.ts";

/** All that was found out about a question. */
export type Findings = {
  question: string;
  query: Query;
  files: readonly { path: string; lines: readonly Line[] }[];
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
export function reportFindings(findings: Findings): string {
  const { question, query, files, others, faults } = findings;
  const perFile = query.concepts.length > 0 ? PER_FILE : Math.max(2, Math.floor(IN_DETAILS / files.length));
  const definitions = files.flatMap((file) => bestOf(file, query.concepts).slice(0, perFile));
  const ranked = definitions.toSorted((a, b) => b.score - a.score).slice(0, IN_DETAILS);
  const prose = files.filter(({ path }) => PROSE.test(path)).flatMap(({ lines }) => sentencesOfProse(lines));
  const comments = ranked.flatMap(({ comment }) => splitSentences(comment));
  const gist = extractSummary([...comments, ...prose], { count: 4, about: question });
  if (ranked.length === 0 && gist.length === 0 && others.length === 0) return nothing(findings);
  const unread = others.filter((path) => !files.some((file) => file.path === path)).slice(0, 6);
  const sections = [
    `**Summary**: ${summaryOf(ranked, gist, others)}`,
    "**Details**",
    ...byFile(ranked).map(([path, own]) => place(path, own, query.concepts)),
    gist.length > 1 ? `In its own words:\n${gist.map((sentence) => `- ${sentence}`).join("\n")}` : "",
    unread.length > 0 ? `Hits also in (not read): ${unread.join(", ")}` : "",
    searched(findings),
    findings.condensed
      ? "A part of what was found had to be dropped from the conversation and is missing here."
      : "",
    faults.length > 0 ? `Did not work:\n${faults.map((fault) => `- ${cut(fault)}`).join("\n")}` : "",
  ];
  return sections.filter(Boolean).join("\n\n");
}

/** The definition that answers a question best, if one was read. */
export function bestDefinition({ files, query }: Findings): Definition | null {
  const [best] = files.flatMap((file) => bestOf(file, query.concepts)).sort((a, b) => b.score - a.score);
  return best ?? null;
}

/** The definitions of a file that say most about the question; all count if the question only names the file. */
function bestOf({ path, lines }: Findings["files"][number], concepts: readonly Concept[]): Scored[] {
  if (PROSE.test(path)) return [];
  return takeDefinitions(path, lines)
    .map((definition) => ({ ...definition, score: scoreOf(definition, concepts) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** Names and comments count most, then the body; a concept in the path lifts all that is in the file. */
function scoreOf(definition: Definition, concepts: readonly Concept[]): number {
  const { signature, comment, path } = definition;
  let score = concepts.length === 0 ? 1 : 0;
  let distinct = 0;
  for (const concept of concepts) {
    const other = fitOf(new RegExp(concept.pattern, "i"), definition);
    const core = concept.core === concept.pattern ? other : fitOf(new RegExp(concept.core, "i"), definition);
    const fit = (other + core) / 2 + (isInPath(concept, path) ? 1 : 0);
    if (fit > 0) distinct++;
    score += concept.weight * fit;
  }
  const main = /\b(?:class|export|def|func|fn|struct|trait|interface|function)\b/.test(signature) ? 1.4 : 1;
  const covered = concepts.length === 0 ? 1 : 0.3 + distinct / concepts.length;
  return score * covered * main * (comment ? 1.2 : 1) * standing(path);
}

function fitOf(test: RegExp, { name, signature, comment, body }: Definition): number {
  const inside = body.some(({ text }) => test.test(text)) ? 1 : 0;
  return (test.test(name) ? 3 : 0) + (test.test(signature) ? 1 : 0) + (test.test(comment) ? 3 : 0) + inside;
}

function summaryOf(ranked: readonly Scored[], gist: readonly string[], others: readonly string[]): string {
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

function byFile(ranked: readonly Scored[]): [string, Scored[]][] {
  return [...Map.groupBy(ranked, ({ path }) => path)];
}

function place(path: string, definitions: readonly Scored[], concepts: readonly Concept[]): string {
  const lines = definitions.flatMap((definition) => [
    `- ${path}:${definition.at} \`${definition.signature}\`${definition.comment ? `: ${definition.comment}` : ""}`,
    ...fenceCode(
      keyLines(definition, concepts).map(({ at, text }) => `${at} | ${cut(text.trim())}`),
      "  ",
    ),
  ]);
  return [`**${path}**`, "", ...lines].join("\n");
}

/** Lines of the body that show the thing itself: those that hit, decisions first; then comparisons, if there is room. */
function keyLines({ body }: Definition, concepts: readonly Concept[]): Line[] {
  const tests = concepts.map(({ pattern }) => new RegExp(pattern, "i"));
  const rank = ({ text }: Line) =>
    (tests.some((test) => test.test(text)) ? COMPARES + 1 : 0) + tellingOf(text);
  const chosen = body
    .filter(({ text }) => !NO_CODE.test(text) && nameDefined(text) === undefined)
    .filter((line) => rank(line) >= COMPARES)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, concepts.length > 0 ? KEY_LINES : 0);
  return chosen.toSorted((a, b) => a.at - b.at);
}

const NO_CODE = /^\s*(?:\*|\/\/|\/\*|#\s|import\b)/;
const COMPARES = 3;

function tellingOf(text: string): number {
  if (/>=|<=|\s[<>]\s|[!=]==?\s/.test(text)) return COMPARES;
  if (/\b(?:if|while|throw|raise|unless|case)\b/.test(text)) return 2;
  return /\b(?:return|await|yield)\b/.test(text) ? 1 : 0;
}

function searched({ counted, files }: Findings): string {
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

function nothing({ query, faults, condensed }: Findings): string {
  if (condensed)
    return "**Summary**: The conversation was condensed before this could be answered; ask for less at once, or name a file or folder.";
  const words = query.concepts.map(({ name }) => `“${name}”`).join(", ");
  const named = query.paths.length > 0 ? ` or the path ${query.paths.join(", ")}` : "";
  const broken = faults.length > 0 ? ` What did not work: ${faults.map(cut).join("; ")}.` : "";
  return `**Summary**: Nothing in the project's files matches ${words || "this"}${named}.${broken} Hidden files and those that .gitignore names were not searched.`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}
