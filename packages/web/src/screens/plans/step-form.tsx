import type { PlanStep } from "@retinue/core/schema/plan";
import { ArrowDown, ArrowUp, CircleAlert, type LucideIcon, Trash2 } from "lucide-react";
import { useAgents } from "../../data/queries.ts";
import { ChoiceField } from "../../ui/choosers.tsx";
import { join } from "../../ui/class-names.ts";
import { Button } from "../../ui/controls.tsx";
import { AgentMark } from "../../ui/face.tsx";
import { NumberField, TextField } from "../../ui/fields.tsx";
import type { DraftChange } from "./plan-draft.ts";

type Change = (change: DraftChange) => void;

type StepFormProps = {
  step: PlanStep;
  index: number;
  steps: readonly PlanStep[];
  problems: readonly string[];
  change: Change;
};

/** One step of a plan that is edited. */
export function StepForm({ step, index, steps, problems, change }: StepFormProps) {
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
