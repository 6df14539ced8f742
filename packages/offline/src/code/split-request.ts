import { splitSentences } from "@retinue/core/text/split-sentences";
import { beginsRequest, findIntent, isAboutFailures } from "./intents.ts";

/** One piece of work of a request. */
export type WorkPart = {
  text: string;
  /** Indexes of the parts it builds on. */
  after: number[];
};

/** A piece of text before its place among the others is known. */
type Piece = { text: string; follows: boolean };

const MAX_PARTS = 20;
const OPEN = "\ue000";
const CLOSE = "\ue001";
/** What stays whole: fences, quotations, code, addresses and paths. */
const WHOLE =
  /```[\s\S]*?```|`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|(?<!\w)'[^'\n]+'(?!\w)|\bhttps?:\/\/\S+|(?<![\w/])(?:[\w.@-]*\/)+[\w.@*-]*[\w@*-]|\b[\w-]+\.[a-z]{1,5}\b/g;
const ITEM = /^\s*(?:[-*•]|\d{1,2}[.)]|\(?[a-z]\))\s+/i;
const JOINT =
  /\s*(?:[,;]\s*)?\b(and then|then|after that|afterwards|afterward|once (?:that is |that's |it is |it's )?done|followed by|finally)\b[\s,:]*|\s*(?:,\s*and\s+(?:also\s+)?|;\s*|,\s*|\s+and\s+(?:also\s+)?|\s+as well as\s+|\s+plus\s+)/gi;
const FOLLOWS =
  /^(?:then|after(?: that| this|wards?)?\b|based on|using (?:that|this|these|those|the)|with (?:that|this|these|those)\b|from (?:that|this|these|those)\b|once\b|finally\b)/i;
/** Words that stand for what came before, where they cannot be anything else. */
const POINTS_BACK =
  /\b(?:it|them|they|its|their|both)\b|\b(?:that|this|these|those)\s*(?:[.?!,;]|$)|\b(?:the|these|those|your) (?:results?|findings?|answers?|outcomes?|output)\b/i;
const ALL_BEFORE = /\b(?:both|all of (?:it|them|that|this)|everything|the (?:results|findings|answers))\b/i;
/** A follow-up that only says how to report what was found. */
const ONLY_REPORT =
  /^(?:please\s+)?(?:summari[sz]e|explain|describe|outline|report|list|show|tell me about|give me|quote|name|count|analy[sz]e|read|how|what|which|who|why|where)\b(?:\s+\w+){0,2}?\s*\b(?:it|them|this|that|these|those|the (?:results?|findings?))\b(?:\s+\w+){0,4}\s*[.?!]*$/i;

/** What only says how to report a run of tests. */
const ONLY_TEST_REPORT =
  /^(?:please\s+)?(?:report|tell me|list|show(?: me)?|say|name|summari[sz]e|give me|count)\b(?!.*\bwhy\b).*\b(?:fail\w*|pass\w*|results?|outcomes?|numbers?|counts?)\b/i;

/** Splits a request into parts: list items, sentences, and clauses that begin with a verb; quoted text and paths stay whole. */
export function splitRequest(request: string): WorkPart[] {
  const kept: string[] = [];
  const text = request
    .replace(/[\ue000-\ue001]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(WHOLE, (whole) => `${OPEN}${kept.push(whole) - 1}${CLOSE}`);
  const restore = (piece: string) =>
    piece.replace(/\ue000(\d+)\ue001/g, (_, index) => kept[Number(index)] ?? "");
  const pieces = attachBackground(splitLines(text).flatMap(splitClauses));
  const parts: WorkPart[] = [];
  for (const piece of pieces) {
    const clean = piece.text
      .replace(/^(?:and|then|also|first|firstly|finally|next|lastly)\b[\s,:]*/i, "")
      .trim();
    const last = parts.at(-1);
    const follows = last !== undefined && (piece.follows || pointsBack(piece.text, clean, last));
    if (last && follows && (isOnlyReport(clean, last) || parts.length >= MAX_PARTS)) {
      last.text = `${last.text.replace(/[.;]$/, "")} and ${lowercaseFirst(restore(clean))}`;
    } else {
      const after = follows ? (ALL_BEFORE.test(clean) ? [...parts.keys()] : [parts.length - 1]) : [];
      parts.push({ text: restore(clean), after });
    }
  }
  return parts;
}

/** By its words, or because it is about failures of the tests that were asked for just before. */
function pointsBack(written: string, clean: string, last: WorkPart): boolean {
  if (FOLLOWS.test(written.trim()) || POINTS_BACK.test(clean)) return true;
  return findIntent(last.text) === "test" && (isAboutFailures(clean) || ONLY_TEST_REPORT.test(clean));
}

/** Such a follow-up belongs to the part it follows. */
function isOnlyReport(clean: string, last: WorkPart): boolean {
  const intent = findIntent(last.text);
  return (
    (intent === "look" && ONLY_REPORT.test(clean)) || (intent === "test" && ONLY_TEST_REPORT.test(clean))
  );
}

/** List items and runs of plain lines; what introduces a list goes with each item if it says where or what. */
function splitLines(text: string): Piece[] {
  const pieces: Piece[] = [];
  let introduction = "";
  let plain: string[] = [];
  const flush = () => {
    const whole = plain.join(" ").trim();
    plain = [];
    if (whole.endsWith(":")) introduction = whole.slice(0, -1);
    else if (whole) pieces.push(...splitSentences(whole).map((each) => ({ text: each, follows: false })));
  };
  for (const line of text.split("\n")) {
    if (!ITEM.test(line)) {
      if (line.trim() === "") flush();
      plain.push(line);
      continue;
    }
    flush();
    const item = line.replace(ITEM, "").trim();
    const about = introduction.includes(OPEN) ? ` (${introduction.trim()})` : "";
    if (item) pieces.push({ text: item + about, follows: false });
  }
  flush();
  if (pieces.length === 0 && introduction) pieces.push({ text: introduction, follows: false });
  return pieces;
}

/** Splits at joints whose right side begins with a verb of its own. */
function splitClauses({ text, follows }: Piece): Piece[] {
  const clauses: Piece[] = [];
  let from = 0;
  let next = follows;
  for (const joint of text.matchAll(JOINT)) {
    const before = text.slice(from, joint.index);
    const rest = text.slice(joint.index + joint[0].length);
    if (joint.index < from || before.trim() === "" || !beginsRequest(before) || !startsClause(rest)) continue;
    clauses.push({ text: before, follows: next });
    from = joint.index + joint[0].length;
    next = joint[1] !== undefined;
  }
  clauses.push({ text: text.slice(from), follows: next });
  return clauses.filter((clause) => /[\p{L}\p{N}\ue000]/u.test(clause.text));
}

/** Nouns such as `list`, `test` or `plan` are verbs only if an object of their own follows. */
function startsClause(rest: string): boolean {
  if (!beginsRequest(rest)) return false;
  const words = rest.trim().split(/\s+/);
  if (words.length < 2) return false;
  if (
    /^(?:test|tests|list|plan|design|report|format|code|name|count|map|answer|question|trace|review|change|update|build|set|port|move|patch|support|show|read|write|search|does|is|are|was|has|have|do|can|see)$/i.test(
      words[0] ?? "",
    )
  ) {
    return /^(?:the|a|an|all|every|each|any|it|them|its|their|how|what|where|which|why|for|in|me|us|through|\ue000.*|[A-Z]\w*|\w+s)$/.test(
      words[1] ?? "",
    );
  }
  return true;
}

/** Sentences that ask for nothing are background: they go with what comes next, or else with what came before. */
function attachBackground(pieces: readonly Piece[]): Piece[] {
  const parts: Piece[] = [];
  let background = "";
  for (const piece of pieces) {
    if (!beginsRequest(piece.text) && !piece.text.trim().endsWith("?") && !FOLLOWS.test(piece.text.trim())) {
      background = `${background} ${piece.text}`.trim();
      continue;
    }
    parts.push({ ...piece, text: background ? `${piece.text} (${background})` : piece.text });
    background = "";
  }
  const last = parts.at(-1);
  if (background && last) last.text = `${last.text} (${background})`;
  else if (background) parts.push({ text: background, follows: false });
  return parts;
}

function lowercaseFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
