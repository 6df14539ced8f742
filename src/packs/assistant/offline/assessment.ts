import type { Assessment } from "../../../schema/intent.ts";
import type { Risk } from "../../../schema/rights.ts";

/** The four areas that domain agents work in; also the agents' names. */
export const DOMAINS = ["email", "calendar", "contacts", "slack"] as const;

/** One of the four areas. */
export type Domain = (typeof DOMAINS)[number];

/** What a domain's rules found in a request: a plan, or what keeps them from one. */
export type Reading =
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
export function isDoubt(reading: Reading): reading is Doubt {
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
export function assessmentOf(domain: Domain, request: string, reading: Reading): Assessment {
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
