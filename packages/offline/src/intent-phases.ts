import type { Assessment } from "@retinue/core/intent/intent-shapes";
import { calendar } from "./calendar.ts";
import { describeFailedCall, findData } from "./call-data.ts";
import { contacts } from "./contacts.ts";
import {
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  type Situation,
  taskText,
} from "./conversation.ts";
import { email } from "./email.ts";
import {
  type DomainRules,
  type Doubt,
  doubt,
  isWrite,
  type PlannedCall,
  type Reading,
  readSentence,
} from "./read-request.ts";
import { slack } from "./slack.ts";
import type { Now } from "./when.ts";

/** The four areas that domain agents work in; also the agents' names. */
export const DOMAINS = ["email", "calendar", "contacts", "slack"] as const;

/** One of the four areas. */
export type Domain = (typeof DOMAINS)[number];

const RULES: Readonly<Record<Domain, DomainRules>> = { email, calendar, contacts, slack };

/** How the four domain agents work without a model: the same rules read the request in every phase, so the plan stays what it was. */
export const domainAgents: readonly Procedure[] = DOMAINS.map((domain) => ({
  agents: [domain],
  next: (situation) => nextPhase(domain, situation),
}));

function nextPhase(domain: Domain, { calls, phase, task, now, wrapUp }: Situation): OfflineMove {
  const text = taskText(task);
  const reading = readFor(domain, text, now ? { now } : undefined);
  if (phase === "assess") return { say: JSON.stringify(buildAssessment(domain, text, reading)) };
  // An agent of that name whose file does not ask for phases.
  if ("missing" in reading && phase === undefined) return { cannot: explainDoubt(domain, reading) };
  const { calls: plan, assumptions = [] } = "missing" in reading ? { calls: [] } : reading;
  const move = takeNextStep(plan, calls);
  if (phase === "execute" || (phase === undefined && "calls" in move && !wrapUp)) return move;
  const isOpen = plan.some(({ tool }) => !calls.some((call) => call.tool === tool));
  const stop = isOpen && "say" in move ? (move.say ?? "") : "";
  return { say: summariseWork(domain, calls, { stop, assumptions }) };
}

/** Longer requests are not read: rules understand sentences, not documents. */
const MAX_REQUEST_CHARS = 8_000;

/**
 * What a domain agent makes of a request: a plan whose every value is in the request, or what is missing. The time comes
 * from the prompt, never from a clock.
 */
export function assess(domain: Domain, text: string, at: Now | undefined): Assessment {
  return buildAssessment(domain, text, readFor(domain, text, at));
}

function readFor(domain: Domain, text: string, at: Now | undefined): Reading {
  if (!at) return doubt("the current time", "The prompt does not say what time it is.");
  if (text.length > MAX_REQUEST_CHARS)
    return doubt("a short request", `The request has ${text.length} characters.`);
  const reading = readSentence(text, RULES[domain], at);
  if (reading && !("missing" in reading)) return reading;
  const other = chooseDomain(text, at);
  if (other) return doubt(`a request for the ${domain} agent`, `This is work for the ${other} agent.`);
  return (
    reading ??
    doubt(
      `a request for the ${domain} agent`,
      `The rules of the ${domain} agent do not know this form of request.`,
    )
  );
}

/** The domain whose rules account for every word of a request; undefined if none does. */
export function chooseDomain(text: string, at: Now): Domain | undefined {
  if (text.length > MAX_REQUEST_CHARS) return undefined;
  return DOMAINS.find((domain) => {
    const reading = readSentence(text, RULES[domain], at);
    return reading !== null && !("missing" in reading);
  });
}

/** What is unclear about a request that one of the domains nearly understands; undefined if none does. */
export function findMisreading(text: string, at: Now): string | undefined {
  const readings = DOMAINS.map((domain) => readSentence(text.slice(0, MAX_REQUEST_CHARS), RULES[domain], at));
  const nearly = readings.find((reading) => reading !== null && "missing" in reading);
  return nearly && "why" in nearly ? nearly.why : undefined;
}

const ERROR_PLAN =
  "Tools refresh tokens and repeat what may be repeated themselves; a failed call is reported with its type and nothing is called in its place.";

function buildAssessment(domain: Domain, request: string, reading: Reading): Assessment {
  const frame = { request, result: {}, error_plan: ERROR_PLAN };
  if ("missing" in reading) {
    return {
      ...frame,
      tools: [],
      params: {},
      status: "failed",
      notes: explainDoubt(domain, reading),
      expected_format: "an explanation of what is missing",
      success_criteria: "nothing is called",
      risk: "low",
      sequence: [],
      assumptions: [],
      missing: reading.missing,
      confidence: 0,
    };
  }
  const { calls, risk, assumptions = [], notes = "" } = reading;
  const tools = calls.map(({ tool }) => tool);
  return {
    ...frame,
    tools,
    // The last call is what was asked for, so its values come first.
    params: Object.assign({}, ...calls.toReversed().map(({ input }) => input)),
    status: "planning",
    notes,
    expected_format: tools.some(isWrite)
      ? "a confirmation with what was done"
      : "the data found, with a summary",
    success_criteria: `${tools.at(-1) ?? "the last call"} answers without an error`,
    risk,
    sequence: tools,
    assumptions,
    missing: [],
    confidence: Math.max(0.5, 0.95 - 0.1 * assumptions.length),
  };
}

function explainDoubt(domain: Domain, { why }: Doubt): string {
  return `${why} A request that works: ${RULES[domain].example}`;
}

/** Makes the calls of a plan in their order, those that need nothing of each other at once; says why when one cannot be made. */
function takeNextStep(plan: readonly PlannedCall[], calls: readonly PastCall[]): OfflineMove {
  const failed = calls.findLast((call) => call.failed);
  if (failed) return { say: describeFailedCall(failed) };
  const ready: OfflineCall[] = [];
  for (const { tool, input, needs } of plan) {
    if (calls.some((call) => call.tool === tool)) continue;
    const found = needs ? needs(calls) : {};
    if (found !== null && typeof found !== "string") ready.push({ tool, input: { ...found, ...input } });
    else if (ready.length > 0) break;
    else return { say: found ?? `Not done: what ${tool} needs could not be read.` };
  }
  return ready.length > 0 ? { calls: ready } : { say: "Every planned call was made." };
}

/** What was done or found, then why more was not, and what was assumed. */
function summariseWork(
  domain: Domain,
  calls: readonly PastCall[],
  { stop, assumptions }: { stop: string; assumptions: readonly string[] },
): string {
  const faults = calls.filter(({ failed }) => failed).map(describeFailedCall);
  const isInTheWay = faults.length === 0 && stop !== "" && domain === "calendar";
  // What is in the way of an event says more than that the time is taken.
  const done = isInTheWay ? "" : tellResult(domain, calls);
  const why = faults.length > 0 ? faults : [stop];
  return [done, ...why, ...assumptions].filter(Boolean).join(" ") || "Nothing was done.";
}

function tellResult(domain: Domain, calls: readonly PastCall[]): string {
  for (const [tool, tell] of RULES[domain].tellings) {
    const data = findData(calls, tool);
    if (data) return tell(data, calls);
  }
  return "";
}
