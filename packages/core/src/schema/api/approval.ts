import { anything, flag, list, number, oneOf, orNull, shape, type TypeIn, text, textWith } from "../shape.ts";

/** A call that waits for a person, or has had the answer. */
export const ApprovalView = shape({
  approvalId: text,
  sessionId: text,
  /** Title of that session. */
  session: text,
  runId: text,
  callId: text,
  tool: text,
  /** What the agent wants to do, as the model gave it. */
  input: anything,
  /** The call in words: every address, the whole text; null if the tool has none. */
  presented: orNull(text),
  risk: oneOf("low", "medium", "high"),
  /** Why it needs a person. */
  reason: text,
  /** Names from the root agent down to the one that asks. */
  chain: list(text),
  targets: list(text),
  /** Text from outside has entered the run. */
  tainted: flag,
  /** For a change of a file: what it would change, as a unified diff. */
  diff: orNull(text),
  requestedAtMs: number,
  /** When it is denied because nobody answered; null if it waits for as long as it takes. */
  expiresAtMs: orNull(number),
  /** Nobody has the session: it goes on once everything is answered. */
  isParked: flag,
  answer: orNull(shape({ allowed: flag, by: text, note: orNull(text), atMs: number })),
});
export type ApprovalView = TypeIn<typeof ApprovalView>;

/** `GET /api/approvals`. */
export const ApprovalList = shape({
  approvals: list(ApprovalView),
  /** Asks for the page behind this one; null on the last. */
  next: orNull(text),
});
export type ApprovalList = TypeIn<typeof ApprovalList>;

/** `POST /api/approvals/:id`. */
export const ApprovalDecision = shape({
  allowed: flag,
  /** `run`: also for further calls of this run with exactly these arguments. */
  "scope?": oneOf("once", "run"),
  "note?": textWith({ maxLength: 2_000 }),
});
export type ApprovalDecision = TypeIn<typeof ApprovalDecision>;
