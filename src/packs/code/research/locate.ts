import { answerTo, nextCalls } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, PastCall, Situation } from "../../../models/offline/procedure.ts";
import { wordsOf } from "../../../text/terms.ts";
import { fenceCode } from "../offline/fence-code.ts";
import { standing } from "../offline/rank-files.ts";
import { type Definition, linesIn, nameDefined, takeDefinitions } from "../offline/read-code.ts";
import type { Concept, Query } from "../offline/search-terms.ts";

/** What a question is after: a name's place, tests, or what else its words say. */
export type Asked = { query: Query; name?: string; covering: boolean };

/** Where a name is defined, best first, with a report on it; empty if no definition was found. */
export type Located = { places: readonly Definition[]; report: string };

const COVERING =
  /\btests?\b.*\b(?:cover|exercis|check|verif|touch|exist|there)\w*|\bcover(?:ed|age|ing|s)?\b.*\btests?\b|\btested\b|\btests? (?:for|of)\b/i;
const ABOUT_TESTS = /^(?:test|cover|exercis|check|verif|touch|exist)/;
const WHERE = /\bwhere\b|\bdefin|\blocate\b|\bplace\b/i;
const READ_PLACES = 2;
const LINES_BEFORE = 12;
const READ_LINES = 50;
const SHOWN_LINES = 14;
const MAX_PLACES = 12;
const ALSO_NAMED = 5;
const MAX_LINE = 160;

/** Reads off a question whether it asks for a name's place and for tests; words about tests are no words to search for. */
export function askedFor(question: string, query: Query): Asked {
  const covering = COVERING.test(question);
  const concepts = covering ? query.concepts.filter(({ name }) => !ABOUT_TESTS.test(name)) : query.concepts;
  const left = concepts.length > 0 || query.paths.length > 0 ? { ...query, concepts } : query;
  const name = covering || WHERE.test(question) ? nameIn(question, left.concepts, covering) : undefined;
  return { query: left, covering, ...(name !== undefined && query.paths.length === 0 && { name }) };
}

/** A name that only code has; where tests are asked for, a single plain word counts as one too, spelled as it was. */
function nameIn(question: string, concepts: readonly Concept[], covering: boolean): string | undefined {
  const exact = concepts.find(({ weight, name }) => weight > 1 && IDENTIFIER.test(name));
  if (exact) return exact.name.replace(/\(\)$/, "");
  if (!covering) return undefined;
  const words = [...new Set(question.match(WORDS) ?? [])].filter((word) =>
    wordsOf(word).some((each) => concepts.some(({ name }) => name === each)),
  );
  return words.length === 1 ? words[0] : undefined;
}

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*(?:[.#][\p{L}\p{N}_$]+)*(?:\(\))?$/u;
const WORDS = /[\p{L}_$][\p{L}\p{N}_$]*(?:[.#][\p{L}\p{N}_$]+)*/gu;

/** Looks a name up: by structure where `code_search` is offered, else by how definitions usually begin; then reads there. */
export function locate(asked: string, situation: Situation): Extract<Move, { calls: unknown }> | Located {
  const search = searchCall(asked, situation.tools);
  const name = lastOf(asked);
  const hits = () => hitsIn(answerTo(situation.calls, search) ?? { ...search, result: "" }, name);
  const reads = () => hits().slice(0, READ_PLACES).map(readCall);
  const move = nextCalls(situation, [() => [search], reads]);
  if (move && "calls" in move) return move;
  const places = hits().flatMap((hit): Definition[] => {
    const past = answerTo(situation.calls, readCall(hit));
    if (!past || past.failed) return [];
    const lines = linesIn(past.result);
    const read = takeDefinitions(hit.path, lines).find(({ at }) => at === hit.at);
    return [read ?? { ...hit, name, signature: hit.text, comment: "", body: [] }];
  });
  const others = hits()
    .slice(READ_PLACES)
    .map(({ path, at }) => `${path}:${at}`);
  return { places, report: reportOf(name, places, others, search.tool) };
}

type Hit = { path: string; at: number; name: string; text: string };

function searchCall(name: string, tools: readonly string[]): OfflineCall {
  if (tools.includes("code_search"))
    return { tool: "code_search", input: { query: name, limit: MAX_PLACES * 2 } };
  const word = lastOf(name).replaceAll("$", "\\$");
  const defines =
    "(?:function\\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|impl|record|module|namespace)";
  const pattern = `\\b${defines}\\s+${word}\\b|^\\s+(?:\\w+\\s+)*${word}\\s*(?:<[^>]*>)?\\([^;]*\\{\\s*$`;
  return { tool: "grep", input: { pattern, ignoreCase: true, limit: MAX_PLACES * 4 } };
}

/** The member of `Type.member`. */
function lastOf(name: string): string {
  return name.split(/[.#]/).at(-1) ?? name;
}

function readCall({ path, at }: Hit): OfflineCall {
  return { tool: "read", input: { path, offset: Math.max(1, at - LINES_BEFORE), limit: READ_LINES } };
}

/** Places that define the name, in this case or else in any, sources before tests. */
function hitsIn({ tool, result }: Pick<PastCall, "tool" | "result">, name: string): Hit[] {
  const all = tool === "code_search" ? foundByStructure(result) : foundByText(result);
  const exact = all.filter((hit) => hit.name === name);
  const fitting =
    exact.length > 0 ? exact : all.filter((hit) => hit.name.toLowerCase() === name.toLowerCase());
  return fitting.toSorted((a, b) => standing(b.path) - standing(a.path)).slice(0, MAX_PLACES);
}

/** `path:line  kind Owner.name  text`, without uses and exports of what is defined elsewhere. */
function foundByStructure(result: string): Hit[] {
  const lines = result.matchAll(
    /^(\S.*?):(\d+) {2}(?:function|class|method|type|interface|variable) (?:\S*[.#])?([\p{L}\p{N}_$]+) {2}(.*)$/gmu,
  );
  return [...lines].map(([, path = "", at, name = "", text = ""]) => ({ path, at: Number(at), name, text }));
}

function foundByText(result: string): Hit[] {
  return [...result.matchAll(/^(\S.*?):(\d+):(.*)$/gm)].map(([, path = "", at, text = ""]) => ({
    path,
    at: Number(at),
    name: nameDefined(text) ?? "",
    text: text.trim(),
  }));
}

function reportOf(
  name: string,
  places: readonly Definition[],
  others: readonly string[],
  tool: string,
): string {
  const [first] = places;
  if (!first) return "";
  const also = places.slice(1).map(({ path, at }) => `${path}:${at}`);
  const more = [...also, ...others].slice(0, ALSO_NAMED);
  const what = first.comment ? `: ${first.comment.split(/(?<=[.!?])\s/, 1)[0]}` : "";
  const summary = `\`${first.name}\` is defined at ${first.path}:${first.at}${what}${/[.!?]$/.test(what) ? "" : "."}`;
  return [
    `**Summary**: ${summary}${more.length > 0 ? ` The same name is also defined at ${more.join(", ")}.` : ""}`,
    "**Details**",
    ...places.map(shown),
    `Looked up “${name}” with ${tool === "code_search" ? "code_search" : "grep, by how definitions begin"}.`,
  ].join("\n\n");
}

function shown({ path, at, signature, comment, body }: Definition): string {
  const lines = body
    .slice(0, SHOWN_LINES)
    .map(({ at: line, text }) => `${line} | ${text.slice(0, MAX_LINE)}`);
  const left = body.length > SHOWN_LINES ? ["…"] : [];
  const head = `- ${path}:${at} \`${signature}\`${comment ? `: ${comment}` : ""}`;
  return [head, ...fenceCode([...lines, ...left], "  ")].join("\n");
}
