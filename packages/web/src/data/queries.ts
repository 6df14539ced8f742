import type { AgentFace, AgentList, ToolList } from "@retinue/core/schema/api/agent";
import type { ApprovalList } from "@retinue/core/schema/api/approval";
import type { About, RunDetail, TraceView } from "@retinue/core/schema/api/inspect";
import type { SessionDetail } from "@retinue/core/schema/api/session";
import { completeTrace } from "@retinue/core/show/outline-trace";
import {
  keepPreviousData,
  QueryClient,
  type QueryFilters,
  type QueryKey,
  queryOptions,
  type UseQueryOptions,
  useQuery,
} from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { createThrottle } from "../live/signal.ts";
import { ApiFailure, api, encodePart, walkPages } from "./client.ts";

/** What the screens have loaded. The news stream says when a part of it is out of date. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The server is on this machine: it answers without any network.
    queries: {
      networkMode: "always",
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, failure) => failure instanceof ApiFailure && failure.status === 0 && count < 20,
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 4_000),
    },
  },
});

/**
 * Loads again what may be out of date. A load that is under way may have been answered before the change, so what it
 * brings is shown and then loaded once more, even if no screen shows it any longer: its answer would otherwise count as
 * fresh. It is not cut off, because frequent news would keep it from ever ending.
 */
export async function renew(filters: QueryFilters = {}): Promise<void> {
  const underWay = new Set(queryClient.getQueryCache().findAll({ ...filters, fetchStatus: "fetching" }));
  await queryClient.invalidateQueries(filters, { cancelRefetch: false });
  if (underWay.size === 0) return;
  await Promise.allSettled([...underWay].map(({ promise }) => promise));
  await queryClient.invalidateQueries(
    { predicate: (query) => underWay.has(query) },
    { cancelRefetch: false },
  );
}

type FetchedOptions<Answer> = Omit<UseQueryOptions<Answer>, "queryKey" | "queryFn">;

/** What a path of the API answers. The news stream says by the key when it is out of date. */
export function useFetched<Answer>(queryKey: QueryKey, path: string, options?: FetchedOptions<Answer>) {
  return useQuery({ queryKey, queryFn: () => api.get<Answer>(path), ...options });
}

/** What the app must know at its start. */
export function useAbout() {
  return useFetched<About>(["about"], "/api/about", { staleTime: 300_000 });
}

/** All agents with their health. */
export function useAgents() {
  return useFetched<AgentList>(["agents"], "/api/agents");
}

/** Tools and groups that rules may name. */
export function useTools() {
  return useFetched<ToolList>(["tools"], "/api/tools", { staleTime: 600_000 });
}

/** Calls that wait for a person. */
export function useApprovals() {
  return useQuery({ queryKey: ["approvals"], queryFn: loadWaiting });
}

/** All calls that wait for a person, page by page: no question may be left out. */
export async function loadWaiting(): Promise<ApprovalList> {
  const pages = await Array.fromAsync(walkPages<ApprovalList>("/api/approvals", { open: 1 }));
  return { approvals: pages.flatMap(({ approvals }) => approvals), next: null };
}

/** How an agent looks; one that is not known any more still has a name. */
export function useFace(name: string): AgentFace {
  const { data } = useAgents();
  const known = data?.agents.find((agent) => agent.name === name && agent.state !== "shadowed");
  return known ?? { name, displayName: name, icon: null, color: null };
}

/** How a session stands, without its runs. The news stream says when that is out of date. */
export function useSessionDetail(sessionId: string) {
  const path = `/api/sessions/${encodePart(sessionId)}?limit=1`;
  return useFetched<SessionDetail>(["sessions", "one", sessionId], path, { enabled: sessionId !== "" });
}

/** A run, and its end if it has come: what is known of it is then another thing. */
type MaybeEnded = { runId: string; closedSeq: number | null };

/** The request for everything about a run; it is another one once the run has ended. */
export function runDetailQuery({ runId, closedSeq }: MaybeEnded) {
  return queryOptions({
    queryKey: ["run", runId, closedSeq],
    queryFn: () => api.get<RunDetail>(`/api/runs/${runId}`),
  });
}

/** Everything about a run, if it is wanted; read again once it has ended. */
export function useRunDetail(run: MaybeEnded, options: { enabled?: boolean; staleTime?: number } = {}) {
  return useQuery({ ...runDetailQuery(run), placeholderData: keepPreviousData, ...options });
}

const LEAST_WAIT_MS = 1_000;
/** A trace that takes long to load is loaded less often: at most a fifth of the time goes into it. */
const WAIT_PER_LOAD = 4;

/**
 * The tree of a session's runs; their turns, calls and messages are read run by run. `reload` reads it again as soon as that is
 * good for both sides; with `countMs` that is done about so often by itself while something is at work.
 */
export function useTraceQuery(
  sessionId: string,
  { enabled = true, countMs }: { enabled?: boolean; countMs?: number } = {},
) {
  const queryKey = useMemo(() => ["trace", sessionId], [sessionId]);
  const last = useRef({ tookMs: 0, atMs: 0 });
  const query = useQuery({
    queryKey,
    queryFn: async () => {
      const beganMs = performance.now();
      const trace = completeTrace(await api.get<TraceView>(`/api/sessions/${encodePart(sessionId)}/trace`));
      last.current = { tookMs: performance.now() - beganMs, atMs: performance.now() };
      return trace;
    },
    // What is kept from an earlier visit is shown at once, and may be out of date by now.
    staleTime: 0,
    enabled,
    refetchInterval: ({ state: { data } }) =>
      countMs !== undefined &&
      data?.session.state === "running" &&
      Math.max(countMs, last.current.tookMs * 2 * WAIT_PER_LOAD),
  });
  const throttle = useMemo(() => {
    const findWait = () => {
      const { tookMs, atMs } = last.current;
      return atMs + Math.max(LEAST_WAIT_MS, tookMs * WAIT_PER_LOAD) - performance.now();
    };
    return createThrottle(() => void renew({ queryKey }), findWait);
  }, [queryKey]);
  useEffect(() => throttle.stop, [throttle]);
  return { query, reload: throttle.soon };
}
