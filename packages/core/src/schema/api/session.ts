import { CALL_OUTCOMES, SESSION_STATES } from "../inspect/trace.ts";
import { RUN_STATUSES } from "../result.ts";
import {
  anything,
  byName,
  filledText,
  flag,
  list,
  number,
  oneOf,
  orNull,
  shape,
  type TypeIn,
  text,
  whole,
} from "../shape.ts";

const STATUS = oneOf(...RUN_STATUSES);
const STATE = oneOf(...SESSION_STATES);
const TASK = filledText(200_000);
const NAME = filledText(300);

/** How a session stands, and who works on it: this server, another process, or nobody. */
const STANDING = {
  state: STATE,
  holder: orNull(oneOf("here", "elsewhere")),
  /** Calls of it that wait for a person's approval. */
  asks: whole,
};
export const SessionStanding = shape(STANDING);
export type SessionStanding = TypeIn<typeof SessionStanding>;

/** A session in the list of runs; names as in the record. */
export const SessionCard = shape({
  session_id: text,
  title: text,
  project: text,
  workspace: text,
  created_at: text,
  updated_at: text,
  status: STATUS,
  agent: orNull(text),
  runs: whole,
  agents: whole,
  depth: whole,
  tokens: number,
  cost_usd: orNull(number),
  duration_ms: number,
  ...STANDING,
  "found?": shape({ agent: text, in: oneOf("task", "answer"), excerpt: text }),
});
export type SessionCard = TypeIn<typeof SessionCard>;

/** `GET /api/sessions`. */
export const SessionList = shape({
  sessions: list(SessionCard),
  /** There are more than were asked for. */
  "hasMore?": flag,
  /** Words were looked for in the texts of so many sessions only. */
  "searchedOnly?": whole,
});
export type SessionList = TypeIn<typeof SessionList>;

/** A run without its long texts. Milliseconds are moments since 1970. */
export const RunView = shape({
  runId: text,
  parentRunId: orNull(text),
  /** The call of the parent that made it. */
  callId: orNull(text),
  messageId: whole,
  agent: text,
  model: orNull(text),
  depth: whole,
  /** Cut after 300 characters. */
  task: text,
  attempt: whole,
  status: STATUS,
  /** Completed with what there was when a limit cut it short. */
  partial: flag,
  bailoutReason: orNull(text),
  error: orNull(text),
  startedAtMs: number,
  endedAtMs: orNull(number),
  /** Milliseconds it worked; null while it is open. */
  durationMs: orNull(number),
  iterations: whole,
  maxIterations: orNull(whole),
  /** Of the run alone; 0 until it has ended. */
  tokens: number,
  /** Of the run alone; unknown is null, never 0. */
  costUsd: orNull(number),
  /** What it came to, at most 500 characters; null while it is open. */
  summary: orNull(text),
  tainted: flag,
  openedSeq: whole,
  closedSeq: orNull(whole),
});
export type RunView = TypeIn<typeof RunView>;

/**
 * `GET /api/sessions/:id`: the session with its runs, as of `seq`; what came later is told by its stream. With `limit` the
 * first of them alone, and with `after` those that opened after a seq.
 */
export const SessionDetail = shape({
  session: SessionCard,
  /** In the order they opened. */
  runs: list(RunView),
  /** The last seq that is in here. */
  seq: whole,
  /** Give it as `after` for the runs that follow; null if none do. */
  next: orNull(whole),
});
export type SessionDetail = TypeIn<typeof SessionDetail>;

/** One model or tool call of a run. Texts are cut after 2,000 characters, which `isCut` tells. */
export const StepView = shape({
  kind: oneOf("turn", "call"),
  messageId: whole,
  runId: text,
  status: STATUS,
  startedAtMs: number,
  endedAtMs: orNull(number),
  durationMs: orNull(number),
  error: orNull(text),
  openedSeq: whole,
  closedSeq: orNull(whole),
  isCut: flag,
  /** Of a turn: its number, what it was for, what the model said and what that took. */
  "turn?": whole,
  "purpose?": text,
  "text?": text,
  "tokens?": shape({ input: number, output: number }),
  "costUsd?": orNull(number),
  /** What a person told the run before this turn. */
  "steered?": list(text),
  /** Of a call. */
  "callId?": orNull(text),
  "tool?": text,
  "outcome?": oneOf(...CALL_OUTCOMES),
  "input?": text,
  "output?": text,
  "approvedBy?": orNull(text),
});
export type StepView = TypeIn<typeof StepView>;

/** `GET /api/sessions/:id/steps`: model and tool calls, in the order they opened. */
export const StepList = shape({
  steps: list(StepView),
  /** Give it as `after` for what follows; null if nothing does. */
  next: orNull(whole),
});
export type StepList = TypeIn<typeof StepList>;

/** `GET /api/messages/:id`: a row of the record whole, names as in the table. */
export const MessageDetail = shape({ row: byName(anything), systemPrompt: orNull(text) });
export type MessageDetail = TypeIn<typeof MessageDetail>;

/** What begins or goes on with `POST /api/sessions`. */
export const StartRequest = shape({
  task: TASK,
  /** `main` or the only one by default. */
  "agent?": NAME,
  "model?": NAME,
  /** Goes on in this session. */
  "sessionId?": NAME,
  /** Every tool call waits a moment first, so that a person can watch rules at work. */
  "paced?": flag,
});
export type StartRequest = TypeIn<typeof StartRequest>;

/** `POST /api/sessions/:id/messages`. */
export const TellRequest = shape({ text: TASK, "agent?": NAME, "model?": NAME });
export const TellResult = shape({ steered: flag, sessionId: text, runId: text });

/** `POST /api/runs/:id/steer`. */
export const SteerRequest = shape({ text: filledText(50_000) });

/** What was started. */
export const Started = shape({ sessionId: text, runId: text });
export type Started = TypeIn<typeof Started>;

/** `POST` to a control: whether anything was there to be controlled. */
export const Controlled = shape({ done: flag });
export type Controlled = TypeIn<typeof Controlled>;

/** `POST /api/sessions/removal`. */
export const RemovalRequest = shape({
  sessionIds: list(NAME, { minItems: 1, maxItems: 1_000 }),
  "dryRun?": flag,
});
export type RemovalRequest = TypeIn<typeof RemovalRequest>;

/** What was removed, or would be, and which of those that were named stay. */
export const Removal = shape({
  /** How many went, or would. */
  sessions: whole,
  bytes: whole,
  going: list(shape({ sessionId: text, title: text, bytes: whole })),
  kept: list(shape({ sessionId: text, title: text, why: text })),
});
export type Removal = TypeIn<typeof Removal>;

/** `GET /api/storage`: bytes on disk. */
export const StorageView = shape({
  databaseBytes: whole,
  /** Of these, what nothing uses any more. */
  freeBytes: whole,
  workspaceBytes: whole,
  contentBytes: whole,
  shadowBytes: whole,
});
export type StorageView = TypeIn<typeof StorageView>;
