import { resolve } from "node:path";
import { sessionState } from "../../runtime/trace/session-state.ts";
import type { SessionQuery, SessionSummary } from "../../schema/inspect/session-summary.ts";
import type { SessionState } from "../../schema/inspect/trace.ts";
import type { Store } from "../../store/create-store.ts";
import { sayMore } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { canvasFor } from "../trace/canvas.ts";
import { withRecord } from "../trace/open-record.ts";
import { drawSessions } from "./draw-sessions.ts";

/** Options of `retinue sessions`. */
export type SessionsOptions = CommonOptions & {
  limit: number;
  search?: string;
  /** True for the folder at hand. */
  project?: string | true;
  status?: SessionState;
  since?: number;
};

/** `retinue sessions`. */
export async function listSessions(options: SessionsOptions, terminal: Terminal): Promise<void> {
  const found = await withRecord(terminal, (store) => findSessions(store, options, terminal));
  const { sessions, hasMore, searchedOnly } = found ?? { sessions: [], hasMore: false };
  if (options.json) terminal.print(JSON.stringify(sessions, null, 2));
  else if (sessions.length === 0) terminal.print(sayNone(options, terminal));
  else terminal.print(drawSessions(sessions, { nowMs: Date.now(), canvas: canvasFor(terminal) }).join("\n"));
  if (hasMore) terminal.tell(sayMore(options.limit));
  if (searchedOnly !== undefined)
    terminal.tell(
      `hint: only the latest ${searchedOnly.toLocaleString("en-US")} sessions were searched; narrow with --project or --since`,
    );
}

type Listed = { sessions: SessionSummary[]; hasMore: boolean; searchedOnly?: number };

function findSessions(store: Store, options: SessionsOptions, terminal: Terminal): Listed {
  const { limit, status } = options;
  const query = queryOf(options, terminal);
  // Waiting and interrupted are what the record calls running.
  const isOpen = status === "running" || status === "waiting" || status === "interrupted";
  const wanted: SessionQuery = {
    ...query,
    // One more says whether there are more; which are open as wanted, only a look at each can tell.
    limit: isOpen ? -1 : limit + 1,
    ...(status !== undefined && { status: isOpen ? "running" : status }),
  };
  const { sessions, ...more } = store.searchSessions(wanted);
  const stated = sessions.map((row) => ({ ...row, state: sessionState(store, row) }));
  const fitting = isOpen ? stated.filter(({ state }) => state === status) : stated;
  const shown = fitting.slice(0, limit);
  return {
    sessions: shown.map((row) => ({ ...row, ...store.sessionFigures(row.session_id) })),
    hasMore: fitting.length > limit,
    ...more,
  };
}

function queryOf({ search, project, since, cwd }: SessionsOptions, terminal: Terminal): SessionQuery {
  const here = resolve(terminal.cwd, cwd ?? ".");
  // The folder need not be there any more for its record to be of interest.
  const folder = project === true || (project === undefined && cwd !== undefined) ? here : project;
  return {
    ...(search !== undefined && { search }),
    ...(folder !== undefined && { project: resolve(here, folder) }),
    ...(since !== undefined && { sinceMs: since }),
  };
}

function sayNone({ search, status, since, ...rest }: SessionsOptions, terminal: Terminal): string {
  const { project } = queryOf(rest, terminal);
  const filters = [
    search ? `with '${plainLine(search, 100)}'` : "",
    project === undefined ? "" : `in ${plainLine(project, 200)}`,
    status === undefined ? "" : `that is ${status}`,
    since === undefined ? "" : `since ${new Date(since).toISOString()}`,
  ].filter(Boolean);
  if (filters.length > 0) return `no session ${filters.join(" ")}`;
  return 'no sessions yet; start one with: retinue "what to do"';
}
