import { splitWords, stemOf } from "@retinue/core/text/terms";

/** What a part of a request wants done. */
export type Intent = "look" | "review" | "test" | "plan" | "debug" | "write";

/** Words that ask for each kind of work, and by which an agent's name or description tells that it does it. */
const WORDS: Readonly<Record<Intent, string>> = {
  look: `find locate search grep look lookup investigate explore research trace show identify determine discover
    understand explain describe summarise summarize list count read tell compare analyse analyze outline answer question
    what where which how why who when does is are was has have do can display print cat open ls inspect scan map give
    report scout researcher investigator collect gather name mention see walk`,
  review: "review audit critique assess evaluate reviewer auditor critic defect vulnerability",
  test: "test tests tester verify validate coverage reproduce retest",
  plan: "plan planner design propose decompose roadmap estimate strategy",
  debug: "debug debugger diagnose troubleshoot bisect",
  write: `implement add create write fix refactor rename change update modify remove delete replace migrate convert
    generate build make edit rewrite improve optimise optimize extend port move format upgrade bump commit translate
    draft compose code coder executor developer author patch introduce drop clean correct repair simplify support set
    install configure turn put save insert append scaffold develop document`,
};

const BY_WORD = new Map<string, Intent>();
for (const intent of ["look", "review", "test", "plan", "debug", "write"] as const) {
  for (const word of WORDS[intent].split(/\s+/)) if (!BY_WORD.has(word)) BY_WORD.set(word, intent);
}

/** Words of courtesy and order that may stand before the verb. */
const COURTESY =
  "please|kindly|now|also|then|next|first|firstly|second|secondly|finally|lastly|and|so|ok|okay|hey|hi|hello|just|quickly|briefly|carefully|(?:could|can|would|will) you|(?:i|we)(?: would|['’]d)? (?:want|need|like)(?: you)?(?: to)?|let['’]?s|let us|let me|help me(?: to)?|help us(?: to)?|try to|go ahead|afterwards?|to";
const BUILDING =
  "(?:based on|using|with|from|after|once|given) (?:that|this|these|those|it|them|both|(?:all (?:of )?)?(?:the|these|those) (?:results?|findings?|answers?))(?: (?:is|are) done)?";
const BEFORE_VERB = new RegExp(`^(?:(?:${COURTESY}|${BUILDING})\\b[\\s,:]*)+`, "i");

/** Something that went wrong when it ran; how failures are handled in general is another question. */
const WENT_WRONG =
  /\b(?:test )?failures?\b(?!\s+(?:modes?|polic|handl|paths?|cases?|class|types?|codes?|messages?|rates?))|\bfail(?:s|ed|ing)?\b|\bbroken tests?\b|\bcrash(?:es|ed|ing)?\b/i;
const IN_GENERAL = /\b(?:how|where|when)\b[^.?!]*\b(?:fail|crash)/i;
const ASKS_CAUSE = /^(?:explain|analy[sz]e|investigate|understand|trace|why|diagnose|debug)$/;

const DO_TESTS_PASS =
  /^(?:do|does|are|is|what|which)\b.*\btests?\b.*\b(?:pass(?:es|ing)?|green|red|broken|fail(?:s|ed|ing)?)\s*\?*$|^what (?:fails|failed|is failing)\s*\?*$/i;

/** Whether a part is about what went wrong, so that after a run of tests it builds on it. */
export function isAboutFailures(part: string): boolean {
  return WENT_WRONG.test(part) && !IN_GENERAL.test(part);
}

/** The intent of the first word that has one, once courtesies are passed over; undefined if there is no such word. */
export function findIntent(part: string): Intent | undefined {
  const [verb = ""] = splitWords(part.replace(BEFORE_VERB, ""));
  const direct = BY_WORD.get(verb);
  const cause = ASKS_CAUSE.test(verb) || /\b(?:why|cause|reason)\b/i.test(part);
  if (direct === "look" && cause && isAboutFailures(part)) return "debug";
  if (direct === "look" && DO_TESTS_PASS.test(part.trim())) return "test";
  if (
    direct === "look" &&
    /\b(?:bugs?|defects?|vulnerabilit|security|problems?|issues?|mistakes?|smells?)\b/i.test(part)
  ) {
    return /^(?:look|inspect|scan|search|find|check)$/.test(verb) && !/\bwhere\b/i.test(part)
      ? "review"
      : "look";
  }
  if (verb === "check" || verb === "run" || verb === "make") return findByObject(part, verb);
  if (direct) return direct;
  return part.trim().endsWith("?") ? "look" : undefined;
}

/** Verbs that mean what their object means: a check for bugs, a run of tests. */
function findByObject(part: string, verb: string): Intent | undefined {
  if (/\btests?\b|\bsuite\b|\bcoverage\b/i.test(part)) return "test";
  if (/\b(?:bugs?|defects?|vulnerabilit\w*|security|quality|style|mistakes?|problems?|issues?)\b/i.test(part))
    return "review";
  if (verb === "make") return /\bplan\b/i.test(part) ? "plan" : "write";
  return verb === "check" ? "look" : undefined;
}

/** Whether a text begins with a verb that asks for something, or a question word. */
export function beginsRequest(text: string): boolean {
  const [first = ""] = splitWords(text.replace(BEFORE_VERB, ""));
  return BY_WORD.has(first) || /^(?:check|run|ask|use|ensure)$/.test(first);
}

/** How much a text speaks of each kind of work. */
export function countIntents(text: string): Map<Intent, number> {
  const counts = new Map<Intent, number>();
  for (const word of new Set(splitWords(text))) {
    const intent = BY_WORD.get(word) ?? BY_STEM.get(stemOf(word));
    if (intent && !VAGUE.has(word)) counts.set(intent, (counts.get(intent) ?? 0) + 1);
  }
  return counts;
}

const BY_STEM = new Map([...BY_WORD].reverse().map(([word, intent]) => [stemOf(word), intent]));
/** Words that ask for something in a request, but tell nothing in a description. */
const VAGUE = new Set(
  "what where which how why who when does is are was has have do can give see name set turn put support code make changes change report reports".split(
    " ",
  ),
);
