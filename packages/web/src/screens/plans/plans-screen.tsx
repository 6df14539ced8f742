import type { SessionDetail, Started } from "@retinue/core/schema/api/session";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { CircleX, ListChecks, LoaderCircle, Plus } from "lucide-react";
import { useEffect } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";
import { api, encodePart } from "../../data/client.ts";
import { useFetched } from "../../data/queries.ts";
import { useKeptText } from "../../live/use-kept-text.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { Button, ButtonLink, submitWith, TextLink } from "../../ui/controls.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Failed, Loaded } from "../../ui/states.tsx";
import { useAttempt } from "../../ui/toast.tsx";
import { PlanListPane, usePlans } from "./plan-list.tsx";
import { PlanView } from "./plan-view.tsx";

/** Plans: goals cut into steps, which a person sees and changes before agents carry them out. */
export default function PlansScreen() {
  const { id } = useParams<{ id?: string }>();
  const [params] = useSearchParams();
  const made = params.get("session");
  const query = usePlans(made !== null);
  const { plans, hasNextPage, fetchNextPage } = query;
  const plan = id === "new" ? undefined : id;
  const isListAlone = id === undefined && made === null && (plans?.length ?? 0) > 0;
  return (
    <>
      <ScreenHead
        title="Plans"
        tab={nameTab(plans?.find((one) => one.id === plan))}
        about="What agents will do, before they do it"
      >
        <ButtonLink href="/plans/new">
          <Plus aria-hidden className="size-3.5" /> New plan
        </ButtonLink>
      </ScreenHead>
      <Loaded query={{ ...query, data: plans }}>
        {(all) => (
          <div className="flex min-h-0 flex-1">
            <section
              aria-label="All plans"
              {...REACHABLE}
              className={join(
                "min-h-0 overflow-auto border-line max-lg:flex-1 lg:w-80 lg:shrink-0 lg:border-r",
                !isListAlone && "max-lg:hidden",
              )}
            >
              <PlanListPane plans={all} chosen={plan ?? null} />
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
                <PlanningWatch sessionId={made} plans={all} />
              ) : (
                <NewPlan />
              )}
            </section>
          </div>
        )}
      </Loaded>
    </>
  );
}

function nameTab(plan: ExecutionPlan | undefined): string {
  return plan ? `Plan: ${plan.goal}` : "Plans";
}

const GOAL_MOST = 20_000;

/** Takes a goal and has a plan made for it; the session it is made in goes into the address. */
function NewPlan() {
  const [goal, setGoal] = useKeptText("plan");
  const [isSent, attempt] = useAttempt();
  const [, setParams] = useSearchParams();
  const begin = async () => {
    if (goal.trim() === "") return;
    await attempt(async () => {
      const { sessionId } = await api.post<Pick<Started, "sessionId">>("/api/plans", { goal: goal.trim() });
      setGoal("");
      setParams({ session: sessionId });
    });
  };
  return (
    <form
      aria-label="New plan"
      className="mx-auto grid w-full max-w-2xl gap-3 px-4 py-8"
      onSubmit={submitWith(begin)}
    >
      <div className="flex items-center gap-3">
        <span className="grid size-10 place-items-center rounded-xl bg-raised text-ink-3">
          <ListChecks aria-hidden className="size-5" />
        </span>
        <div>
          <h2 className="text-base font-semibold">What is your goal?</h2>
          <p className="text-sm text-ink-2">
            A planner cuts it into steps for agents. You see and change the plan before anything is done.
          </p>
        </div>
      </div>
      <textarea
        aria-label="Goal"
        rows={5}
        maxLength={GOAL_MOST}
        value={goal}
        placeholder="For example: add a --json option to the list command, with tests and documentation"
        onChange={(event) => setGoal(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void begin();
        }}
        className="rounded-lg border border-line-strong bg-panel px-3 py-2 text-base placeholder:text-ink-3"
      />
      <div className="flex items-center gap-2">
        <Button kind="primary" type="submit" disabled={goal.trim() === "" || isSent}>
          {isSent && <LoaderCircle aria-hidden className="size-3.5 animate-spin" />} Make a plan
        </Button>
        <span className="text-xs text-ink-3">Nothing is executed yet.</span>
      </div>
    </form>
  );
}

const OPEN = ["running", "waiting", "pending"];

/** Waits for the plan that a session makes, and opens it; says so if the session ends without one. */
function PlanningWatch({ sessionId, plans }: { sessionId: string; plans: readonly ExecutionPlan[] }) {
  const [, go] = useLocation();
  const made = plans.find(({ planning }) => planning.sessionId === sessionId);
  const { data, error, refetch } = useFetched<SessionDetail>(
    ["sessions", sessionId, "planning"],
    `/api/sessions/${encodePart(sessionId)}`,
    { refetchInterval: 2_000 },
  );
  useEffect(() => {
    if (made) go(`/plans/${encodePart(made.id)}`, { replace: true });
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
            {isOver ? "Planning ended without a plan" : "The planner is working"}
          </p>
          <p className="wrap-anywhere text-ink-2">
            {isOver
              ? (root?.error ?? root?.summary ?? "See what was tried in its session.")
              : state === "waiting"
                ? "It waits for your answer to a question."
                : "The plan opens here as soon as it is ready."}
          </p>
          <p className="flex flex-wrap gap-x-4 gap-y-1 pt-1 text-xs">
            <TextLink href={`/chat/${encodePart(sessionId)}`}>
              {isOver ? "See what was tried" : "Watch it"}
            </TextLink>
            {state === "waiting" && <TextLink href="/approvals">Answer</TextLink>}
            {isOver && <TextLink href="/plans/new">Try again</TextLink>}
          </p>
        </div>
      </div>
    </div>
  );
}
