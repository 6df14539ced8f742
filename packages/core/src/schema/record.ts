import type { RunStatus } from "./result.ts";

/** `prompt` and `delegation` are runs, `continuation` a model call, `tool_call` a tool call. */
export type RequestType = "prompt" | "delegation" | "continuation" | "tool_call";

/** Whether a tool call may run again when its outcome is unknown. */
export type ReplayClass = "safe" | "lookup" | "never";

/** What is known when a row opens, before the effect. */
export type MessageOpening = {
  sessionId: string;
  parentId: number | null;
  runId: string;
  type: RequestType;
  callId?: string;
  agentRole: string;
  depth: number;
  startedAtMs: number;
  modelId?: string;
  /** Hash of a text saved with `savePrompt`. */
  systemPromptId?: string;
  requestContent?: string;
  contextMode?: string;
  contextTokenCount?: number;
  maxIterations?: number;
  maxDurationMs?: number;
  replay?: ReplayClass;
  /** Stored as JSON. */
  metadata?: Readonly<Record<string, unknown>>;
};

/** What is known when a row closes, after the effect. */
export type MessageClosing = {
  status: RunStatus;
  completedAtMs: number;
  durationMs: number;
  responseContent?: string;
  responseSummary?: string;
  toolCalls?: readonly unknown[];
  filesModified?: readonly string[];
  promptTokens?: number;
  completionTokens?: number;
  totalTokens?: number;
  iterationCount?: number;
  bailoutReason?: string;
  errorMessage?: string;
  costUsd?: number | null;
  modelId?: string;
  contextTokenCount?: number;
  /** Merged over the opening's metadata. */
  metadata?: Readonly<Record<string, unknown>>;
};

/** One row of `messages`, names as in the table. */
export type MessageRow = {
  id: number;
  session_id: string;
  parent_message_id: number | null;
  started_at: string;
  completed_at: string | null;
  duration_ms: number | null;
  agent_role: string | null;
  agent_depth: number;
  model_id: string | null;
  system_prompt_id: string | null;
  request_type: RequestType;
  request_content: string | null;
  context_mode: string | null;
  context_token_count: number | null;
  response_content: string | null;
  response_summary: string | null;
  tool_calls_json: string | null;
  files_modified_json: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  iteration_count: number;
  max_iterations: number | null;
  max_duration_ms: number | null;
  bailout_reason: string | null;
  status: RunStatus;
  error_message: string | null;
  metadata_json: string | null;
  run_id: string;
  call_id: string | null;
  opened_seq: number;
  closed_seq: number | null;
  cost_usd: number | null;
  replay: ReplayClass | null;
};

/** A row with its children, in the order they opened. */
export type MessageNode = MessageRow & { children: MessageNode[] };

/** One conversation with a person and its workspace. */
export type SessionRow = {
  session_id: string;
  title: string;
  project: string;
  workspace: string;
  created_at: string;
  updated_at: string;
  status: RunStatus;
  metadata_json: string | null;
};

/**
 * The record as a run sees it. `open` and `close` return at once and are written together at the end of the tick;
 * `committed` resolves when everything handed over so far is on disk, and waits while the disk refuses writes.
 */
export type Journal = {
  /** Returns the row's id. `onCommit` gets the session seq of the opening once it is on disk. */
  open(row: MessageOpening, onCommit?: (seq: number) => void): number;
  close(id: number, sessionId: string, closing: MessageClosing, onCommit?: (seq: number) => void): void;
  committed(): Promise<void>;
};

/** A call that waits for a person's answer, or has had it. */
export type Approval = {
  approvalId: string;
  sessionId: string;
  runId: string;
  callId: string;
  tool: string;
  /** Binds the answer to exactly these arguments. */
  inputHash: string;
  /** What a person must know to answer: input, words, reason, risk, chain. */
  request: Readonly<Record<string, unknown>>;
  requestedAtMs: number;
  /** Null until somebody has answered. With `scope: "run"` a yes holds for further calls of the run with these arguments. */
  answer: { allowed: boolean; by: string; note?: string; scope?: "once" | "run"; atMs: number } | null;
};

/** A moment of a recorded session: its id and a seq of its record. */
export type ForkPoint = { sessionId: string; seq: number };

/** The root run of a session as it was at a moment, and which moment that is; the same point gives the same past later. */
export type Past = { root: MessageNode; at: ForkPoint };
