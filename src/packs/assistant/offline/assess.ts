import type { Assessment } from "../../../schema/intent.ts";
import { assessmentOf, type Domain, doubt, isDoubt, isWrite, type Reading } from "./assessment.ts";
import { readCalendar } from "./domains/read-calendar.ts";
import { readContacts } from "./domains/read-contacts.ts";
import { readEmail } from "./domains/read-email.ts";
import { readSlack } from "./domains/read-slack.ts";
import { domainOf } from "./domains/route-domain.ts";
import { hostileSign } from "./slots/cautions.ts";
import { MAX_CHARS, type Request, readRequest } from "./slots/request.ts";
import type { Now } from "./slots/when.ts";

const READERS: Readonly<Record<Domain, (request: Request, at: Now) => Reading>> = {
  email: readEmail,
  calendar: readCalendar,
  contacts: readContacts,
  slack: readSlack,
};

/** What a domain agent makes of a request: a plan whose every value stands in the request, or what is missing. */
export function assess(domain: Domain, text: string, at: Now): Assessment {
  return assessmentOf(domain, text, readingOf(domain, text, at));
}

function readingOf(domain: Domain, text: string, at: Now): Reading {
  if (text.length > MAX_CHARS) return doubt("a short request", `The request has ${text.length} characters.`);
  const hostile = hostileSign(text);
  if (hostile) return hostile;
  const request = readRequest(text);
  if (request.head === "") return doubt("a request", "The request is empty.");
  const other = domainOf(request.head);
  if (other !== undefined && other !== domain)
    return doubt(`a request for the ${domain} agent`, `This is work for the ${other} agent.`);
  const reading = READERS[domain](request, at);
  if (isDoubt(reading) || !reading.tools.some(isWrite)) return reading;
  // What is said after the first sentence may take the order back or add another, which one plan cannot hold.
  return /[.!?]\s+\S/.test(withoutText(request, reading))
    ? doubt("one request", "The request has more than one sentence.")
    : reading;
}

/** The head without the text to be sent, which may have as many sentences as it likes. */
function withoutText({ head, restore }: Request, { params }: Exclude<Reading, { missing: unknown }>): string {
  const texts = [params.body, params.text, params.title, params.subject].filter(
    (each) => typeof each === "string",
  );
  const plain = restore(head).toLowerCase();
  return texts
    .reduce((rest, text) => rest.replace(text.toLowerCase(), ""), plain)
    .replace(/\b(?:[ap]\.m|dr|mr|mrs|ms|st|no)\./gi, "");
}
