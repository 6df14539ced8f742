import type { SessionMatch, SessionSummary } from "../inspect/session-summary.ts";
import type { SessionState } from "../inspect/trace.ts";
import type { RunStatus } from "../result.ts";

/** Who works on a session: this server, another process, or nobody. */
export type SessionHolder = "here" | "elsewhere" | null;

/** A session in the list of runs. */
export type SessionCard = Omit<SessionSummary, "metadata_json"> & {
  holder: SessionHolder;
  /** Calls of it that wait for a person's word. */
  asks: number;
};

/** `GET /api/sessions`. */
export type SessionList = {
  sessions: SessionCard[];
  /** There are more than were asked for. */
  hasMore?: boolean;
  /** Words were looked for in the texts of so many sessions only. */
  searchedOnly?: number;
};

/**
 * `GET /api/sessions/:id`: the session with its runs, as of `seq`; what came later is told by its stream. With `limit` the
 * first of them alone, and with `after` those that opened after a seq.
 */
export type SessionDetail = {
  session: SessionCard;
  /** In the order they opened. */
  runs: RunView[];
  /** The last seq that is in here. */
  seq: number;
  /** Give it as `after` for the runs that follow; null if none do. */
  next: number | null;
};

/** A run without its long texts. Milliseconds are moments since 1970. */
export type RunView = {
  runId: string;
  parentRunId: string | null;
  /** The call of the parent that made it. */
  callId: string | null;
  messageId: number;
  agent: string;
  model: string | null;
  depth: number;
  /** Cut after 300 characters. */
  task: string;
  attempt: number;
  status: RunStatus;
  /** Completed with what there was when a limit cut it short. */
  partial: boolean;
  bailoutReason: string | null;
  error: string | null;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Milliseconds it worked; null while it is open. */
  durationMs: number | null;
  iterations: number;
  maxIterations: number | null;
  /** Of the run alone; 0 until it has ended. */
  tokens: number;
  /** Of the run alone; unknown is null, never 0. */
  costUsd: number | null;
  /** What it came to, at most 500 characters; null while it is open. */
  summary: string | null;
  tainted: boolean;
  openedSeq: number;
  closedSeq: number | null;
};

/** One model or tool call of a run. Texts are cut after 2,000 characters, which `isCut` tells. */
export type StepView = {
  kind: "turn" | "call";
  messageId: number;
  runId: string;
  status: RunStatus;
  startedAtMs: number;
  endedAtMs: number | null;
  durationMs: number | null;
  error: string | null;
  openedSeq: number;
  closedSeq: number | null;
  isCut: boolean;
  /** Of a turn: its number, what it was for, what the model said and what that took. */
  turn?: number;
  purpose?: string;
  text?: string;
  tokens?: { input: number; output: number };
  costUsd?: number | null;
  /** What a person told the run before this turn. */
  steered?: string[];
  /** Of a call. */
  callId?: string | null;
  tool?: string;
  outcome?: "ok" | "cached" | "error" | "denied" | "running" | "interrupted";
  input?: string;
  output?: string;
  approvedBy?: string | null;
};

/** `GET /api/sessions/:id/steps`: model and tool calls, in the order they opened. */
export type StepList = {
  steps: StepView[];
  /** Give it as `after` for what follows; null if nothing does. */
  next: number | null;
};

/** `GET /api/messages/:id`: a row of the record whole, names as in the table. */
export type MessageDetail = { row: Record<string, unknown>; systemPrompt: string | null };

/** What begins or goes on with `POST /api/sessions`. */
export type StartRequest = {
  task: string;
  /** `main` or the only one by default. */
  agent?: string;
  model?: string;
  /** Goes on in this session. */
  sessionId?: string;
  /** Every tool call waits a moment first, so that a person can watch rules at work. */
  paced?: boolean;
};

/** What was started. */
export type Started = { sessionId: string; runId: string };

/** `POST` to a control: whether anything was there to be controlled. */
export type Controlled = { done: boolean };

/** Where words were found. */
export type { SessionMatch, SessionState };

/** `POST /api/sessions/removal`. */
export type RemovalRequest = { sessionIds: readonly string[]; dryRun?: boolean };

/** What was removed, or would be, and which of those that were named stay. */
export type Removal = {
  /** How many went, or would. */
  sessions: number;
  bytes: number;
  going: { sessionId: string; title: string; bytes: number }[];
  kept: { sessionId: string; title: string; why: string }[];
};

/** `GET /api/storage`: bytes on disk. */
export type StorageView = {
  databaseBytes: number;
  /** Of these, what nothing uses any more. */
  freeBytes: number;
  workspaceBytes: number;
  contentBytes: number;
  shadowBytes: number;
};
