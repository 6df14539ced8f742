import type { Assessment } from "@retinue/core/schema/intent";
import type { Risk } from "@retinue/core/schema/rights";

const SLACK =
  /\bslack\b|(?<![\w&])#[\p{L}_][\p{L}\p{N}_-]*|^(?:post|dm|ping)\b|^(?:tell|who is|who['’]s|message) @|\bchannels?\b|\bthreads?\b/iu;
const IN_SLACK = /(?<![\w&])#[\p{L}_]|\bslack\b/iu;
const CONTACTS =
  /\b(?:contacts?|address book)\b|\b(?:e-?mail )?address(?:es)? (?:of|for)\b|\b(?:phone|mobile) numbers?\b|\b(?:got|have|need|know) (?:an? |the )?(?:e-?mail|number|phone|address) (?:for|of)\b|['’]s? (?:phone|number|mobile|e-?mail address|contact|people|staff)\b|['’]s? e-?mail$|\b(?:people|everyone|everybody|anyone|folks|who works?|do (?:we|i|you) know) (?:at|from|in)\b|\bworks? (?:at|for)\b|\bwe know\b|\borgani[sz]ations?\b|\bcompanies\b|^(?:validate|verify)\b|\bhow (?:do|can|could) (?:i|we) (?:reach|contact|get hold of)\b|\b(?:valid|real|correct) (?:e-?mail )?address\b/iu;
const MAIL_VERBS =
  /^(?:e-?mail|mail|reply|respond|draft|forward|send|shoot|drop|fire off|write|compose|let|tell|notify|inform|give \S+ an? (?:heads|note|shout|quick))\b/i;
const MAIL =
  /\b(?:e-?mails?|mails?|inbox|mailbox|unread|draft|message|messages|msg_\w+|delivery status|invoices?)\b|[\w.%+-]+@[\w-]+\.\w|\bget back to (?:me|us)\b|\b(?:sent|replied|answered|responded)\b/i;
const CALENDAR_VERBS =
  /^(?:schedule|book|reschedule|postpone|move|push|shift|cancel|scrap|call off|pencil in|block|grab|squeeze in|set up|arrange|organi[sz]e|plan|put|remind me|am i|are we|invite|rename|stick|bump|kill|nix|slide|delay|do|fit in|make all my events)\b/i;
const CALENDAR =
  /\b(?:calendars?|meetings?|events?|appointments?|availability|available|free|busy|agenda|my (?:day|week|schedule)|invitations?|lunch|(?:i|i['’]ve|have i) (?:got|have)(?: anything)? on|do i have (?:anything|something|time)|what['’]?ve i got)\b/i;
const TIME =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\btoday\b|\b\d{1,2}(?::\d\d)? ?[ap]m\b|\b\d{1,2}:\d\d\b|\b\d{4}-\d\d-\d\d\b/i;

/** The domain that a request, or a part of one, is work for; undefined if nothing tells. `head` is without quotations and courtesies. */
export function routeDomain(head: string): Domain | undefined {
  const [order = head] = head.split(/\b(?:saying|about|regarding|that says)\b|:\s/i, 1);
  if (SLACK.test(order) || (!MAIL_VERBS.test(order) && IN_SLACK.test(head))) return "slack";
  if (MAIL_VERBS.test(order)) return "email";
  if (CONTACTS.test(order)) return "contacts";
  if (CALENDAR_VERBS.test(order)) return "calendar";
  if (MAIL.test(order)) return "email";
  if (CALENDAR.test(order) || TIME.test(order)) return "calendar";
  if (SLACK.test(head)) return "slack";
  return MAIL.test(head) ? "email" : CALENDAR.test(head) ? "calendar" : undefined;
}

const CODE =
  /\b(?:code|codebase|repo(?:sitory)?|functions?|class(?:es)?|modules?|tests?|test suite|bugs?|commits?|branch|pull requests?|refactor\w*|compil\w*|parser|types?cript|javascript|python|files?|folders?|director(?:y|ies)|source|implement\w*|lint\w*|debug\w*|dependenc\w+|stack trace|scheduler|handlers?|endpoints?|api|schema|readme|docs?|documentation)\b|(?:^|\s)(?:[\w.-]+\/)+[\w.*-]+|\b[\w-]+\.(?:ts|tsx|js|mjs|py|md|json|ya?ml|go|rs|java|css|html|sh)\b|`/i;

/** Whether a request speaks of a project's code or documents, so that it is not for these agents alone. */
export function speaksOfCode(head: string): boolean {
  return CODE.test(head);
}

/** Whether a text names one of these domains so plainly that an agent with other work may hand it over. */
export function isPlainlyOurs(head: string): boolean {
  const strong =
    /\b(?:e-?mails?|mails?|inbox|calendar|meetings?|appointments?|availability|contacts?|contact info|slack)\b|[\w.%+-]+@[\w-]+\.\w|(?<![\w&])#\p{L}[\p{L}\p{N}_-]*|\b(?:people|everyone) (?:at|from) \p{Lu}|['’]s? (?:people|phone|number)\b|\bam i (?:free|busy|available)\b/iu;
  return strong.test(head);
}

/** The four areas that domain agents work in; also the agents' names. */
export const DOMAINS = ["email", "calendar", "contacts", "slack"] as const;

/** One of the four areas. */
export type Domain = (typeof DOMAINS)[number];

/** What a domain's rules found in a request: a plan, or what keeps them from one. */
export type DomainReading =
  | {
      readonly tools: readonly string[];
      readonly risk: Risk;
      readonly params: Readonly<Record<string, unknown>>;
      readonly assumptions?: readonly string[];
      readonly notes?: string;
    }
  | Doubt;

/** Why nothing is planned. */
export type Doubt = { readonly missing: readonly string[]; readonly why: string };

/** Tools whose effect cannot be taken back by not looking. */
const WRITES = new Set([
  "gmail_send_email",
  "gmail_create_draft",
  "gmail_reply_to_message",
  "calendar_create_event",
  "calendar_update_event",
  "calendar_delete_event",
  "slack_post_message",
]);

/** Whether a tool changes something. */
export function isWrite(tool: string): boolean {
  return WRITES.has(tool);
}

/** Whether a reading is a doubt. */
export function isDoubt(reading: DomainReading): reading is Doubt {
  return "missing" in reading;
}

/** A doubt in one line. */
export function doubt(missing: string | readonly string[], why: string): Doubt {
  return { missing: typeof missing === "string" ? [missing] : missing, why };
}

const EXAMPLES: Readonly<Record<Domain, string>> = {
  email: 'Send an email to john@company.com with the subject "Update" saying "We ship on Thursday."',
  calendar: "Schedule a meeting with Dana Ortiz on 2026-11-19 at 15:00 for 30 minutes",
  contacts: "Find contact info for people at Acme Corp",
  slack: 'Post "We ship on Thursday." in #general',
};

const ERROR_PLAN =
  "Tools refresh tokens and repeat what may be repeated themselves; a failed call is reported with its type and nothing is called in its place.";

/** The assessment that a reading amounts to. */
export function buildAssessment(domain: Domain, request: string, reading: DomainReading): Assessment {
  const frame = { request, result: {}, error_plan: ERROR_PLAN };
  if (isDoubt(reading)) {
    return {
      ...frame,
      tools: [],
      params: {},
      status: "failed",
      notes: `${reading.why} A request that works: ${EXAMPLES[domain]}`,
      expected_format: "an explanation of what is missing",
      success_criteria: "nothing is called",
      risk: "low",
      sequence: [],
      assumptions: [],
      missing: reading.missing,
      confidence: 0,
    };
  }
  const { tools, params, risk, assumptions = [], notes = "" } = reading;
  const writes = tools.some(isWrite);
  return {
    ...frame,
    tools,
    params,
    status: "planning",
    notes,
    expected_format: writes ? "a confirmation with what was done" : "the data found, with a summary",
    success_criteria: `${tools.at(-1) ?? "the last call"} answers without an error`,
    risk,
    sequence: tools,
    assumptions,
    missing: [],
    confidence: Math.max(0.5, 0.95 - 0.1 * assumptions.length),
  };
}

export type IntentPattern = {
  readonly pattern: RegExp;
  readonly tools: readonly string[];
  readonly riskLevel: Risk;
};

export type NamedPattern<Intent extends string> = IntentPattern & { readonly intent: Intent };
