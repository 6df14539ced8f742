import { join, resolve } from "node:path";
import { findPlaces } from "../../runtime/project/places.ts";
import type { Stats, StatsBy, StatsQuery } from "../../schema/stats.ts";
import type { Store } from "../../store/create-store.ts";
import { summariseRuns } from "../../store/stats/summarise-runs.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { findSession, noSessions } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";
import { drawStats } from "./draw-stats.ts";

/** Options of `retinue stats`. */
export type StatsOptions = CommonOptions & {
  by: StatsBy;
  since?: number;
  session?: string;
  agent?: string;
  model?: string;
};

const MAX_LISTED = 20;

/** `retinue stats`: figures by role and model, read from the database alone. */
export async function showStats(options: StatsOptions, terminal: Terminal): Promise<void> {
  const { by, session } = options;
  const found = await withRecord(terminal, (store) => {
    const query = queryOf(options, store, terminal);
    const stats = store.stats(query);
    return { stats, empty: stats.total.runs > 0 ? [] : sayEmpty(query, store) };
  });
  if (!found && session !== undefined) throw noSessions(session);
  const { stats, empty } = found ?? { stats: summariseRuns([], [], by), empty: ["no runs yet"] };
  if (options.json) return terminal.print(JSON.stringify(stats, null, 2));
  if (stats.total.runs === 0) return terminal.print(empty.join("\n"));
  terminal.print(
    [...drawStats(stats, by, terminal.columns ?? undefined), ...sayUnpriced(stats, terminal)].join("\n"),
  );
}

function queryOf(options: StatsOptions, store: Store, terminal: Terminal): StatsQuery {
  const { by, since, session, agent, model, cwd } = options;
  return {
    by,
    ...(since !== undefined && { sinceMs: since }),
    ...(session !== undefined && { sessionId: findSession(store, session, options, terminal).session_id }),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    // The folder need not be there any more for its record to be of interest.
    ...(cwd !== undefined && { project: resolve(terminal.cwd, cwd) }),
  };
}

/** That there is nothing, for what, and which names there would have been. */
function sayEmpty({ by: _, ...query }: StatsQuery, store: Store): string[] {
  const { sinceMs, sessionId, agent, model, project } = query;
  const filters = [
    agent === undefined ? "" : `of agent '${agent}'`,
    model === undefined ? "" : `on model '${model}'`,
    sinceMs === undefined ? "" : `since ${new Date(sinceMs).toISOString()}`,
    sessionId === undefined ? "" : `in session ${sessionId}`,
    project === undefined ? "" : `in project ${project}`,
  ].filter(Boolean);
  if (filters.length === 0) return ["no runs yet"];
  const lines = [`no runs ${plainLine(filters.join(", "), 300)}`];
  if (agent !== undefined) lines.push(...sayRecorded("agents", store.stats({ by: "role" })));
  if (model !== undefined) lines.push(...sayRecorded("models", store.stats({ by: "model" })));
  return lines;
}

function sayRecorded(things: string, { groups }: Stats): string[] {
  const names = groups.map(({ role, model }) => role ?? model).filter((name) => typeof name === "string");
  return names.length === 0 ? [] : [`recorded ${things}: ${listOf(names)}`];
}

function sayUnpriced({ total: { unpricedModels } }: Stats, terminal: Terminal): string[] {
  const [first] = unpricedModels;
  if (first === undefined) return [];
  const file = join(findPlaces(terminal.env).configDir, "settings.json");
  const example = `{"prices": {${JSON.stringify(plainLine(first, 100))}: {"input": 0.5, "output": 1.5}}}`;
  return [
    "",
    `$? is a cost that is not known, for want of a price of: ${listOf(unpricedModels)}`,
    `hint: add prices in USD per million tokens to ${file}, such as ${example}; they count for later runs`,
  ];
}

function listOf(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  const listed = names.slice(0, MAX_LISTED).map((name) => plainLine(name, 100));
  return `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
