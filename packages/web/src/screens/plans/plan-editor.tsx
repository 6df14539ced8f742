import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { Plus } from "lucide-react";
import { useEffect, useReducer, useState } from "react";
import { ApiFailure, api } from "../../data/client.ts";
import { useUnsavedWarning } from "../../live/use-kept-text.ts";
import { Button } from "../../ui/controls.tsx";
import { TextField } from "../../ui/fields.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import {
  changeDraft,
  draftPlan,
  keepPlanDraft,
  keptDraft,
  type PlanProblems,
  planProblems,
  sentDraft,
} from "./plan-draft.ts";
import { keepPlan, planPath } from "./plan-list.tsx";
import { StepForm } from "./step-form.tsx";

const NO_PROBLEMS: PlanProblems = { steps: new Map(), general: [] };
const MOST_STEPS = 30;

/** Changes a plan. The server checks it; what it has against it stands at the step that it is about. */
export function PlanEditor({ plan, onClose }: { plan: ExecutionPlan; onClose: () => void }) {
  const [draft, change] = useReducer(changeDraft, plan, (from) => keptDraft(from) ?? draftPlan(from));
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [isBusy, setBusy] = useState(false);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftPlan(plan));
  useUnsavedWarning(isChanged);
  useEffect(() => keepPlanDraft(plan, isChanged ? draft : null), [plan, draft, isChanged]);
  const close = () => {
    keepPlanDraft(plan, null);
    onClose();
  };
  const save = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      keepPlan(await api.put<ExecutionPlan>(planPath(plan.id), sentDraft(draft)));
      tell("The plan is saved, as a draft.");
      close();
    } catch (failure) {
      const isRefused = failure instanceof ApiFailure && (failure.status === 422 || failure.status === 400);
      if (isRefused) setProblems(planProblems(failure.message, draft.steps));
      else tellFailure(failure);
    }
    setBusy(false);
  };
  const { steps } = draft;
  return (
    <form
      aria-label="Edit the plan"
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2 className="text-base font-semibold">Edit the plan</h2>
      <ProblemLines problems={problems} />
      <TextField
        label="Goal"
        area="min-h-14"
        value={draft.goal}
        onChange={(goal) => change({ kind: "words", goal })}
      />
      <TextField
        label="The way to it"
        area="min-h-14"
        value={draft.summary}
        onChange={(summary) => change({ kind: "words", summary })}
      />
      <ol aria-label="Steps" className="grid gap-3">
        {steps.map((step, index) => (
          <StepForm
            key={step.id}
            step={step}
            index={index}
            steps={steps}
            problems={problems.steps.get(step.id) ?? []}
            change={change}
          />
        ))}
      </ol>
      <Button
        className="justify-self-start"
        disabled={steps.length >= MOST_STEPS}
        onClick={() => change({ kind: "added", role: steps.at(-1)?.role ?? plan.agent })}
      >
        <Plus aria-hidden className="size-3.5" /> Add a step
      </Button>
      <div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-2 border-t border-line bg-panel/95 px-4 py-3 backdrop-blur">
        <Button kind="primary" type="submit" disabled={!isChanged || isBusy || steps.length === 0}>
          Save
        </Button>
        <Button onClick={close}>{isChanged ? "Discard changes" : "Close"}</Button>
        <span className="text-xs text-ink-3">
          {steps.length === 0
            ? "A plan needs at least one step."
            : "A changed plan is a draft again. What is done stays done."}
        </span>
      </div>
    </form>
  );
}

function ProblemLines({ problems: { general, steps } }: { problems: PlanProblems }) {
  if (general.length === 0 && steps.size === 0) return null;
  return (
    <div role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm">
      <p className="font-medium text-bad">The plan cannot be saved yet.</p>
      <ul className="list-disc pl-5 text-ink-2">
        {general.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {steps.size > 0 && <li>See the marked steps below.</li>}
      </ul>
    </div>
  );
}
