import type { Record } from "@retinue/core/record/record";
import { MomentList, TraceView } from "@retinue/core/schema/api/inspect";
import { type SessionCard, SessionDetail, SessionList, StepList } from "@retinue/core/schema/api/session";
import { SESSION_STATES, type SessionState } from "@retinue/core/schema/inspect/trace";
import { digits, oneOf, shape, text, textWith } from "@retinue/core/schema/shape";
import { outlineTrace } from "@retinue/core/show/outline-trace";
import { groupSession } from "@retinue/core/show/standing";
import { loadOutline } from "@retinue/core/trace/load-trace";
import { momentOf } from "@retinue/core/trace/trace-row";
import { ownSession, readProjectFolder, type ServerDesk } from "../desk.ts";
import { cutPage, PAGED, readPageSize, readPaging } from "../http/paging.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { MOST_STEPS, readSteps, runView, USUAL_STEPS } from "../views/run-view.ts";
import { readSessionCard } from "../views/session-card.ts";

/** Groups of states that the list of runs is divided into. */
const GROUPS = ["needsYou", "running", "done"] as const;

const MOST_SESSIONS = 500;
const MOST_MOMENTS = 20_000;

/** Lists sessions, shows one with its runs, and streams what happens. */
export const sessionRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/sessions",
    summary: "Sessions of this project, the last changed first.",
    query: shape({
      "search?": textWith({ maxLength: 500 }),
      "state?": oneOf(...GROUPS, ...SESSION_STATES),
      "limit?": digits,
      "since?": digits,
    }),
    answer: SessionList,
    handle: ({ query: { search, state, limit, since } }, desk) =>
      findSessions(desk, {
        search,
        state,
        limit: readPageSize(limit, 100, MOST_SESSIONS),
        sinceMs: since === undefined ? undefined : Number(since),
      }),
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id",
    summary: "A session with its runs, all or some; what comes later is told by its stream.",
    query: PAGED,
    answer: SessionDetail,
    async handle({ params: { id }, query: { after, limit } }, desk) {
      const row = await ownSession(desk, id);
      const { record } = desk.runtime;
      // Before the runs are read: what comes in between is told twice rather than never.
      const seq = await record.readLastSeq(id);
      const most = limit === undefined ? undefined : Math.max(1, Number(limit));
      const outline = await record.readOutline({
        sessionId: id,
        after: Number(after ?? 0),
        ...(most !== undefined && { limit: most + 1 }),
      });
      const { page, next } = cutPage(outline, most, (run) => run.opened_seq);
      const runs = page.map((run) => runView(run, run.parent_run_id));
      return { session: await readSessionCard(desk, row), runs, seq, next };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/steps",
    summary: "Model and tool calls of a session or of one of its runs, in the order they opened.",
    query: shape({ "run?": text, "after?": digits, "limit?": digits }),
    answer: StepList,
    handle: async ({ params: { id }, query: { run, ...paged } }, desk) =>
      readSteps(desk.runtime.record, await ownSession(desk, id), {
        runId: run,
        ...readPaging(paged, USUAL_STEPS, MOST_STEPS),
      }),
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/moments",
    summary: "When each model and tool call of a session began and ended, without their texts.",
    query: PAGED,
    answer: MomentList,
    handle: async ({ params: { id }, query }, desk) =>
      readMoments(
        desk.runtime.record,
        (await ownSession(desk, id)).session_id,
        readPaging(query, MOST_MOMENTS),
      ),
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/trace",
    summary: "The tree of runs with its figures and lanes, without turns and calls.",
    answer: TraceView,
    handle: async ({ params: { id } }, desk) =>
      outlineTrace((await loadOutline(desk.runtime.record, await ownSession(desk, id))).trace),
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/events",
    summary:
      "What happens in a session, as server-sent events: first everything after a seq, then as it comes.",
    query: shape({ "after?": digits }),
    answers: "text/event-stream",
    handle({ params: { id }, query: { after }, headers, signal }, { feeds }) {
      return feeds.session(id, lastSeen(headers) ?? Number(after ?? 0), signal);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/events",
    summary: "What lists may want to load again, as server-sent events.",
    answers: "text/event-stream",
    handle: ({ signal }, { feeds }) => feeds.news(signal),
  }),
];

/** What a browser that comes back saw last; it repeats the address it first asked with. */
function lastSeen(headers: Headers): number | undefined {
  const id = headers.get("last-event-id") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/** Which sessions of the project are wanted. */
type WantedSessions = {
  search?: string | undefined;
  state?: SessionState | (typeof GROUPS)[number] | undefined;
  sinceMs?: number | undefined;
  limit: number;
};

/** All that have not ended are looked at for one of the states that only a look can tell. */
const OPEN: readonly string[] = ["needsYou", "running", "waiting", "interrupted"];

/** Finds sessions of this project, the last changed first. */
async function findSessions(
  desk: Pick<ServerDesk, "runtime" | "project">,
  { search, state, sinceMs, limit }: WantedSessions,
): Promise<SessionList> {
  const isOpen = state !== undefined && OPEN.includes(state);
  const isEnded = state !== undefined && state !== "done" && !isOpen;
  const { sessions, searchedOnly } = await desk.runtime.record.listSessions({
    project: readProjectFolder(desk),
    // One more says whether there are more.
    limit: isOpen ? -1 : limit + 1,
    ...(search !== undefined && { search }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(isOpen && { status: "running" as const }),
    ...(state === "done" && { status: "ended" as const }),
    ...(isEnded && { status: state as Exclude<SessionState, "waiting" | "interrupted"> }),
  });
  const cards: SessionCard[] = [];
  for (const row of sessions) {
    if (cards.length > limit) break;
    const card = await readSessionCard(desk, row);
    if (fits(card, state)) cards.push(card);
  }
  return {
    sessions: cards.slice(0, limit),
    ...(cards.length > limit && { hasMore: true }),
    ...(searchedOnly !== undefined && { searchedOnly }),
  };
}

/** Whether a session is in a group or has a state. */
function fits(card: SessionCard, wanted: WantedSessions["state"]): boolean {
  // What has ended was asked for as such.
  if (wanted === undefined || wanted === "done") return true;
  return wanted === "needsYou" || wanted === "running"
    ? groupSession(card) === wanted
    : card.state === wanted;
}

/** A page of when the model and tool calls of a session began and ended. */
async function readMoments(
  record: Pick<Record, "readMoments">,
  sessionId: string,
  { after, limit }: { after: number; limit: number },
): Promise<MomentList> {
  const found = await record.readMoments({ sessionId, after, limit: limit + 1 });
  const { page, next } = cutPage(found, limit, ({ seq }) => seq);
  const runs = new Map<string, number>();
  const tools = new Map<string, number>();
  const columns = {
    run: page.map(({ runId }) => placeIn(runs, runId)),
    tool: page.map(({ tool }) => (tool === null ? null : placeIn(tools, tool))),
    startedAtMs: page.map(({ startedAt }) => momentOf(startedAt)),
    endedAtMs: page.map(({ endedAt }) => (endedAt === null ? null : momentOf(endedAt))),
    tokens: page.map(({ tokens }) => tokens),
    costUsd: page.map(({ costUsd }) => costUsd),
  };
  return { runIds: [...runs.keys()], tools: [...tools.keys()], ...columns, next };
}

/** The place of a name in a list that grows. */
function placeIn(names: Map<string, number>, name: string): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  names.set(name, names.size);
  return names.size - 1;
}
