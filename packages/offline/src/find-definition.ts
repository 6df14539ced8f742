import { rateStanding } from "@retinue/code/survey/search-query";
import {
  findAnswer,
  findNextCalls,
  findResult,
  type OfflineCall,
  type OfflineMove,
  type Situation,
} from "./conversation.ts";
import { type Definition, fenceCode, readDefinitions, readNumberedLines } from "./read-code.ts";

/** Where a name is defined, best first, with a report; empty if no definition was found. */
type Located = { places: readonly Definition[]; report: string };

const READ_PLACES = 2;
const LINES_BEFORE = 12;
const READ_LINES = 50;
const SHOWN_LINES = 14;
const MAX_PLACES = 12;
const ALSO_NAMED = 5;
const MAX_LINE = 160;

/** Looks a name up by structure, then reads where it is defined. */
export function locate(asked: string, situation: Situation): OfflineMove | Located {
  const search = { tool: "code_search", input: { query: asked, limit: MAX_PLACES * 2 } };
  // The member of `Type.member`.
  const name = asked.split(/[.#]/).at(-1) ?? asked;
  const hits = () => chooseHits(findResult(situation.calls, search), name);
  const move = findNextCalls(situation, [() => [search], () => hits().slice(0, READ_PLACES).map(readCall)]);
  if (move) return move;
  const places = hits().flatMap((hit): Definition[] => {
    const past = findAnswer(situation.calls, readCall(hit));
    if (!past || past.failed) return [];
    const read = readDefinitions(hit.path, readNumberedLines(past.result)).find(({ at }) => at === hit.at);
    return [read ?? { ...hit, name, signature: hit.text, comment: "", body: [] }];
  });
  const others = hits()
    .slice(READ_PLACES)
    .map(({ path, at }) => `${path}:${at}`);
  return { places, report: reportPlaces(name, places, others) };
}

type Hit = { path: string; at: number; name: string; text: string };

function readCall({ path, at }: Hit): OfflineCall {
  return { tool: "read", input: { path, offset: Math.max(1, at - LINES_BEFORE), limit: READ_LINES } };
}

const HIT =
  /^(\S.*?):(\d+) {2}(?:function|class|method|type|interface|variable) (?:\S*[.#])?([\p{L}\p{N}_$]+) {2}(.*)$/gmu;

/** Places that define the name, in this case or else in any, sources before tests; uses and exports are left out. */
function chooseHits(result: string, name: string): Hit[] {
  const all = [...result.matchAll(HIT)].map(
    ([, path = "", at, found = "", text = ""]): Hit => ({ path, at: Number(at), name: found, text }),
  );
  const exact = all.filter((hit) => hit.name === name);
  const fitting =
    exact.length > 0 ? exact : all.filter((hit) => hit.name.toLowerCase() === name.toLowerCase());
  return fitting.toSorted((a, b) => rateStanding(b.path) - rateStanding(a.path)).slice(0, MAX_PLACES);
}

function reportPlaces(name: string, places: readonly Definition[], others: readonly string[]): string {
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
    `Looked up “${name}” with code_search.`,
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
