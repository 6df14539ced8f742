import { ArrowLeft, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { ExecutionPlan } from "../../../../src/schema/plan.ts";
import { AgentName } from "../../ui/face.tsx";
import { countOf } from "../../ui/measures.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { visibleText } from "../../ui/text/visible-text.ts";
import { keptDraft } from "./edit/kept-drafts.ts";
import { PlanEditor } from "./edit/plan-editor.tsx";
import { PlanActions } from "./plan-actions.tsx";
import { PlanStatus } from "./plan-status.tsx";
import { StepDetails, StepOutcome } from "./step-details.tsx";
import { resultsOf } from "./step-standing.ts";
import { usePlan } from "./use-plans.ts";
import { WaveDrawing } from "./wave-drawing.tsx";

/** One plan: looked at, edited, approved, and with what became of it. */
export function PlanView({ id }: { id: string }) {
  const { data: plan, error, refetch } = usePlan(id);
  const [chosen, setEdited] = useState<boolean | null>(null);
  if (!plan) return error ? <Failed failure={error} onRetry={() => void refetch()} /> : <Loading />;
  const isEdited = chosen ?? keptDraft(plan) !== undefined;
  return (
    <div className="mx-auto grid w-full max-w-4xl gap-4 p-4">
      <Link href="/plans" className="inline-flex items-center gap-1 text-xs text-ink-2 lg:hidden">
        <ArrowLeft aria-hidden className="size-3.5" /> All plans
      </Link>
      {isEdited ? (
        <PlanEditor plan={plan} onClose={() => setEdited(false)} />
      ) : (
        <ShownPlan plan={plan} onEdit={() => setEdited(true)} />
      )}
    </div>
  );
}

function ShownPlan({ plan, onEdit }: { plan: ExecutionPlan; onEdit: () => void }) {
  const { goal, summary, risks = [], steps } = plan;
  const results = resultsOf(plan);
  const replaced = plan.results.filter((result) => result.replaced);
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]));
  return (
    <>
      <PlanHead plan={plan} onEdit={onEdit} />
      <h2 className="text-lg leading-6 font-semibold whitespace-pre-wrap wrap-anywhere">
        {visibleText(goal)}
      </h2>
      {summary && (
        <p className="text-sm whitespace-pre-wrap wrap-anywhere text-ink-2">{visibleText(summary)}</p>
      )}
      {risks.length > 0 && (
        <ul aria-label="Risks" className="grid gap-0.5 text-sm">
          {[...new Set(risks)].map((risk) => (
            <li key={risk} className="flex items-start gap-1.5">
              <TriangleAlert aria-hidden className="mt-1 size-3.5 shrink-0 text-ink-3" />
              <span className="min-w-0 wrap-anywhere">{visibleText(risk)}</span>
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
              <p className="mb-2 text-sm font-medium">{visibleText(result.title)}</p>
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
      <PlanStatus status={status} />
      <span className="figures text-xs text-ink-3">
        version {version}, {countOf(steps.length, "step")}, about {countOf(calls, "tool call")}
      </span>
      <span className="inline-flex items-center gap-1.5 text-xs text-ink-3">
        led by <AgentName name={agent} size="sm" />
      </span>
      {planning.sessionId && (
        <Link
          href={`/chat/${encodeURIComponent(planning.sessionId)}`}
          className="text-xs text-accent underline"
        >
          how it was made
        </Link>
      )}
      <div className="ml-auto">
        <PlanActions plan={plan} onEdit={onEdit} />
      </div>
    </div>
  );
}
