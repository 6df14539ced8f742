import type { ExecutionPlan, PlanStep } from "@retinue/core/schema/plan";
import { ArrowDown, ArrowUp, CircleAlert, type LucideIcon, Plus, Trash2 } from "lucide-react";
import { useEffect, useReducer, useState } from "react";
import { ApiFailure, api } from "../../data/client.ts";
import { useAgents } from "../../data/queries.ts";
import { useUnsavedWarning } from "../../live/use-kept-text.ts";
import { ChoiceField } from "../../ui/choosers.tsx";
import { join } from "../../ui/class-names.ts";
import { Button, submitWith } from "../../ui/controls.tsx";
import { AgentMark } from "../../ui/face.tsx";
import { NumberField, TextField } from "../../ui/fields.tsx";
import { tell, useAttempt } from "../../ui/toast.tsx";
import {
  changeDraft,
  type DraftChange,
  draftPlan,
  keepPlanDraft,
  keptDraft,
  type PlanProblems,
  planProblems,
  sentDraft,
} from "./plan-draft.ts";
import { keepPlan, planPath } from "./plan-list.tsx";

const NO_PROBLEMS: PlanProblems = { steps: new Map(), general: [] };
const MOST_STEPS = 30;

/** Changes a plan. The server checks it; what it has against it stands at the step that it is about. */
export function PlanEditor({ plan, onClose }: { plan: ExecutionPlan; onClose: () => void }) {
  const [draft, change] = useReducer(changeDraft, plan, (from) => keptDraft(from) ?? draftPlan(from));
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [isBusy, attempt] = useAttempt();
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftPlan(plan));
  useUnsavedWarning(isChanged);
  useEffect(() => keepPlanDraft(plan, isChanged ? draft : null), [plan, draft, isChanged]);
  const close = () => {
    keepPlanDraft(plan, null);
    onClose();
  };
  const save = async () => {
    try {
      keepPlan(await api.put<ExecutionPlan>(planPath(plan.id), sentDraft(draft)));
      tell("The plan is saved, as a draft.");
      close();
    } catch (failure) {
      const isRefused = failure instanceof ApiFailure && (failure.status === 422 || failure.status === 400);
      if (!isRefused) throw failure;
      setProblems(planProblems(failure.message, draft.steps));
    }
  };
  const { steps } = draft;
  return (
    <form aria-label="Edit the plan" className="grid gap-3" onSubmit={submitWith(() => attempt(save))}>
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

type Change = (change: DraftChange) => void;

type StepFormProps = {
  step: PlanStep;
  index: number;
  steps: readonly PlanStep[];
  problems: readonly string[];
  change: Change;
};

function StepForm({ step, index, steps, problems, change }: StepFormProps) {
  const set = (changed: Partial<Omit<PlanStep, "id">>) =>
    change({ kind: "step", id: step.id, change: changed });
  return (
    <li
      data-step={step.id}
      className={join("grid gap-2.5 rounded-lg border bg-panel p-3", problems.length > 0 && "border-bad")}
    >
      <StepHead step={step} index={index} count={steps.length} change={change} />
      {problems.length > 0 && (
        <ul role="alert" className="grid gap-0.5 text-sm text-bad">
          {problems.map((problem) => (
            <li key={problem} className="flex items-start gap-1.5">
              <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
              <span className="min-w-0 wrap-anywhere">{problem}</span>
            </li>
          ))}
        </ul>
      )}
      <div className="grid gap-2.5 sm:grid-cols-[1fr_14rem]">
        <TextField label="Title" value={step.title} maxLength={300} onChange={(title) => set({ title })} />
        <RoleField role={step.role} onRole={(role) => set({ role })} />
      </div>
      <TextField
        label="Task, as the agent reads it"
        area="min-h-14"
        value={step.task}
        maxLength={20_000}
        onChange={(task) => set({ task })}
      />
      <NeedsField step={step} steps={steps} onNeeds={(dependsOn) => set({ dependsOn })} />
      <div className="grid gap-2.5 sm:grid-cols-2">
        <TextField
          label="Done when (one per line)"
          area="min-h-14"
          value={step.successCriteria.join("\n")}
          onChange={(text) => set({ successCriteria: text.split("\n") })}
        />
        <TextField
          label="Files (one per line)"
          area="min-h-14"
          mono
          value={step.files.join("\n")}
          onChange={(text) => set({ files: text === "" ? [] : text.split("\n") })}
        />
      </div>
      <div className="max-w-28">
        <NumberField
          label="Tool calls, about"
          whole
          most={100_000}
          value={step.estimate.toolCalls}
          onChange={(toolCalls) => set({ estimate: { ...step.estimate, toolCalls: toolCalls ?? 0 } })}
        />
      </div>
    </li>
  );
}

type StepHeadProps = { step: PlanStep; index: number; count: number; change: Change };

function StepHead({ step, index, count, change }: StepHeadProps) {
  const { id } = step;
  const name = `step ${index + 1}`;
  const acts: { label: string; icon: LucideIcon; isOff?: boolean; act: DraftChange }[] = [
    { label: `Move ${name} up`, icon: ArrowUp, isOff: index === 0, act: { kind: "moved", id, by: -1 } },
    {
      label: `Move ${name} down`,
      icon: ArrowDown,
      isOff: index === count - 1,
      act: { kind: "moved", id, by: 1 },
    },
    { label: `Remove ${name}`, icon: Trash2, act: { kind: "removed", id } },
  ];
  return (
    <div className="flex items-center gap-1">
      <AgentMark name={step.role} size="sm" />
      <h3 className="ml-1 text-sm font-semibold">Step {index + 1}</h3>
      <code className="ml-1 truncate font-mono text-2xs text-ink-3">{step.id}</code>
      <span className="ml-auto" />
      {acts.map(({ label, icon: Icon, isOff = false, act }) => (
        <Button
          key={label}
          kind="quiet"
          small
          aria-label={label}
          disabled={isOff}
          onClick={() => change(act)}
        >
          <Icon className="size-3.5" />
        </Button>
      ))}
    </div>
  );
}

function RoleField({ role, onRole }: { role: string; onRole: (role: string) => void }) {
  const { data } = useAgents();
  const names = (data?.agents ?? []).filter(({ state }) => state === "enabled").map(({ name }) => name);
  const choices = names.includes(role) ? names : [role, ...names];
  return (
    <ChoiceField
      label="Agent"
      value={role}
      options={choices.map((name) => ({ value: name, label: name }))}
      onChange={onRole}
    />
  );
}

type NeedsFieldProps = { step: PlanStep; steps: readonly PlanStep[]; onNeeds: (dependsOn: string[]) => void };

function NeedsField({ step, steps, onNeeds }: NeedsFieldProps) {
  const known = steps.map(({ id }) => id);
  const gone = step.dependsOn.filter((id) => !known.includes(id));
  if (steps.length < 2 && gone.length === 0) return null;
  const toggle = (id: string) =>
    onNeeds(
      step.dependsOn.includes(id) ? step.dependsOn.filter((one) => one !== id) : [...step.dependsOn, id],
    );
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs text-ink-2">Waits for</legend>
      <div className="flex flex-wrap gap-1.5">
        {[...known.filter((id) => id !== step.id), ...gone].map((id) => (
          <label
            key={id}
            className="inline-flex max-w-full items-center gap-1.5 rounded-md border border-line-strong px-2 py-0.5 text-xs text-ink-2 has-checked:border-accent has-checked:bg-accent-soft has-checked:text-ink"
          >
            <input type="checkbox" checked={step.dependsOn.includes(id)} onChange={() => toggle(id)} />
            <span className="truncate">{nameStep(id, steps)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function nameStep(id: string, steps: readonly PlanStep[]): string {
  const index = steps.findIndex((step) => step.id === id);
  return index < 0 ? `${id} (no step)` : `${index + 1} ${steps[index]?.title || id}`;
}
