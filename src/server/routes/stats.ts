import type { StatsView } from "../../schema/api/inspect.ts";
import { STATS_BY, type StatsBy, type StatsQuery } from "../../schema/stats.ts";
import { digits } from "../api/digits.ts";
import { statsShape } from "../api/inspect-shapes.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { oneOf, shape } from "../api/shapes.ts";
import { projectOf } from "../own-project.ts";

/** Figures by role and model. */
export const statsRoutes: readonly Route[] = [
  defineRoute<{ since?: string; by?: StatsBy }>({
    method: "get",
    path: "/api/stats",
    summary:
      "How often runs of this project succeeded, how long they took and what they spent; also by day (UTC).",
    query: shape({ "since?": digits, "by?": oneOf(...STATS_BY) }),
    answer: statsShape,
    async handle({ query: { since, by } }, desk): Promise<StatsView> {
      const query: StatsQuery = {
        project: projectOf(desk),
        ...(since !== undefined && { sinceMs: Math.min(Number(since), Date.now()) }),
        ...(by !== undefined && { by }),
      };
      const { store } = desk.runtime;
      if (desk.stats) return desk.stats.read(query);
      return { ...store.stats(query), days: store.statsByDay(query) };
    },
  }),
];
