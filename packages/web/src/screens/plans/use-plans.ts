import type { PlanList } from "@retinue/core/schema/api/inspect";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, withQuery } from "../../data/client.ts";
import { queryClient, renew } from "../../data/queries.ts";

const WATCH_MS = 2_000;

/** Where a plan is. */
export function planPath(id: string): string {
  return `/api/plans/${encodeURIComponent(id)}`;
}

/**
 * Plans of the project, the last changed first; looked at again and again while one is being made or carried out. There are
 * more as long as `hasNextPage`.
 */
export function usePlans(isAwaited: boolean) {
  const query = useInfiniteQuery({
    queryKey: ["plans"],
    initialPageParam: "",
    queryFn: ({ pageParam }) => api.get<PlanList>(withQuery("/api/plans", { after: pageParam })),
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) =>
      isAwaited || data?.pages.some(({ plans }) => plans.some(isRunning)) ? WATCH_MS : false,
  });
  const pages = query.data?.pages;
  const plans = useMemo(() => pages?.flatMap((page) => page.plans), [pages]);
  return { ...query, plans };
}

function isRunning({ status }: ExecutionPlan): boolean {
  return status === "running";
}

/** One plan, kept up to date while it is carried out. */
export function usePlan(id: string) {
  return useQuery({
    queryKey: ["plans", id],
    queryFn: () => api.get<ExecutionPlan>(planPath(id)),
    refetchInterval: ({ state: { data } }) => (data?.status === "running" ? WATCH_MS : false),
    retryOnMount: true,
  });
}

/** Puts a plan that the server gave back where the screens look for it. */
export function keepPlan(plan: ExecutionPlan): void {
  queryClient.setQueryData(["plans", plan.id], plan);
  void renew({ queryKey: ["plans"], exact: true });
}
