import { loadOutline } from "../../runtime/trace/load-trace.ts";
import type { MomentList, TraceView } from "../../schema/api/inspect.ts";
import type { SessionDetail, SessionList, StepList } from "../../schema/api/session.ts";
import { digits, numberOf } from "../api/digits.ts";
import { momentShape, traceShape } from "../api/inspect-shapes.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { sessionCard as cardShape, runShape, sessionState, stepList } from "../api/session-shapes.ts";
import { flag, list, oneOf, orNull, shape, text, whole } from "../api/shapes.ts";
import { ownSession } from "../own-project.ts";
import { findSessions, GROUPS, type WantedSessions } from "../views/find-sessions.ts";
import { outlineTrace } from "../views/outline-trace.ts";
import { readMoments } from "../views/read-moments.ts";
import { readSteps } from "../views/read-steps.ts";
import { runView } from "../views/run-view.ts";
import { sessionCard } from "../views/session-card.ts";

const MOST_SESSIONS = 500;
const MOST_STEPS = 1_000;
const MOST_MOMENTS = 20_000;

const states: readonly string[] = Array.isArray(sessionState.enum) ? sessionState.enum : [];

/** Lists sessions, and shows one with its runs. */
export const sessionRoutes: readonly Route[] = [
  defineRoute<{ search?: string; state?: WantedSessions["state"]; limit?: string; since?: string }>({
    method: "get",
    path: "/api/sessions",
    summary: "Sessions of this project, the last changed first.",
    query: shape({
      "search?": { type: "string", maxLength: 500 },
      "state?": oneOf(...GROUPS, ...states),
      "limit?": digits,
      "since?": digits,
    }),
    answer: shape({ sessions: list(cardShape), "hasMore?": flag, "searchedOnly?": whole }),
    handle: ({ query: { search, state, limit, since } }, desk): SessionList =>
      findSessions(desk, {
        search,
        state,
        limit: numberOf(limit, { otherwise: 100, least: 1, most: MOST_SESSIONS }),
        sinceMs: since === undefined ? undefined : Number(since),
      }),
  }),
  defineRoute<{ after?: string; limit?: string }>({
    method: "get",
    path: "/api/sessions/:id",
    summary: "A session with its runs, all or some; what comes later is told by its stream.",
    query: shape({ "after?": digits, "limit?": digits }),
    answer: shape({ session: cardShape, runs: list(runShape), seq: whole, next: orNull(whole) }),
    handle({ params: { id = "" }, query: { after, limit } }, desk): SessionDetail {
      const row = ownSession(desk, id);
      const { store } = desk.runtime;
      // Before the runs are read: what comes in between is told twice rather than never.
      const seq = store.lastSeq(id);
      const most = limit === undefined ? undefined : Math.max(1, Number(limit));
      const outline = store.runOutline(id, {
        after: Number(after ?? 0),
        ...(most !== undefined && { limit: most + 1 }),
      });
      const runs = outline.slice(0, most).map((run) => runView(run, run.parent_run_id));
      const next = outline.length > runs.length ? (runs.at(-1)?.openedSeq ?? null) : null;
      return { session: sessionCard(desk, row), runs, seq, next };
    },
  }),
  defineRoute<{ run?: string; after?: string; limit?: string }>({
    method: "get",
    path: "/api/sessions/:id/steps",
    summary: "Model and tool calls of a session or of one of its runs, in the order they opened.",
    query: shape({ "run?": text, "after?": digits, "limit?": digits }),
    answer: stepList,
    handle: ({ params: { id = "" }, query: { run, after, limit } }, desk): StepList =>
      readSteps(desk.runtime.store, ownSession(desk, id), {
        runId: run,
        after: Number(after ?? 0),
        limit: numberOf(limit, { otherwise: 200, least: 1, most: MOST_STEPS }),
      }),
  }),
  defineRoute<{ after?: string; limit?: string }>({
    method: "get",
    path: "/api/sessions/:id/moments",
    summary: "When each model and tool call of a session began and ended, without their texts.",
    query: shape({ "after?": digits, "limit?": digits }),
    answer: momentShape,
    handle: ({ params: { id = "" }, query: { after, limit } }, desk): MomentList =>
      readMoments(desk.runtime.store, ownSession(desk, id).session_id, {
        after: Number(after ?? 0),
        limit: numberOf(limit, { otherwise: MOST_MOMENTS, least: 1, most: MOST_MOMENTS }),
      }),
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/trace",
    summary: "The tree of runs with its figures and lanes, without turns and calls.",
    answer: traceShape,
    handle: ({ params: { id = "" } }, desk): TraceView =>
      outlineTrace(loadOutline(desk.runtime.store, ownSession(desk, id)).trace),
  }),
];
