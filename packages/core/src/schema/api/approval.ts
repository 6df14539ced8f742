import type { Risk } from "../rights.ts";

/** A call that waits for a person, or has had the answer. */
export type ApprovalView = {
  approvalId: string;
  sessionId: string;
  /** Title of that session. */
  session: string;
  runId: string;
  callId: string;
  tool: string;
  /** What the agent wants to do, as the model gave it. */
  input: unknown;
  /** The call in words: every address, the whole text; null if the tool has none. */
  presented: string | null;
  risk: Risk;
  /** Why it needs a person. */
  reason: string;
  /** Names from the root agent down to the one that asks. */
  chain: string[];
  targets: string[];
  /** Text from outside has entered the run. */
  tainted: boolean;
  /** For a change of a file: what it would change, as a unified diff. */
  diff: string | null;
  requestedAtMs: number;
  /** When it is denied because nobody answered; null if it waits for as long as it takes. */
  expiresAtMs: number | null;
  /** Nobody has the session: it goes on once everything is answered. */
  isParked: boolean;
  answer: { allowed: boolean; by: string; note: string | null; atMs: number } | null;
};

/** `GET /api/approvals`. */
export type ApprovalList = {
  approvals: ApprovalView[];
  /** Asks for the page behind this one; null on the last. */
  next: string | null;
};

/** `POST /api/approvals/:id`. */
export type ApprovalDecision = {
  allowed: boolean;
  /** `run`: also for further calls of this run with exactly these arguments. */
  scope?: "once" | "run";
  note?: string;
};
