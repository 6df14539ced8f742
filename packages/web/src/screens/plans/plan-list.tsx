import type { ExecutionPlan, PlanStatus as Status } from "@retinue/core/schema/plan";
import { showCount } from "@retinue/core/show/measures";
import { BadgeCheck, CircleCheck, CircleX, LoaderCircle, PencilLine } from "lucide-react";
import type { ComponentType } from "react";
import { Link } from "wouter";
import { useNow } from "../../live/signal.ts";
import { join } from "../../ui/class-names.ts";
import { showAge } from "../../ui/show-moment.ts";
import { revealHidden } from "../../ui/text/visible-text.ts";

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
              href={`/plans/${encodeURIComponent(id)}`}
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

type Look = { word: string; tone: string; icon: ComponentType<{ className?: string }> };

const LOOKS: Readonly<Record<Status, Look>> = {
  draft: { word: "draft", tone: "text-off bg-off-soft", icon: PencilLine },
  approved: { word: "approved", tone: "text-accent bg-accent-soft", icon: BadgeCheck },
  running: { word: "running", tone: "text-run bg-run-soft", icon: LoaderCircle },
  completed: { word: "done", tone: "text-ok bg-ok-soft", icon: CircleCheck },
  failed: { word: "failed", tone: "text-bad bg-bad-soft", icon: CircleX },
};

/** How far a plan is, as icon and word. */
export function PlanStatusBadge({ status }: { status: Status }) {
  const { word, tone, icon: Icon } = LOOKS[status];
  return (
    <span
      data-status={status}
      className={join(
        "inline-flex h-5 shrink-0 items-center gap-1 rounded-full px-1.5 text-2xs font-medium whitespace-nowrap",
        tone,
      )}
    >
      <Icon
        aria-hidden
        className={join("size-3.5", status === "running" && "animate-spin [animation-duration:1.6s]")}
      />
      {word}
    </span>
  );
}
