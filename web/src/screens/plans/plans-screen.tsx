import { Plus } from "lucide-react";
import { Link, useParams, useSearchParams } from "wouter";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { Button } from "../../ui/button.tsx";
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
  const { plans, error, refetch, hasNextPage, fetchNextPage } = usePlans(made !== null);
  const plan = id === "new" ? undefined : id;
  const isListAlone = id === undefined && made === null && (plans?.length ?? 0) > 0;
  return (
    <>
      <ScreenHead
        title="Plans"
        tab={tabOf(plans?.find((one) => one.id === plan))}
        about="What agents would do, before they do it"
      >
        <Link
          href="/plans/new"
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2.5 text-sm font-medium hover:bg-hover"
        >
          <Plus aria-hidden className="size-3.5" /> New plan
        </Link>
      </ScreenHead>
      {!plans && !error && <Loading />}
      {!plans && error && <Failed failure={error} onRetry={() => void refetch()} />}
      {plans && (
        <div className="flex min-h-0 flex-1">
          <section
            aria-label="All plans"
            {...REACHABLE}
            className={join(
              "min-h-0 overflow-auto border-line max-lg:flex-1 lg:w-80 lg:shrink-0 lg:border-r",
              !isListAlone && "max-lg:hidden",
            )}
          >
            <PlanList plans={plans} chosen={plan ?? null} />
            {hasNextPage && (
              <Button kind="quiet" className="m-2" onClick={() => void fetchNextPage()}>
                Show older plans
              </Button>
            )}
          </section>
          <section
            aria-label="Chosen plan"
            {...REACHABLE}
            className={join("min-h-0 min-w-0 flex-1 overflow-auto", isListAlone && "max-lg:hidden")}
          >
            {plan ? (
              <PlanView key={plan} id={plan} />
            ) : made ? (
              <PlanningWatch sessionId={made} plans={plans} />
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
