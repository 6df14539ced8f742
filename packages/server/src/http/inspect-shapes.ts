import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { anything, byName, flag, list, number, oneOf, orNull, shape, text, whole } from "./shapes.ts";

/** Any object. */
export const record: JsonSchema = byName(anything);

/** A call that waits for a person, or has had the answer. */
export const approvalShape: JsonSchema = shape({
  approvalId: text,
  sessionId: text,
  session: text,
  runId: text,
  callId: text,
  tool: text,
  input: anything,
  presented: orNull(text),
  risk: oneOf("low", "medium", "high"),
  reason: text,
  chain: list(text),
  targets: list(text),
  tainted: flag,
  diff: orNull(text),
  requestedAtMs: number,
  expiresAtMs: orNull(number),
  isParked: flag,
  answer: orNull(shape({ allowed: flag, by: text, note: orNull(text), atMs: number })),
});

/** One tool in a table of rights. */
export const rightsRow: JsonSchema = shape({
  tool: text,
  kind: oneOf("tool", "group", "other"),
  groups: list(text),
  verdict: oneOf("allow", "ask", "deny", "depends"),
  layer: text,
  rule: orNull(text),
  patterns: list(text),
});

/** Everything about one run. */
export const runDetailShape: JsonSchema = shape({
  runId: text,
  sessionId: text,
  systemPrompt: orNull(text),
  message: text,
  contextMode: orNull(text),
  task: text,
  result: orNull(record),
  text,
  rights: orNull(list(rightsRow)),
  delegatesTo: list(text),
  files: list(shape({ path: text, root: oneOf("workspace", "project"), exists: flag })),
  row: record,
});

/** What a run changed. */
export const runDiffShape: JsonSchema = shape({
  folders: list(
    shape({
      root: text,
      isProject: flag,
      files: list(
        shape({ path: text, kind: text, added: orNull(whole), removed: orNull(whole), patch: text }),
      ),
    }),
  ),
  unkept: list(text),
});

/** A tree with its figures. */
export const traceShape: JsonSchema = {
  type: "object",
  properties: {
    format: whole,
    session: record,
    originMs: number,
    endMs: number,
    totals: record,
    gaps: list(shape({ startMs: number, endMs: number })),
    runs: list(record),
  },
  required: ["format", "session", "originMs", "endMs", "totals", "gaps", "runs"],
};

/** When model and tool calls began and ended, in columns. */
export const momentShape: JsonSchema = shape({
  runIds: list(text),
  tools: list(text),
  run: list(whole),
  tool: list(orNull(whole)),
  startedAtMs: list(number),
  endedAtMs: list(orNull(number)),
  tokens: list(number),
  costUsd: list(orNull(number)),
  next: orNull(whole),
});

const problem = shape({ severity: text, file: text, line: whole, code: text, message: text, fix: text });

/** What a health check found. */
export const healthShape: JsonSchema = shape({
  checks: list(
    shape({
      check: text,
      verdict: oneOf("ok", "warning", "problem", "skipped"),
      summary: text,
      "details?": list(text),
      "remedy?": text,
    }),
  ),
  problems: list(problem),
});

/** Figures over many runs. */
export const statsShape: JsonSchema = shape({
  groups: list(record),
  total: record,
  days: list(shape({ day: text, runs: whole, successes: whole, costUsd: orNull(number), tokens: number })),
});
