import type { Risk } from "../schema/rights.ts";

/** The phases of an intent flow. */
export type Phase = "assess" | "execute" | "format";

/** What an intent flow knows of its request at one moment. */
export type IntentContext = {
  /** What was asked for. */
  request: string;
  /** Tools that are needed. */
  tools: readonly string[];
  /** What they are called with. */
  params: Readonly<Record<string, unknown>>;
  status: "planning" | "executing" | "complete" | "failed";
  /** What the calls have given so far. */
  result: Readonly<Record<string, unknown>>;
  notes: string;
};

/** What the first phase finds out: the context, and what a good answer is. */
export type Assessment = IntentContext & {
  /** What the one who asked expects to get: data, a confirmation, a summary. */
  expected_format: string;
  success_criteria: string;
  risk: Risk;
  /** The calls that must succeed, in their order; a name may come more than once. */
  sequence: readonly string[];
  /** What to do if a call fails. */
  error_plan: string;
  /** What was taken for granted where the request left room. */
  assumptions: readonly string[];
  /** What the request does not say and nothing else tells. */
  missing: readonly string[];
  /** From 0 to 1. */
  confidence: number;
};

/** Why a domain agent failed, by what helps against it. */
export type ResponseErrorType = "auth" | "params" | "network" | "rate_limit" | "permission" | "tool_error";

/** The one message with which a domain agent answers. */
export type SubAgentResponse = {
  success: boolean;
  /** `email`, `calendar`, `contacts` or `slack`; of other agents of this flow, their name. */
  domain: string;
  /** The request as it came. */
  request: string;
  result: {
    data: unknown;
    summary: string;
    tools_used: readonly string[];
    /** Seconds. */
    execution_time: number;
  };
  error?: {
    type: ResponseErrorType;
    message: string;
    /** The tool that failed. */
    tool: string;
    /** Whether the same request can succeed later. */
    recoverable: boolean;
  };
};
