import type { Domain } from "../assessment.ts";

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
export function domainOf(head: string): Domain | undefined {
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
