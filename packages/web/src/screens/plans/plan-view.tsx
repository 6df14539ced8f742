import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { showCount } from "@retinue/core/show/measures";
import { ArrowLeft, Pencil, Play, Radio, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, encodePart } from "../../data/client.ts";
import { renew } from "../../data/queries.ts";
import { Button, ButtonLink, TextLink } from "../../ui/controls.tsx";
import { AgentName } from "../../ui/face.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { Loaded } from "../../ui/states.tsx";
import { useAttempt } from "../../ui/toast.tsx";
import { keptDraft } from "./plan-draft.ts";
import { PlanEditor } from "./plan-editor.tsx";
import { keepPlan, PlanStatusBadge, planPath, usePlan } from "./plan-list.tsx";
import { listResults, StepDetails, StepOutcome } from "./step-details.tsx";
import { WaveDrawing } from "./wave-drawing.tsx";

/** One plan: looked at, edited, approved, and with what became of it. */
export function PlanView({ id }: { id: string }) {
  const query = usePlan(id);
  const [chosen, setEdited] = useState<boolean | null>(null);
  return (
    <Loaded query={query}>
      {(plan) => (
        <div className="mx-auto grid w-full max-w-4xl gap-4 p-4">
          <Link href="/plans" className="inline-flex items-center gap-1 text-xs text-ink-2 lg:hidden">
            <ArrowLeft aria-hidden className="size-3.5" /> All plans
          </Link>
          {(chosen ?? keptDraft(plan) !== undefined) ? (
            <PlanEditor plan={plan} onClose={() => setEdited(false)} />
          ) : (
            <ShownPlan plan={plan} onEdit={() => setEdited(true)} />
          )}
        </div>
      )}
    </Loaded>
  );
}

function ShownPlan({ plan, onEdit }: { plan: ExecutionPlan; onEdit: () => void }) {
  const { goal, summary, risks = [], steps } = plan;
  const results = listResults(plan);
  const replaced = plan.results.filter((result) => result.replaced);
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]));
  return (
    <>
      <PlanHead plan={plan} onEdit={onEdit} />
      <h2 className="text-lg leading-6 font-semibold whitespace-pre-wrap wrap-anywhere">
        {revealHidden(goal)}
      </h2>
      {summary && (
        <p className="text-sm whitespace-pre-wrap wrap-anywhere text-ink-2">{revealHidden(summary)}</p>
      )}
      {risks.length > 0 && (
        <ul aria-label="Risks" className="grid gap-0.5 text-sm">
          {[...new Set(risks)].map((risk) => (
            <li key={risk} className="flex items-start gap-1.5">
              <TriangleAlert aria-hidden className="mt-1 size-3.5 shrink-0 text-ink-3" />
              <span className="min-w-0 wrap-anywhere">{revealHidden(risk)}</span>
            </li>
          ))}
        </ul>
      )}
      <WaveDrawing steps={steps} results={results} />
      <ol aria-label="Steps" className="grid gap-2">
        {steps.map((step, index) => (
          <StepDetails
            key={step.id}
            step={step}
            number={index + 1}
            needs={step.dependsOn.map((needed) => String(numbers.get(needed) ?? needed))}
            result={results.get(step.id)}
          />
        ))}
      </ol>
      {replaced.length > 0 && (
        <section aria-labelledby="replaced" className="grid gap-2">
          <h3 id="replaced" className="text-xs font-semibold text-ink-2">
            Replaced by another plan after failing
          </h3>
          {replaced.map((result) => (
            <div key={result.step_id} className="rounded-lg border border-line bg-panel px-4 py-3">
              <p className="mb-2 text-sm font-medium">{revealHidden(result.title)}</p>
              <StepOutcome result={result} />
            </div>
          ))}
        </section>
      )}
    </>
  );
}

function PlanHead({ plan, onEdit }: { plan: ExecutionPlan; onEdit: () => void }) {
  const { status, version, steps, agent, planning } = plan;
  const calls = steps.reduce((sum, { estimate }) => sum + estimate.toolCalls, 0);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <PlanStatusBadge status={status} />
      <span className="figures text-xs text-ink-3">
        version {version}, {showCount(steps.length, "step")}, about {showCount(calls, "tool call")}
      </span>
      <span className="inline-flex items-center gap-1.5 text-xs text-ink-3">
        led by <AgentName name={agent} size="sm" />
      </span>
      {planning.sessionId && (
        <TextLink href={`/chat/${encodePart(planning.sessionId)}`} className="text-xs">
          how it was planned
        </TextLink>
      )}
      <div className="ml-auto">
        <PlanActions plan={plan} onEdit={onEdit} />
      </div>
    </div>
  );
}

const RUN_WORDS = { draft: "Approve and run", approved: "Run", failed: "Run the rest" } as const;

function PlanActions({ plan, onEdit }: { plan: ExecutionPlan; onEdit: () => void }) {
  const { id, status, executionSessionId } = plan;
  const [isBusy, act] = useAttempt();
  const [, go] = useLocation();
  const approve = async () => keepPlan(await api.post<ExecutionPlan>(`${planPath(id)}/approve`));
  const run = async () => {
    if (status === "draft") await approve();
    const { sessionId } = await api.post<{ sessionId: string }>(`${planPath(id)}/run`);
    void renew({ queryKey: ["plans"] });
    go(`/chat/${encodePart(sessionId)}`);
  };
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      {executionSessionId && (
        <ButtonLink kind="quiet" href={`/chat/${encodePart(executionSessionId)}`}>
          <Radio aria-hidden className="size-3.5" />
          {status === "running" ? "Watch it" : "Open its session"}
        </ButtonLink>
      )}
      {status !== "running" && (
        <Button onClick={onEdit}>
          <Pencil aria-hidden className="size-3.5" /> Edit
        </Button>
      )}
      {status === "draft" && (
        <Button aria-disabled={isBusy} onClick={() => void act(approve)}>
          Approve
        </Button>
      )}
      {status !== "running" && status !== "completed" && (
        <Button kind="primary" aria-disabled={isBusy} onClick={() => void act(run)}>
          <Play aria-hidden className="size-3.5" /> {RUN_WORDS[status]}
        </Button>
      )}
    </div>
  );
}
