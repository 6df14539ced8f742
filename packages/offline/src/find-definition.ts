import { rateStanding } from "@retinue/code/survey/search-query";
import {
  findAnswer,
  findNextCalls,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Situation,
} from "./conversation.ts";
import {
  type Definition,
  fenceCode,
  findDefinedName,
  readDefinitions,
  readHitLines,
  readNumberedLines,
} from "./read-code.ts";

/** Where a name is defined, best first, with a report; empty if no definition was found. */
type Located = { places: readonly Definition[]; report: string };

const READ_PLACES = 2;
const LINES_BEFORE = 12;
const READ_LINES = 50;
const SHOWN_LINES = 14;
const MAX_PLACES = 12;
const ALSO_NAMED = 5;
const MAX_LINE = 160;

/** Looks a name up: by structure where `code_search` is offered, else by how definitions usually begin; then reads there. */
export function locate(
  asked: string,
  situation: Situation,
): Extract<OfflineMove, { calls: unknown }> | Located {
  const search = searchCall(asked, situation.tools);
  const name = takeMember(asked);
  const hits = () => findDefiningHits(findAnswer(situation.calls, search) ?? { ...search, result: "" }, name);
  const reads = () => hits().slice(0, READ_PLACES).map(readCall);
  const move = findNextCalls(situation, [() => [search], reads]);
  if (move && "calls" in move) return move;
  const places = hits().flatMap((hit): Definition[] => {
    const past = findAnswer(situation.calls, readCall(hit));
    if (!past || past.failed) return [];
    const lines = readNumberedLines(past.result);
    const read = readDefinitions(hit.path, lines).find(({ at }) => at === hit.at);
    return [read ?? { ...hit, name, signature: hit.text, comment: "", body: [] }];
  });
  const others = hits()
    .slice(READ_PLACES)
    .map(({ path, at }) => `${path}:${at}`);
  return { places, report: reportPlaces(name, places, others, search.tool) };
}

type Hit = { path: string; at: number; name: string; text: string };

function searchCall(name: string, tools: readonly string[]): OfflineCall {
  if (tools.includes("code_search"))
    return { tool: "code_search", input: { query: name, limit: MAX_PLACES * 2 } };
  const word = takeMember(name).replaceAll("$", "\\$");
  const defines =
    "(?:function\\*?|class|interface|type|enum|const|let|var|def|fn|func|struct|trait|impl|record|module|namespace)";
  const pattern = `\\b${defines}\\s+${word}\\b|^\\s+(?:\\w+\\s+)*${word}\\s*(?:<[^>]*>)?\\([^;]*\\{\\s*$`;
  return { tool: "grep", input: { pattern, ignoreCase: true, limit: MAX_PLACES * 4 } };
}

/** The member of `Type.member`. */
function takeMember(name: string): string {
  return name.split(/[.#]/).at(-1) ?? name;
}

function readCall({ path, at }: Hit): OfflineCall {
  return { tool: "read", input: { path, offset: Math.max(1, at - LINES_BEFORE), limit: READ_LINES } };
}

/** Places that define the name, in this case or else in any, sources before tests. */
function findDefiningHits({ tool, result }: Pick<PastCall, "tool" | "result">, name: string): Hit[] {
  const all = tool === "code_search" ? readStructureHits(result) : readTextHits(result);
  const exact = all.filter((hit) => hit.name === name);
  const fitting =
    exact.length > 0 ? exact : all.filter((hit) => hit.name.toLowerCase() === name.toLowerCase());
  return fitting.toSorted((a, b) => rateStanding(b.path) - rateStanding(a.path)).slice(0, MAX_PLACES);
}

/** `path:line  kind Owner.name  text`, without uses and exports of what is defined elsewhere. */
function readStructureHits(result: string): Hit[] {
  const lines = result.matchAll(
    /^(\S.*?):(\d+) {2}(?:function|class|method|type|interface|variable) (?:\S*[.#])?([\p{L}\p{N}_$]+) {2}(.*)$/gmu,
  );
  return [...lines].map(([, path = "", at, name = "", text = ""]) => ({ path, at: Number(at), name, text }));
}

function readTextHits(result: string): Hit[] {
  return readHitLines(result).map(({ path, at, text }) => ({
    ...{ path, at, text: text.trim() },
    name: findDefinedName(text) ?? "",
  }));
}

function reportPlaces(
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
    ...places.map(showDefinition),
    `Looked up “${name}” with ${tool === "code_search" ? "code_search" : "grep, by how definitions begin"}.`,
  ].join("\n\n");
}

function showDefinition({ path, at, signature, comment, body }: Definition): string {
  const lines = body
    .slice(0, SHOWN_LINES)
    .map(({ at: line, text }) => `${line} | ${text.slice(0, MAX_LINE)}`);
  const left = body.length > SHOWN_LINES ? ["…"] : [];
  const head = `- ${path}:${at} \`${signature}\`${comment ? `: ${comment}` : ""}`;
  return [head, ...fenceCode([...lines, ...left], "  ")].join("\n");
}
