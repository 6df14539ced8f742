import { findDoubt, isNoName, removeIfFree } from "./cautions.ts";
import type { NamedPattern } from "./domains.ts";
import { type DomainReading, doubt } from "./domains.ts";
import { findBrokenAddress, findPeople } from "./people.ts";
import { formatMoment, isPast, type Now, readWhen, type When } from "./when.ts";
import { capitalise, QUOTE, type Wording } from "./wording.ts";

const VERB =
  /^(?:schedule|book|create|add|set up|set|arrange|organi[sz]e|plan|put(?: in)?|pencil in|block(?: out| off)?|grab|squeeze in|fit in|stick|do|have|make|get|invite|remind me(?: to)?|(?:set|add) (?:me )?a reminder(?: to)?)\b\s*/i;
const SILENT = /[\s,]*\bwithout (?:sending )?(?:any )?invitations?\b/i;
const ANYWAY =
  /[\s,]*\b(?:anyway|regardless|even (?:if|though) (?:i am|i['’]m|we are|we['’]re|it is|it['’]s|there is|there['’]s)(?: a)? (?:busy|booked|conflict|clash))\b/i;
const STOP =
  "(?= (?:with|on|at|from|for|in|to|tomorrow|today|next|this|every|about|between|starting)\\b|,|$)";
const TITLED = new RegExp(`[\\s,]*\\b(?:called|titled|named|entitled) (${QUOTE}|.+?)${STOP}`, "iu");
const ABOUT = new RegExp(
  `[\\s,]*\\b(?:about|on the subject of|to discuss|to talk about) (${QUOTE}|.+?)${STOP}`,
  "iu",
);
const PLACED = new RegExp(
  `[\\s,]*\\b(?:(?:in|at) (?<room>(?:the )?(?:(?:meeting |conference )?room \\w+|\\w+ room|office|cafeteria|canteen)|${QUOTE})|(?:on|via|over) (?<online>Zoom|Teams|Google Meet|Meet|Skype|Webex))\\b`,
  "iu",
);
const WITH =
  /[\s,]*\bwith (.+?)(?=$| (?:on|at|from|for|in|to|tomorrow|today|next|this|every|about|between|starting)\b|\s{2,})/iu;
const ON_CALENDAR = /[\s,]*\b(?:on|in|to|into) (?:my|the|our) (?:calendar|agenda|diary|schedule)\b/i;
const FOR_WHAT = /^for (?:the |some |a )?(.+)$/iu;
const ARTICLES =
  /^(?:(?:a|an|the|my|our|some|quick|short|new|brief|weekly|daily|monthly|regular|recurring|another)\s+)+/i;
const UNCLEAR =
  /\d(?:st|nd|rd|th)\b|\b(?:on|at|from|with|for|the|or|but|it|them|something|anything|everything|meetings|in|of|hour|when|until|before|after|and|to|then|by|all|her|him|they|that|not)\b/i;
const PLAIN = /^(?:meeting|event|time|slot|appointment|call|calendar event|entry|invite|invitation)?$/i;
const ONLY_QUOTE = new RegExp(`^${QUOTE}$`);
const DEFAULT_MINUTES = 60;
const REMINDER_MINUTES = 15;

/** A new event: only if every word of the request is accounted for. */
export function readNewEvent(request: Wording, found: NamedPattern<string>, at: Now): DomainReading {
  if (!VERB.test(request.head)) return doubt("a plain order", "The request does not begin with what to do.");
  const notify = !SILENT.test(request.head);
  const anyway = ANYWAY.test(request.head);
  let head = removeIfFree(request.head.replace(SILENT, "").replace(ANYWAY, ""));
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const match = pattern.exec(head);
    if (match) head = `${head.slice(0, match.index)} ${head.slice(match.index + match[0].length)}`;
    return match;
  };
  const titled = take(TITLED) ?? take(ABOUT);
  const caution = findDoubt(head);
  if (caution) return caution;
  const broken = findBrokenAddress(head);
  if (broken) return doubt("a whole address", `'${broken}' is no whole mail address.`);
  const place = take(PLACED)?.groups;
  const when = readWhen(head, at);
  head = when.rest;
  const trouble = findTrouble(when, at);
  if (trouble) return trouble;
  const withWhom = take(WITH)?.[1];
  const people = findPeople(withWhom ?? "", true);
  if (withWhom && (people.unclear.length > 0 || people.who.length === 0))
    return doubt("attendees", `It is unclear who '${people.unclear.join(", ") || withWhom}' is.`);
  take(ON_CALENDAR);
  const subject = findSubject(head.replace(/\s+/g, " ").trim(), request, titled?.[1]);
  if (titled?.[1] && !ONLY_QUOTE.test(titled[1]) && isNoName(titled[1]))
    return doubt("quotation marks around the title", "It is unclear where the title ends.");
  if (subject === undefined)
    return doubt("a plain order", `The words '${request.restore(head).trim()}' are unclear.`);
  const isReminder = found.intent === "remind";
  if (isReminder && subject.name === "")
    return doubt("what to remind of", "The request does not say of what.");
  const assumptions = [...when.assumptions];
  const minutes = when.minutes ?? (isReminder ? REMINDER_MINUTES : DEFAULT_MINUTES);
  if (!when.minutes && !when.part) assumptions.push(`Assumed ${minutes} minutes.`);
  if (isReminder) assumptions.push("Put the reminder into the calendar as an event.");
  const title = subject.name || makeTitle(subject.kind, people.who);
  if (!subject.name) assumptions.push(`Titled it '${title}'.`);
  const location = place?.room ?? place?.online;
  return {
    tools: found.tools,
    risk: people.who.length > 1 ? "high" : found.riskLevel,
    params: {
      title,
      datetime: formatMoment(when),
      ...(!(when.part === "day") && { duration_minutes: minutes }),
      ...(people.who.length > 0 && { attendees: people.who }),
      ...(location && { location: request.restore(location) }),
      ...(when.recurrence && { recurrence: when.recurrence }),
      ...(!notify && { notify: false }),
      ...(anyway && { anyway: true }),
    },
    assumptions,
    notes: isReminder ? "An event of one's own." : "Conflicts are looked for before anything is created.",
  };
}

function findTrouble(when: When, at: Now): DomainReading | undefined {
  if (when.twoWays) return doubt("one time", `The time can be read in two ways: ${when.twoWays}.`);
  const missing = [...(when.date ? [] : ["day"]), ...(when.time || when.part === "day" ? [] : ["time"])];
  if (missing.length > 0) return doubt(missing, `The request does not say the ${missing.join(" and the ")}.`);
  return isPast(formatMoment(when), at)
    ? doubt("a time to come", `${formatMoment(when)} has passed.`)
    : undefined;
}

/** What the event is called, or else what kind it is; nothing if words are left that mean something else. */
function findSubject(
  head: string,
  request: Wording,
  titled: string | undefined,
): { name: string; kind: string } | undefined {
  const rest = head
    .replace(VERB, "")
    .replace(/[\s,]+$/, "")
    .trim();
  const purpose = FOR_WHAT.exec(rest)?.[1];
  const noun = (purpose ?? rest).replace(ARTICLES, "").trim();
  const quoted = new RegExp(`^(?:meeting |event |call )?(${QUOTE})$`, "iu").exec(noun)?.[1];
  if (
    !quoted &&
    (UNCLEAR.test(noun) || noun.split(" ").length > 6 || /[\ue000#@:]/.test(noun) || isNoName(noun))
  )
    return undefined;
  if (titled)
    return { name: capitalise(request.restore(titled).replace(/^(?:the|our|my)\s+/i, "")), kind: noun };
  if (quoted) return { name: request.restore(quoted), kind: "meeting" };
  if (purpose || /^remind/i.test(head) || /\breminder\b/i.test(head))
    return { name: capitalise(noun), kind: noun };
  const isNamed = !PLAIN.test(noun) && noun.includes(" ");
  return { name: isNamed ? capitalise(noun) : "", kind: noun || "meeting" };
}

function makeTitle(kind: string, who: readonly string[]): string {
  const noun = capitalise(/^(?:event|time|slot|entry|invite|invitation)$/i.test(kind) ? "meeting" : kind);
  const [only] = who;
  if (who.length === 1 && only && /^(?:.* )?team$/.test(only)) return `${capitalise(only)} ${noun}`;
  return who.length > 0 && who.length < 3 ? `${noun} with ${who.join(" and ")}` : noun;
}
