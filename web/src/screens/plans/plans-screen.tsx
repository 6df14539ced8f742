import { Plus } from "lucide-react";
import { Link, useParams, useSearchParams } from "wouter";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { join } from "../../ui/join.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { NewPlan } from "./new-plan.tsx";
import { PlanList } from "./plan-list.tsx";
import { PlanView } from "./plan-view.tsx";
import { PlanningWatch } from "./planning-watch.tsx";
import { usePlans } from "./use-plans.ts";

/** Plans: goals cut into steps, which a person sees and changes before agents carry them out. */
export default function PlansScreen() {
  const { id } = useParams<{ id?: string }>();
  const [params] = useSearchParams();
  const made = params.get("session");
  const { data, error, refetch } = usePlans(made !== null);
  const plan = id === "new" ? undefined : id;
  const isListAlone = id === undefined && made === null && (data?.plans.length ?? 0) > 0;
  return (
    <>
      <ScreenHead
        title="Plans"
        tab={tabOf(data?.plans.find((one) => one.id === plan))}
        about="What agents would do, before they do it"
      >
        <Link
          href="/plans/new"
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2.5 text-sm font-medium hover:bg-hover"
        >
          <Plus aria-hidden className="size-3.5" /> New plan
        </Link>
      </ScreenHead>
      {!data && !error && <Loading />}
      {!data && error && <Failed failure={error} onRetry={() => void refetch()} />}
      {data && (
        <div className="flex min-h-0 flex-1">
          <section
            aria-label="All plans"
            {...REACHABLE}
            className={join(
              "min-h-0 overflow-auto border-line max-lg:flex-1 lg:w-80 lg:shrink-0 lg:border-r",
              !isListAlone && "max-lg:hidden",
            )}
          >
            <PlanList plans={data.plans} chosen={plan ?? null} />
          </section>
          <section
            aria-label="Chosen plan"
            {...REACHABLE}
            className={join("min-h-0 min-w-0 flex-1 overflow-auto", isListAlone && "max-lg:hidden")}
          >
            {plan ? (
              <PlanView key={plan} id={plan} />
            ) : made ? (
              <PlanningWatch sessionId={made} plans={data.plans} />
            ) : (
              <NewPlan />
            )}
          </section>
        </div>
      )}
    </>
  );
}

function tabOf(plan: ExecutionPlan | undefined): string {
  return plan ? `Plan: ${plan.goal}` : "Plans";
}
