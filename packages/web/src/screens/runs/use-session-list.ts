import type { SessionList } from "@retinue/core/schema/api/session";
import type { SessionGroup } from "@retinue/core/show/standing";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import { useLocation } from "wouter";
import { api, withQuery } from "../../data/client.ts";
import { tell } from "../../ui/toast.tsx";
import { useAddress, useChoice, useParam } from "../../ui/use-address.ts";
import { countGroups, GROUPS, listLines } from "./group-sessions.ts";

const DAY_MS = 86_400_000;

/** How far back the list goes. */
export const PERIODS = [
  { value: "", name: "Any time", ms: null },
  { value: "day", name: "Last 24 hours", ms: DAY_MS },
  { value: "week", name: "Last 7 days", ms: 7 * DAY_MS },
  { value: "month", name: "Last 30 days", ms: 30 * DAY_MS },
] as const;

const ANY_GROUP = [{ value: "" }, ...GROUPS] as const;

/** The filters, which live in the address. */
export function useRunFilters() {
  const [search, setSearch] = useParam("q");
  const [only, setOnly] = useChoice<SessionGroup | "">("state", ANY_GROUP, "", { replace: false });
  const [since, setSince] = useChoice("since", PERIODS, "", { replace: false });
  return { search, setSearch, only, setOnly, since, setSince };
}

/** So many sessions the server lists at once. */
const MOST = 500;

function useSessions(search: string, since: string, state: SessionGroup | "", isWanted: boolean) {
  return useQuery({
    queryKey: ["sessions", "list", search, since, state],
    queryFn: () => {
      const ms = PERIODS.find(({ value }) => value === since)?.ms;
      const query = { search, since: ms ? Date.now() - ms : undefined, state, limit: MOST };
      return api.get<SessionList>(withQuery("/api/sessions", query));
    },
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
}

/** The sessions that fit the filters, and how many each group has. The news stream says when they are out of date. */
export function useSessionList({ search, only, since }: ReturnType<typeof useRunFilters>) {
  const all = useSessions(search, since, "", true);
  // Among the newest of all there may be few of a group; asked for by itself it has more.
  const some = useSessions(search, since, only, only !== "");
  const query = only === "" ? all : some;
  const sessions = query.data?.sessions;
  const newest = all.data?.sessions;
  const counts = useMemo(() => countGroups(newest ?? []), [newest]);
  const lines = useMemo(() => listLines(sessions ?? [], only || null), [sessions, only]);
  return {
    query,
    sessions,
    counts,
    lines,
    isCut: query.data?.hasMore === true,
    /** There are more sessions than were counted. */
    areCountsCut: all.data?.hasMore === true,
  };
}

/** The address of the list with these sessions ticked. */
export function tickedPath(ids: readonly string[]): string {
  return withQuery("/runs", { ticked: ids.join(",") });
}

/** Sessions that were ticked to be compared or deleted, which live in the address. */
export function useTicks() {
  const { params, change } = useAddress();
  const [, go] = useLocation();
  const text = params.get("ticked");
  const ticked = useMemo(() => [...new Set((text ?? "").split(",").filter(Boolean))], [text]);
  const set = (ids: readonly string[]) => change({ ticked: ids.join(",") });
  const latest = useRef((_: string) => {});
  latest.current = (id) => set(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id]);
  const compare = () => {
    const [a, b, ...more] = ticked;
    if (a === undefined || b === undefined)
      tell("Tick two sessions first: Space ticks the one that has the focus.");
    else if (more.length > 0) tell(`Two sessions are compared, and ${ticked.length} are ticked.`);
    else go(withQuery("/compare", { a, b }));
  };
  return {
    ticked,
    /** The same function each time, so that rows are drawn again only when something about them changed. */
    toggle: useCallback((id: string) => latest.current(id), []),
    clear: () => set([]),
    compare,
  };
}
