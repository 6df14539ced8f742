import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { flag, list, number, oneOf, orNull, shape, text, whole } from "./shapes.ts";

/** A run's or step's status. */
const status: JsonSchema = oneOf("pending", "running", "completed", "failed", "cancelled", "timeout");

/** How a session stands. */
export const sessionStateShape: JsonSchema = oneOf(
  "running",
  "waiting",
  "interrupted",
  "pending",
  "completed",
  "failed",
  "cancelled",
  "timeout",
);

/** A session in a list. */
export const sessionCardShape: JsonSchema = shape({
  session_id: text,
  title: text,
  project: text,
  workspace: text,
  created_at: text,
  updated_at: text,
  status,
  agent: orNull(text),
  runs: whole,
  agents: whole,
  depth: whole,
  tokens: number,
  cost_usd: orNull(number),
  duration_ms: number,
  state: sessionStateShape,
  holder: orNull(oneOf("here", "elsewhere")),
  asks: whole,
  "found?": shape({ agent: text, in: oneOf("task", "answer"), excerpt: text }),
});

/** A run without its long texts. */
export const runShape: JsonSchema = shape({
  runId: text,
  parentRunId: orNull(text),
  callId: orNull(text),
  messageId: whole,
  agent: text,
  model: orNull(text),
  depth: whole,
  task: text,
  attempt: whole,
  status,
  partial: flag,
  bailoutReason: orNull(text),
  error: orNull(text),
  startedAtMs: number,
  endedAtMs: orNull(number),
  durationMs: orNull(number),
  iterations: whole,
  maxIterations: orNull(whole),
  tokens: number,
  costUsd: orNull(number),
  summary: orNull(text),
  tainted: flag,
  openedSeq: whole,
  closedSeq: orNull(whole),
});

/** A model or tool call. */
const stepShape: JsonSchema = shape({
  kind: oneOf("turn", "call"),
  messageId: whole,
  runId: text,
  status,
  startedAtMs: number,
  endedAtMs: orNull(number),
  durationMs: orNull(number),
  error: orNull(text),
  openedSeq: whole,
  closedSeq: orNull(whole),
  isCut: flag,
  "turn?": whole,
  "purpose?": text,
  "text?": text,
  "tokens?": shape({ input: number, output: number }),
  "steered?": list(text),
  "costUsd?": orNull(number),
  "callId?": orNull(text),
  "tool?": text,
  "outcome?": oneOf("ok", "cached", "error", "denied", "running", "interrupted"),
  "input?": text,
  "output?": text,
  "approvedBy?": orNull(text),
});

/** Steps, and where to go on. */
export const stepList: JsonSchema = shape({ steps: list(stepShape), next: orNull(whole) });

/** What was started. */
export const started: JsonSchema = shape({ sessionId: text, runId: text });

/** Whether anything was there to be controlled. */
export const controlled: JsonSchema = shape({ done: flag });
