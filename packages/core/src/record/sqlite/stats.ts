import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { DayStats, StatsQuery, WorkFigures } from "../../schema/stats.ts";
import { encodeText } from "../lossless-text.ts";
import type { StatsByDay } from "../record.ts";
import { type RecordedCalls, type RunFigures, summariseRuns } from "../stats/summarise-runs.ts";
import { Conditions, IS_RUN, iterateArrays, prepareArrays, readStoredText } from "./sql.ts";

/** A value inside a run's metadata; other programs may have stored what is no JSON. */
const inMetadata = (path: string) =>
  `CASE WHEN json_valid(run.metadata_json) THEN CAST(run.metadata_json ->> '${path}' AS REAL) > 0 ELSE 0 END`;

/** A number inside a run's metadata, at the first of some places that has one. */
const numberIn = (...paths: string[]) =>
  `CASE WHEN json_valid(run.metadata_json) THEN CAST(coalesce(${paths
    .map((path) => `run.metadata_json ->> '$.result.${path}'`)
    .join(", ")}, 0) AS REAL) ELSE 0 END`;

const filesIn = (place: string) =>
  `CASE WHEN json_valid(run.metadata_json) THEN ${["created", "modified", "deleted"]
    .map((kind) => `coalesce(json_array_length(run.metadata_json, '$.result.${place}files_${kind}'), 0)`)
    .join(" + ")} ELSE 0 END`;

/** REAL, because no value that a row may hold overflows it. */
const RUNS = `SELECT run.agent_role, run.model_id, coalesce(run.status, 'pending'),
    ${inMetadata("$.result.partial")}, ${inMetadata("$.attempt")},
    CAST(run.duration_ms AS REAL), run.bailout_reason, run.run_id,
    CASE WHEN json_valid(run.metadata_json) THEN run.metadata_json ->> '$.parentRun' END,
    ${filesIn("")}, ${numberIn("tests_run")}, ${numberIn("tests_passed")}, ${numberIn("tool_calls_used")},
    max(${filesIn("subtree.")}, ${filesIn("")}), ${numberIn("subtree.tests_run", "tests_run")},
    ${numberIn("subtree.tests_passed", "tests_passed")}, ${numberIn("subtree.tool_calls_used", "tool_calls_used")},
    ${numberIn("tokens.subtree")},
    CASE WHEN json_valid(run.metadata_json) AND json_type(run.metadata_json, '$.result.cost_usd.subtree') = 'null'
      THEN NULL ELSE ${numberIn("cost_usd.subtree")} END
  FROM messages AS run`;

const CALLS = `SELECT run.agent_role, run.model_id, call.model_id,
    total(call.prompt_tokens), total(call.completion_tokens), total(call.total_tokens),
    total(call.cost_usd), total(call.cost_usd IS NULL)
  FROM messages AS run JOIN messages AS call ON call.parent_message_id = run.id
    AND call.request_type = 'continuation' AND call.completed_at IS NOT NULL`;

/** A run that has not ended has no price yet, which makes no cost unknown. */
const DAYS = `SELECT substr(run.started_at, 1, 10), count(*),
    total(run.status = 'completed' AND (${inMetadata("$.result.partial")}) IS NOT 1),
    total(run.cost_usd), total(run.completed_at IS NOT NULL AND run.cost_usd IS NULL), total(run.total_tokens)
  FROM messages AS run`;

/** Reads figures over many runs; a row at a time, for there may be tens of thousands. */
export function readStatsByDay(db: DatabaseSync, query: StatsQuery = {}): StatsByDay {
  const { where, values } = conditionsFor(query);
  const select = (sql: string) => iterateArrays(prepareArrays(db, sql), ...values);
  const runs = mapEach(select(`${RUNS} ${where}`), recordedRun);
  const calls = mapEach(select(`${CALLS} ${where} GROUP BY 1, 2, 3`), recordedCalls);
  const stats = summariseRuns(runs, calls, query.by ?? "both");
  return { ...stats, days: [...mapEach(select(`${DAYS} ${where} GROUP BY 1 ORDER BY 1`), dayStats)] };
}

function conditionsFor({ sinceMs, sessionId, agent, model, project }: StatsQuery): Conditions {
  const encode = (text: string | undefined) => (text === undefined ? undefined : encodeText(text));
  return new Conditions(`run.${IS_RUN}`)
    .add("run.started_at >= ?", sinceMs === undefined ? undefined : new Date(sinceMs).toISOString())
    .add("run.session_id = ?", sessionId)
    .add("run.agent_role = ?", encode(agent))
    .add("run.model_id = ?", encode(model))
    .add("run.session_id IN (SELECT session_id FROM sessions WHERE project = ?)", encode(project));
}

function recordedRun([
  role,
  model,
  status,
  partial,
  retry,
  duration,
  bailout,
  runId,
  parentRunId,
  ...figures
]: readonly SQLOutputValue[]): RunFigures {
  const numbers = figures.map(Number);
  return {
    role: readStoredText(role),
    model: readStoredText(model),
    status: String(status),
    partial: partial === 1,
    retry: retry === 1,
    durationMs: typeof duration === "number" ? duration : null,
    bailout: readStoredText(bailout),
    runId: String(runId),
    parentRunId: readStoredText(parentRunId),
    work: readWork(numbers),
    subtree: {
      ...readWork(numbers.slice(4)),
      tokens: numbers[8] ?? 0,
      costUsd: figures[9] === null ? null : (numbers[9] ?? 0),
    },
  };
}

function readWork([files = 0, testsRun = 0, testsPassed = 0, toolCalls = 0]: readonly number[]): WorkFigures {
  // Records of earlier versions have zeros where no test was counted.
  const tests = testsRun > 0 ? { testsRun, testsPassed } : { testsRun: null, testsPassed: null };
  return { files, ...tests, toolCalls };
}

function dayStats([day, ...figures]: readonly SQLOutputValue[]): DayStats {
  const [runs = 0, successes = 0, costUsd = 0, unpriced = 0, tokens = 0] = figures.map(Number);
  return { day: String(day), runs, successes, costUsd: unpriced > 0 ? null : costUsd, tokens };
}

function recordedCalls([role, model, called, ...sums]: readonly SQLOutputValue[]): RecordedCalls {
  const [inputTokens = 0, outputTokens = 0, totalTokens = 0, costUsd = 0, unpriced = 0] = sums.map(Number);
  return {
    role: readStoredText(role),
    model: readStoredText(model),
    called: readStoredText(called),
    inputTokens,
    outputTokens,
    totalTokens,
    costUsd,
    unpriced,
  };
}

function* mapEach<From, To>(rows: Iterable<From>, read: (row: From) => To): Generator<To> {
  for (const row of rows) yield read(row);
}
