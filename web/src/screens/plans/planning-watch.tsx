import { useQuery } from "@tanstack/react-query";
import { CircleX, LoaderCircle } from "lucide-react";
import { useEffect } from "react";
import { Link, useLocation } from "wouter";
import type { SessionDetail } from "../../../../src/schema/api/session.ts";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { api } from "../../api/client.ts";
import { Failed } from "../../ui/states.tsx";

const OPEN = ["running", "waiting", "pending"];

/** Waits for the plan that a session makes, and opens it; says so if the session ends without one. */
export function PlanningWatch({ sessionId, plans }: { sessionId: string; plans: readonly ExecutionPlan[] }) {
  const [, go] = useLocation();
  const made = plans.find(({ planning }) => planning.sessionId === sessionId);
  const { data, error, refetch } = useQuery({
    queryKey: ["sessions", sessionId, "planning"],
    queryFn: () => api.get<SessionDetail>(`/api/sessions/${encodeURIComponent(sessionId)}`),
    refetchInterval: 2_000,
  });
  useEffect(() => {
    if (made) go(`/plans/${encodeURIComponent(made.id)}`, { replace: true });
  }, [made, go]);
  if (error) return <Failed failure={error} onRetry={() => void refetch()} />;
  const state = data?.session.state ?? "running";
  const isOver = !OPEN.includes(state);
  const [root] = data?.runs ?? [];
  return (
    <div role="status" className="mx-auto grid w-full max-w-2xl gap-3 px-4 py-8">
      <div className="flex items-start gap-3 rounded-lg border border-line bg-panel p-4">
        {isOver ? (
          <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        ) : (
          <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-run" />
        )}
        <div className="grid min-w-0 gap-1 text-sm">
          <p className="font-semibold">
            {isOver ? "Planning ended without a plan" : "The planner is at work"}
          </p>
          <p className="wrap-anywhere text-ink-2">
            {isOver
              ? (root?.error ?? root?.summary ?? "See what was tried in its session.")
              : state === "waiting"
                ? "It waits for your answer to a question."
                : "The plan opens here as soon as it is there."}
          </p>
          <p className="flex flex-wrap gap-x-4 gap-y-1 pt-1 text-xs">
            <Link href={`/chat/${encodeURIComponent(sessionId)}`} className="text-accent underline">
              {isOver ? "See what was tried" : "Watch it"}
            </Link>
            {state === "waiting" && (
              <Link href="/approvals" className="text-accent underline">
                Answer
              </Link>
            )}
            {isOver && (
              <Link href="/plans/new" className="text-accent underline">
                Try again
              </Link>
            )}
          </p>
        </div>
      </div>
    </div>
  );
}
