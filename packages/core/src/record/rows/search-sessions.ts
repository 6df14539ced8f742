import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { SessionFigures, SessionMatch, SessionQuery } from "../../schema/inspect/session-summary.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { FoundSessions } from "../record.ts";
import { SESSION_COLUMNS, sessionRow } from "../session-table.ts";
import { decodeText, encodeText } from "./lossless-text.ts";

/** Finds sessions by what they are and by what was said in them. */
export type SessionSearch = {
  searchSessions(query?: SessionQuery): FoundSessions;
  /** What a session amounts to, from its runs alone. */
  sessionFigures(sessionId: string): SessionFigures;
};

/** Texts are searched in at most this many sessions, the last changed ones, and in this many of their runs. */
const MOST_SEARCHED = 2_000;
const MOST_RUNS_SEARCHED = 100_000;
const MOST_WORDS = 8;
const MOST_WORD_CHARS = 200;
const EXCERPT_CHARS = 120;
const IS_RUN = "request_type IN ('prompt', 'delegation')";

/** Creates the search over a database that has the schema of the record. */
export function createSessionSearch(db: DatabaseSync): SessionSearch {
  const texts = db.prepare(
    `SELECT agent_role, request_content, response_content FROM messages
      WHERE session_id = ? AND ${IS_RUN} ORDER BY opened_seq`,
  );
  const figures = db.prepare(
    `SELECT count(*) AS runs, count(DISTINCT agent_role) AS agents, coalesce(max(agent_depth), 0) AS depth,
      total(total_tokens) AS tokens, total(cost_usd) AS cost,
      total(completed_at IS NOT NULL AND cost_usd IS NULL) AS unpriced
      FROM messages WHERE session_id = ? AND ${IS_RUN}`,
  );
  const roots = db.prepare(
    `SELECT agent_role, started_at, duration_ms FROM messages
      WHERE session_id = ? AND request_type = 'prompt' ORDER BY opened_seq`,
  );

  function searchSessions(query: SessionQuery = {}): FoundSessions {
    const { limit = 50, search = "" } = query;
    const words = splitSearch(search);
    const { where, values } = conditionsOf(query);
    const wanted = limit < 0 ? Number.MAX_SAFE_INTEGER - 1 : limit;
    const most = words.length === 0 ? wanted : MOST_SEARCHED;
    const candidates = db
      .prepare(`SELECT ${SESSION_COLUMNS} FROM sessions ${where} ORDER BY changed DESC LIMIT ?`)
      .all(...values, most + 1)
      .map(sessionRow);
    const sessions: FoundSessions["sessions"] = [];
    const left = { runs: MOST_RUNS_SEARCHED };
    for (const [index, row] of candidates.slice(0, most).entries()) {
      if (sessions.length >= wanted) return { sessions };
      if (left.runs <= 0) return { sessions, searchedOnly: index };
      const match = matchOf(row, words, left);
      if (match) sessions.push(match === "row" ? row : { ...row, found: match });
    }
    const isCut = words.length > 0 && candidates.length > most;
    return { sessions, ...(isCut && { searchedOnly: most }) };
  }

  function matchOf(
    row: SessionRow,
    words: readonly string[],
    left: { runs: number },
  ): SessionMatch | "row" | undefined {
    const head = `${row.title}\n${row.project}\n${row.session_id}`.toLowerCase();
    const missing = new Set(words.filter((word) => !head.includes(word)));
    if (missing.size === 0) return "row";
    for (const run of texts.iterate(row.session_id)) {
      left.runs--;
      const match = matchInRun(run, missing);
      if (match) return match;
    }
    return undefined;
  }

  return {
    searchSessions,
    sessionFigures(sessionId) {
      const sums = figures.get(sessionId) ?? {};
      const tasks = roots.all(sessionId);
      return {
        agent: tasks[0] ? textOf(tasks[0].agent_role) : null,
        runs: Number(sums.runs ?? 0),
        agents: Number(sums.agents ?? 0),
        depth: Number(sums.depth ?? 0),
        tokens: Number(sums.tokens ?? 0),
        cost_usd: Number(sums.unpriced ?? 0) > 0 ? null : Number(sums.cost ?? 0),
        duration_ms: workedMs(tasks),
      };
    },
  };
}

/** Words in lower case; what stands in quotes is one. */
export function splitSearch(search: string): string[] {
  const found = [...search.matchAll(/"([^"]*)"?|(\S+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  const words = found.map((word) => word.trim().toLowerCase().slice(0, MOST_WORD_CHARS)).filter(Boolean);
  return [...new Set(words)].slice(0, MOST_WORDS);
}

function conditionsOf({ project, status, sinceMs, untilMs, afterChange }: SessionQuery): {
  where: string;
  values: SQLInputValue[];
} {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (condition: string, value: string | number | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add("project = ?", project === undefined ? undefined : encodeText(project));
  if (status === "ended") conditions.push("status <> 'running'");
  else add("status = ?", status);
  add("changed > ?", afterChange);
  add("updated_at >= ?", sinceMs === undefined ? undefined : new Date(sinceMs).toISOString());
  add("updated_at < ?", untilMs === undefined ? undefined : new Date(untilMs).toISOString());
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "", values };
}

/** Takes out the words that a run has; where the last one was, if none is left. */
function matchInRun(run: Record<string, SQLOutputValue>, missing: Set<string>): SessionMatch | undefined {
  const places = { task: textOf(run.request_content), answer: textOf(run.response_content) };
  for (const place of ["task", "answer"] as const) {
    const text = places[place] ?? "";
    const lower = text.toLowerCase();
    for (const word of missing) {
      const at = lower.indexOf(word);
      if (at < 0) continue;
      missing.delete(word);
      if (missing.size === 0)
        return { agent: textOf(run.agent_role) ?? "?", in: place, excerpt: excerptOf(text, at) };
    }
  }
  return undefined;
}

/** Some words around a place. Letters whose lower case is longer may move it a little, which does no harm. */
function excerptOf(text: string, at: number): string {
  const from = Math.max(0, at - EXCERPT_CHARS / 3);
  const cut = text
    .slice(from, from + EXCERPT_CHARS)
    .replaceAll(/\s+/g, " ")
    .toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + EXCERPT_CHARS < text.length ? "…" : ""}`;
}

/** The time that any of the tasks took, which may have run at once. */
function workedMs(tasks: readonly Record<string, SQLOutputValue>[]): number {
  let worked = 0;
  let untilMs = 0;
  for (const { started_at: started, duration_ms: duration } of tasks) {
    const fromMs = Date.parse(String(started)) || 0;
    const toMs = fromMs + Math.max(0, Number(duration ?? 0));
    worked += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return worked;
}

function textOf(value: SQLOutputValue | undefined): string | null {
  return typeof value === "string" ? decodeText(value) : null;
}
