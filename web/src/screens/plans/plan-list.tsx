import { Link } from "wouter";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { useNow } from "../../live/use-now.ts";
import { join } from "../../ui/join.ts";
import { countOf, showAge } from "../../ui/measures.ts";
import { visibleText } from "../../ui/text/visible-text.ts";
import { PlanStatus } from "./plan-status.tsx";

/** The plans, the last changed first. */
export function PlanList({ plans, chosen }: { plans: readonly ExecutionPlan[]; chosen: string | null }) {
  const now = useNow(true);
  if (plans.length === 0) return <p className="px-4 py-3 text-sm text-ink-2">No plans yet.</p>;
  return (
    <ul>
      {plans.map(({ id, goal, status, steps, results, updatedAtMs }) => {
        const done = results.filter(({ success, replaced }) => success && !replaced).length;
        return (
          <li key={id} className="[contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
            <Link
              href={`/plans/${encodeURIComponent(id)}`}
              aria-current={id === chosen ? "true" : undefined}
              className={join(
                "grid gap-1 border-b border-line px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2",
                id === chosen && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <span className="line-clamp-2 text-sm font-medium wrap-anywhere">{visibleText(goal)}</span>
              <span className="figures flex items-center gap-2 text-2xs text-ink-3">
                <PlanStatus status={status} />
                {results.length > 0
                  ? `${done} of ${countOf(steps.length, "step")} done`
                  : countOf(steps.length, "step")}
                <span className="ml-auto">{showAge(updatedAtMs, now)}</span>
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
