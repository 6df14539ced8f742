import type { StatsView } from "@retinue/core/schema/api/inspect";
import type { StatsBy } from "@retinue/core/schema/stats";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import { api, withQuery } from "../../data/client.ts";

const DAY_MS = 86_400_000;

/** Spans of time that can be looked at, by the word in the address, and the days that are drawn of each at least. */
export const RANGES = [
  { range: "24h", name: "24 h", days: 1, drawn: 2 },
  { range: "7d", name: "7 d", days: 7, drawn: 7 },
  { range: "30d", name: "30 d", days: 30, drawn: 30 },
  { range: "all", name: "All", days: null, drawn: 14 },
] as const;

/** One of those. */
export type StatsRange = (typeof RANGES)[number]["range"];

/** Ways to group. */
export const GROUPINGS = [
  { by: "role", name: "Agent" },
  { by: "model", name: "Model" },
  { by: "both", name: "Both" },
] as const satisfies { by: StatsBy; name: string }[];

/** What is looked at, as the address says it. */
type StatsChoice = { range: StatsRange; by: StatsBy };

/** The choice, and how to change a part of it. */
export function useStatsChoice(): [StatsChoice, (change: Partial<StatsChoice>) => void] {
  const [params, setParams] = useSearchParams();
  const range = RANGES.find((one) => one.range === params.get("range"))?.range ?? "30d";
  const by = GROUPINGS.find((one) => one.by === params.get("by"))?.by ?? "role";
  const change = (wanted: Partial<StatsChoice>) =>
    setParams((before) => {
      for (const [name, value] of Object.entries(wanted)) before.set(name, value);
      return before;
    });
  return [{ range, by }, change];
}

/** The figures; those of another choice stay on the page until the new ones are there. */
export function useStats({ range, by }: StatsChoice) {
  return useQuery({
    queryKey: ["stats", range, by],
    queryFn: () => api.get<StatsView>(withQuery("/api/stats", { by, since: findStart(range) })),
    placeholderData: (before) => before,
    staleTime: 10_000,
    refetchInterval: 20_000,
  });
}

function findStart(range: StatsRange): number | undefined {
  const days = RANGES.find((one) => one.range === range)?.days;
  return days ? Date.now() - days * DAY_MS : undefined;
}
