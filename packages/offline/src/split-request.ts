import { splitSentences } from "@retinue/core/text/split-sentences";
import { splitWords } from "@retinue/core/text/terms";

/** What a part of a request wants done. */
export type Intent = "look" | "review" | "test" | "plan" | "debug" | "write";

/** The words by which a request asks for each kind of work. */
const VERBS: Readonly<Record<Intent, string>> = {
  look: `find locate search look show explain describe summarise summarize list count read tell trace investigate explore
    understand identify outline compare analyse analyze what where which how why who when`,
  review: "review audit critique",
  test: "test retest",
  plan: "plan",
  debug: "debug diagnose",
  write: `implement add create write fix refactor rename change update remove delete replace migrate convert generate build
    make edit rewrite improve optimise optimize extend move format translate draft correct repair simplify document commit`,
};

const INTENTS = new Map(
  (["look", "review", "test", "plan", "debug", "write"] as const).flatMap((intent) =>
    VERBS[intent].split(/\s+/).map((verb): [string, Intent] => [verb, intent]),
  ),
);

/** Words of courtesy and order that may come before the verb. */
const BEFORE_VERB =
  /^(?:(?:please|now|also|then|next|first|finally|and|so|just|(?:could|can|would|will) you|(?:i|we) (?:want|need)(?: you)? to|i['’]?d like(?: you)? to|let['’]?s|help me|(?:based on|using|with|from|after) (?:that|this|these|those|it|them|both|(?:the|these|those) (?:results?|findings?|answers?)))\b[\s,:]*)+/i;
const ASKS_WHETHER_TESTS_PASS =
  /^(?:do|does|are|is|which|what|check|verify|see)\b.*\btests?\b.*\b(?:pass|passes|passing|fail|fails|failing|green|broken)\s*\?*$|^what (?:fails|failed)\s*\?*$/i;
const ASKS_FOR_DEFECTS =
  /^(?:look|search|check|inspect|scan)\b(?!.*\bwhere\b).*\b(?:bugs?|defects?|vulnerabilit\w+|security|problems?|mistakes?)\b/i;
/** A failure that happened; how failures are handled in general is another question. */
const ABOUT_FAILURES =
  /^(?!.*\b(?:how|where|when)\b)(?=.*\b(?:explain|why|cause|analy[sz]e|investigate|trace)\b).*\b(?:fail(?:s|ed|ing|ures?)?|crash(?:es|ed)?)\b(?! (?:mode|polic|handl|path))/i;

/** What the first verb of a part asks for; undefined if it asks for nothing that is known here. */
export function findIntent(part: string): Intent | undefined {
  const plain = part.replace(BEFORE_VERB, "").trim();
  if (ASKS_WHETHER_TESTS_PASS.test(plain) || /^(?:run|execute)\b.*\btests?\b/i.test(plain)) return "test";
  if (ASKS_FOR_DEFECTS.test(plain)) return "review";
  if (/^(?:make|create|write|draw up) (?:a|the) plan\b/i.test(plain)) return "plan";
  if (/^(?:is|are) there\b/i.test(plain)) return "look";
  const [verb = ""] = splitWords(plain);
  const intent = INTENTS.get(verb);
  return intent === "look" && ABOUT_FAILURES.test(plain) ? "debug" : intent;
}

/** One piece of work of a request. */
export type WorkPart = {
  text: string;
  /** Indexes of the parts it builds on. */
  after: number[];
};

const MAX_PARTS = 20;
const OPEN = "\ue000";
const CLOSE = "\ue001";
/** What stays whole: fences, quotations, code, addresses and paths. */
const WHOLE =
  /```[\s\S]*?```|`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|(?<!\w)'[^'\n]+'(?!\w)|\bhttps?:\/\/\S+|(?<![\w/])(?:[\w.@-]*\/)+[\w.@*-]*[\w@*-]|\b[\w-]+\.[a-z]{1,5}\b/g;
const ITEM = /^\s*(?:[-*•]|\d{1,2}[.)])\s+/;
const JOINT = /\s*[,;]?\s*\b(?:and then|then|after that)\b[\s,:]*|\s*(?:,\s*and\s+|;\s*|,\s*|\s+and\s+)/gi;
const FOLLOWS = /^(?:then|after that|based on|using (?:that|this|these|those|the)|finally)\b/i;
const POINTS_BACK =
  /\b(?:it|them|they|its|their|both)\b|\b(?:that|this|these|those)\s*(?:[.?!,;]|$)|\b(?:the|these|those) (?:results?|findings?|answers?)\b/i;
const POINTS_TO_ALL = /\b(?:both|all of (?:it|them|that)|the (?:results|findings|answers))\b/i;
/** A follow-up that only says how to report belongs to the part before it. */
const ONLY_REPORT =
  /^(?:summari[sz]e|explain|describe|outline|report|list|show|how|what|which|who|why|where)\b(?:\s+\w+){0,2}?\s*\b(?:it|them|this|that|these|those)\b(?:\s+\w+){0,4}\s*[.?!]*$/i;
const ONLY_TEST_REPORT =
  /^(?:report|tell me|list|show(?: me)?|say)\b(?!.*\bwhy\b).*\b(?:fail\w*|pass\w*|results?)\b/i;

/** Splits a request into parts: list items, sentences, and clauses that begin with a verb; quoted text and paths stay whole. */
export function splitRequest(request: string): WorkPart[] {
  const kept: string[] = [];
  const text = request
    .replace(/[\ue000-\ue001]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(WHOLE, (whole) => `${OPEN}${kept.push(whole) - 1}${CLOSE}`);
  const restore = (piece: string) => piece.replace(/\ue000(\d+)\ue001/g, (_, at) => kept[Number(at)] ?? "");
  const parts: WorkPart[] = [];
  for (const piece of splitLines(text).flatMap(splitClauses)) {
    const clean = piece
      .replace(/^(?:and then|and|then|after that|also|first|finally|next)\b[\s,:]*/i, "")
      .trim();
    const last = parts.at(-1);
    const about = last && findIntent(last.text);
    const isReport =
      about === "look" ? ONLY_REPORT.test(clean) : about === "test" && ONLY_TEST_REPORT.test(clean);
    const isAboutRun =
      about === "test" && (isReport || findIntent(clean) === "debug" || /\bwhat fails\b/i.test(clean));
    const follows = FOLLOWS.test(piece.trim()) || POINTS_BACK.test(clean) || isAboutRun;
    if (last && follows && (isReport || parts.length >= MAX_PARTS)) {
      const words = restore(clean);
      last.text = `${last.text.replace(/[.;]$/, "")} and ${words.slice(0, 1).toLowerCase()}${words.slice(1)}`;
    } else {
      const after =
        !last || !follows ? [] : POINTS_TO_ALL.test(clean) ? [...parts.keys()] : [parts.length - 1];
      parts.push({ text: restore(clean), after });
    }
  }
  return parts;
}

/** List items, and the sentences of the lines between them; what introduces a list goes with each item if it says where. */
function splitLines(text: string): string[] {
  const blocks = text.split(/\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)/);
  let introduction = "";
  return blocks.flatMap((block) => {
    const whole = block.replace(ITEM, "").replace(/\s+/g, " ").trim();
    if (ITEM.test(block)) return introduction.includes(OPEN) ? `${whole} (${introduction})` : whole;
    if (!whole.endsWith(":") || blocks.length === 1) return splitSentences(whole);
    introduction = whole.slice(0, -1);
    return [];
  });
}

/** Splits at joints whose right side begins with a verb of its own; a `then` stays with its clause. */
function splitClauses(text: string): string[] {
  const clauses: string[] = [];
  let from = 0;
  for (const joint of text.matchAll(JOINT)) {
    const before = text.slice(from, joint.index);
    const rest = text.slice(joint.index + joint[0].length);
    const isRequest = findIntent(before) !== undefined || /^\s*ask\b/i.test(before);
    if (joint.index < from || !isRequest || !beginsClause(rest)) continue;
    clauses.push(before);
    from =
      joint.index + (/\bthen\b|\bafter that\b/i.test(joint[0]) ? joint[0].search(/\w/) : joint[0].length);
  }
  return [...clauses, text.slice(from)].filter((clause) => /[\p{L}\p{N}\ue000]/u.test(clause));
}

/** Nouns such as `list`, `test` or `plan` are verbs only if an object of their own follows. */
function beginsClause(rest: string): boolean {
  const [verb = "", object = ""] = rest.trim().split(/\s+/);
  if (/^ask$/i.test(verb)) return / to /.test(rest);
  if (object === "" || findIntent(rest) === undefined) return false;
  return (
    !/^(?:test|plan|list|review|change|search|count|build|format|show|read)$/i.test(verb) ||
    /^(?:the|a|an|all|every|it|them|its|their|how|what|where|which|why|for|in|\ue000.*|[A-Z]\w*|\w+s)$/.test(
      object,
    )
  );
}
