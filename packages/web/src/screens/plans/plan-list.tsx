import type { PlanList } from "@retinue/core/schema/api/inspect";
import type { ExecutionPlan, PlanStatus } from "@retinue/core/schema/plan";
import { showCount } from "@retinue/core/show/measures";
import { useInfiniteQuery } from "@tanstack/react-query";
import { BadgeCheck, PencilLine } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import { api, encodePart, withQuery } from "../../data/client.ts";
import { queryClient, renew, useFetched } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { join } from "../../ui/class-names.ts";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { showAge } from "../../ui/show-moment.ts";
import { Badge, type BadgeLook, findLook } from "../../ui/status.tsx";

/** The plans, the last changed first. */
export function PlanListPane({ plans, chosen }: { plans: readonly ExecutionPlan[]; chosen: string | null }) {
  const now = useNow(true);
  if (plans.length === 0) return <p className="px-4 py-3 text-sm text-ink-2">No plans yet.</p>;
  return (
    <ul>
      {plans.map(({ id, goal, status, steps, results, updatedAtMs }) => {
        const done = results.filter(({ success, replaced }) => success && !replaced).length;
        return (
          <li key={id} className="[contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
            <Link
              href={`/plans/${encodePart(id)}`}
              aria-current={id === chosen ? "true" : undefined}
              className={join(
                "grid gap-1 border-b border-line px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2",
                id === chosen && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <span className="line-clamp-2 text-sm font-medium wrap-anywhere">{revealHidden(goal)}</span>
              <span className="figures flex items-center gap-2 text-2xs text-ink-3">
                <PlanStatusBadge status={status} />
                {results.length > 0
                  ? `${done} of ${showCount(steps.length, "step")} done`
                  : showCount(steps.length, "step")}
                <span className="ml-auto">{showAge(updatedAtMs, now)}</span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

const LOOKS: Readonly<Record<PlanStatus, BadgeLook>> = {
  draft: { word: "draft", tone: "text-off", soft: "bg-off-soft", icon: PencilLine },
  approved: { word: "approved", tone: "text-accent", soft: "bg-accent-soft", icon: BadgeCheck },
  running: findLook("running"),
  completed: findLook("completed"),
  failed: findLook("failed"),
};

/** How far a plan is, as icon and word. */
export function PlanStatusBadge({ status }: { status: PlanStatus }) {
  return <Badge data-status={status} look={LOOKS[status]} />;
}

const WATCH_MS = 2_000;

/** Where a plan is. */
export function planPath(id: string): string {
  return `/api/plans/${encodePart(id)}`;
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
  return useFetched<ExecutionPlan>(["plans", id], planPath(id), {
    refetchInterval: ({ state: { data } }) => (data?.status === "running" ? WATCH_MS : false),
    retryOnMount: true,
  });
}

/** Puts a plan that the server gave back where the screens look for it. */
export function keepPlan(plan: ExecutionPlan): void {
  queryClient.setQueryData(["plans", plan.id], plan);
  void renew({ queryKey: ["plans"], exact: true });
}
