import type { Risk } from "@retinue/core/schema/rights";
import type { CallData } from "./call-data.ts";
import type { OfflineCall, PastCall } from "./conversation.ts";
import { capitalise } from "./offline-words.ts";
import { anyCase, DAY, type Gaps, type Now, SPAN, TIME } from "./when.ts";

/** A call that a request amounts to. */
export type PlannedCall = OfflineCall & {
  /** What it takes from the answers to earlier calls: null while they are missing, a text if it cannot be made. */
  needs?(calls: readonly PastCall[]): CallData | string | null;
};

/** What the rules found in a request: a plan, or what keeps them from one. */
export type Reading = DomainPlan | Doubt;

/** The calls that a request amounts to, every value of which is in the request. */
export type DomainPlan = {
  readonly calls: readonly PlannedCall[];
  readonly risk: Risk;
  readonly assumptions?: readonly string[];
  readonly notes?: string;
};

/** Why nothing is planned. */
export type Doubt = { readonly missing: readonly string[]; readonly why: string };

/**
 * One way to ask for something: how it begins, and what may follow, each part at most once and in any order. A request of
 * which a single word is left over is not read. Sources of patterns without regard to case; `{name}` is a gap.
 */
export type SentenceForm = {
  readonly begins: string;
  readonly parts?: readonly string[];
  read(gaps: Gaps, at: Now): Reading;
};

/** What the rules know of one domain. */
export type DomainRules = {
  /** A request that is understood. */
  readonly example: string;
  readonly sentences: readonly SentenceForm[];
  /** How the answers of its tools are told in words; the first tool in this order that gave one tells the result. */
  readonly tellings: readonly (readonly [
    tool: string,
    tell: (data: CallData, calls: readonly PastCall[]) => string,
  ])[];
};

/** A request that one call of a reading tool answers. */
export function answerWith(begins: string, tool: string, fill: (gaps: Gaps) => CallData): SentenceForm {
  return { begins, read: (gaps) => lookUp(tool, fill(gaps)) };
}

/** The plan of one call that reads. */
export function lookUp(tool: string, input: CallData, assumptions: readonly string[] = []): DomainPlan {
  return { calls: [{ tool, input }], risk: "low", assumptions };
}

/** A doubt in one line. */
export function doubt(missing: string, why: string): Doubt {
  return { missing: [missing], why };
}

const OPEN = "\ue000";
const CLOSE = "\ue001";
const QUOTE = `${OPEN}\\d+${CLOSE}`;
const QUOTED = /"([^"]*)"|“([^”]*)”|(?<![\p{L}\p{N}])'([^'\n]+)'(?![\p{L}\p{N}])/gu;
const COURTESY =
  /^(?:(?:please|pls|kindly|hey|(?:can|could|would) (?:you|we)(?: please)?|i(?:['’]d| would) like(?: you)? to|i want(?: you)? to)\b[\s,]*)+/i;

/** Words after which a name, a title or a text is over, or after which it is no longer an order. */
const RESERVED =
  "(?:and|or|but|nor|if|unless|when|until|once|before|after|while|because|except|without|not|no|never|don['’]?t|doesn['’]?t|then|also|please|actually|maybe|perhaps|wait|right|what|which|who|it|them|him|her|this|that|these|those|me|you|i|we|something|anything|everything|everyone|all|every|other|from|to|by|about|saying|with|on|at|in|for|since|called|received|sent|starting|old|new|today|tomorrow|yesterday|next|last|upcoming|(?:mon|tues|wednes|thurs|fri|satur|sun)day)";
/** What makes the end of a text without quotation marks unclear. */
const BEYOND_TEXT =
  /[.,;!?\n\ue000@]|:(?!\d)|\b(?:and|or|but|if|unless|when|until|once|before|after|without|not|never|don['’]?t|then|also|please|actually|maybe|wait)\b/i;

const ADDRESS_SOURCE = "[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\\.)+[A-Za-z]{2,}(?![^\\s,;:\\ue000])";
const COMPANY = "(?:Corp|Inc|Ltd|GmbH|LLC|Company|Group|Partners)\\b";
const PROPER_WORD = `(?!(?:The|Slack|Gmail|Zoom|Everyone|All|I|Him|Her|Them|It|You|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\\b|${COMPANY})\\p{Lu}[\\p{L}\\p{M}'’-]+`;
const NAME_SOURCE = `${PROPER_WORD}(?: (?:${PROPER_WORD}|van|von|de|der)){0,3}(?! ${COMPANY})(?![\\p{L}@])`;
const PERSON = `(?:${ADDRESS_SOURCE}|${NAME_SOURCE}|(?:(?:the|my|our) )?team\\b)`;
const PEOPLE = `${PERSON}(?:(?:, and |, | and )${PERSON})*`;
const WORD = `(?!${anyCase(RESERVED)}\\b)[\\p{L}\\p{N}](?:[\\p{L}\\p{N}&'’/-]|\\.(?=\\p{L}))*`;

const WORDS = `(?:${QUOTE}|${WORD}(?: ${WORD}){0,5})`;

/** What fits into a gap, by its name. */
const GAPS: Readonly<Record<string, string>> = {
  person: PERSON,
  from: PERSON,
  to: PERSON,
  people: PEOPLE,
  cc: PEOPLE,
  user: `(?:@[\\p{L}\\p{N}_.-]+|${NAME_SOURCE})`,
  address: ADDRESS_SOURCE,
  org: "(?:\\p{Lu}|\\d)[\\p{L}\\p{N}&-]*(?: (?:\\p{Lu}[\\p{L}\\p{N}&-]*|&|of))*",
  channel: "#[\\p{L}_][\\p{L}\\p{N}_-]*",
  place: "[#@][\\p{L}_][\\p{L}\\p{N}_-]*(?:\\.[\\p{L}\\p{N}]+)*",
  quote: QUOTE,
  subject: WORDS,
  title: WORDS,
  topic: WORDS,
  what: WORDS,
  text: ".+",
  id: "[\\w-]*\\d[\\w-]*",
  thread: "\\d{9,10}\\.\\d{4,6}",
  day: DAY,
  span: SPAN,
  ...TIME,
};

/** A request with its quotations taken out, so that rules read only what is asked and never what is cited. */
type Wording = { readonly plain: string; restore(piece: string): string };

function takeQuotesOut(text: string): Wording {
  const quotes: string[] = [];
  const masked = text.replace(/[\ue000\ue001]/g, "").replace(QUOTED, (_, ...parts: unknown[]) => {
    const inner = parts.slice(0, 3).find((part) => typeof part === "string");
    return `${OPEN}${quotes.push(String(inner ?? "").trim()) - 1}${CLOSE}`;
  });
  const plain = masked
    .replace(/\s+/g, " ")
    .trim()
    .replace(COURTESY, "")
    .replace(/[.?!\s]+$/, "")
    .replace(/,? (?:please|pls|thanks)$/i, "");
  return {
    plain,
    restore: (piece) => piece.replace(/\ue000(\d+)\ue001/g, (_, at) => quotes[Number(at)] ?? ""),
  };
}

const compiled = new Map<string, RegExp>();

function compile(source: string): RegExp {
  const known = compiled.get(source);
  if (known) return known;
  const filled = anyCase(source).replace(/\{([a-z]+)\}/g, (_, name: string) => `(?<${name}>${GAPS[name]})`);
  const made = new RegExp(`^[\\s,]*(?:${filled})(?=[\\s,:]|$)`, "u");
  compiled.set(source, made);
  return made;
}

/** Fills the gaps of a sentence, or gives what is left over of the request; null if it does not even begin like it. */
function matchSentence(
  { begins, parts = [] }: SentenceForm,
  plain: string,
): { gaps: Gaps } | { left: string } | null {
  const begun = compile(begins).exec(plain);
  if (!begun) return null;
  let gaps: Gaps = { ...begun.groups };
  let left = plain.slice(begun[0].length);
  const open = new Set(parts);
  for (;;) {
    if (left.trim() === "") return { gaps };
    const next = [...open].flatMap((part) => {
      const match = compile(part).exec(left);
      return match ? [{ part, match }] : [];
    });
    const [first] = next;
    if (!first) return { left: left.trim() };
    open.delete(first.part);
    gaps = { ...gaps, ...first.match.groups };
    left = left.slice(first.match[0].length);
  }
}

/** Reads a request by the first sentence that accounts for all of it; else says which words none of them does. */
export function readSentence(
  text: string,
  { sentences }: Pick<DomainRules, "sentences">,
  at: Now,
): Reading | null {
  const hostile = findHostileSign(text);
  if (hostile) return hostile;
  const { plain, restore } = takeQuotesOut(text);
  let closest: string | undefined;
  for (const sentence of sentences) {
    const match = matchSentence(sentence, plain);
    if (!match) continue;
    if ("gaps" in match) return sentence.read(restoreGaps(match.gaps, restore), at);
    if (closest === undefined || match.left.length < closest.length) closest = match.left;
  }
  return closest === undefined
    ? null
    : doubt("a plain order", `It is unclear what '${restore(closest)}' is for, so nothing was planned.`);
}

/** A text in quotation marks becomes the gap `quote`; one without is a sentence, or else `unclear`. */
function restoreGaps(gaps: Gaps, restore: (piece: string) => string): Gaps {
  return Object.fromEntries(
    Object.entries(gaps).flatMap(([name, words]) => {
      if (words === undefined) return [];
      if (name !== "text") return [[name, restore(words).trim()]];
      if (new RegExp(`^${QUOTE}$`).test(words)) return [["quote", restore(words)]];
      return BEYOND_TEXT.test(words) ? [["unclear", words]] : [[name, capitalise(words)]];
    }),
  );
}

/** Why a text has no clear end: it is not in quotation marks and has more than one plain sentence. */
export function doubtText({ unclear }: Gaps): Doubt | undefined {
  return unclear === undefined
    ? undefined
    : doubt("quotation marks around the text", "It is unclear where the text ends.");
}

/** The people of a list, each once; a team without its article. */
export function splitPeople(list = ""): string[] {
  const people = list.split(/, and |, | and /).filter(Boolean);
  return [
    ...new Set(
      people.map((one) => (/\bteam$/i.test(one) ? one.replace(/^(?:the|my|our) /i, "").toLowerCase() : one)),
    ),
  ];
}

/** Whether a text has a mail address in it. */
export function findAddress(text: string): string | undefined {
  return new RegExp(ADDRESS_SOURCE).exec(text)?.[0];
}

/** Characters that hide or turn around what a person sees, and letters of two alphabets in one word. */
const HIDDEN =
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|[\ufe00-\ufe0e]|[\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u;
const INJECTED =
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?)\b|\bsystem prompt\b/i;
const SECRETS =
  /\b(?:passwords?|passcodes?|(?:api|private|secret|ssh)[ -]keys?|tokens?|credentials?)\b|\bsk-[\w-]{10,}/i;
const HEADER_LINE = /\n[ \t]*(?:bcc|cc|to|from|reply-to|subject)\s*:/i;

/** Signs that a text is not what it seems or must not be passed on; quotations are looked at too. */
export function findHostileSign(text: string): Doubt | undefined {
  const say = (what: string) => doubt("a plain request", `${what}, so nothing was planned.`);
  if (HIDDEN.test(text)) return say("The request holds characters that cannot be seen or told apart");
  if (INJECTED.test(text)) return say("The request speaks as if it could set the rules");
  if (SECRETS.test(text)) return say("The request speaks of secrets");
  return HEADER_LINE.test(text) ? say("The request carries lines that look like a mail's header") : undefined;
}

const WRITE =
  /_(?:send_email|create_draft|reply_to_message|create_event|update_event|delete_event|post_message)$/;

/** Whether a tool changes something. */
export function isWrite(tool: string): boolean {
  return WRITE.test(tool);
}
