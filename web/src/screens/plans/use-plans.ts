import { useQuery } from "@tanstack/react-query";
import type { ExecutionPlan, PlanList } from "../../../../src/schema/api/inspect.ts";
import { api } from "../../api/client.ts";
import { queryClient, renew } from "../../api/queries.ts";

const WATCH_MS = 2_000;

/** Where a plan is. */
export function planPath(id: string): string {
  return `/api/plans/${encodeURIComponent(id)}`;
}

/** All plans of the project, the last changed first; looked at again and again while one is being made or carried out. */
export function usePlans(isAwaited: boolean) {
  return useQuery({
    queryKey: ["plans"],
    queryFn: () => api.get<PlanList>("/api/plans"),
    refetchInterval: ({ state: { data } }) =>
      isAwaited || data?.plans.some(({ status }) => status === "running") ? WATCH_MS : false,
  });
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
