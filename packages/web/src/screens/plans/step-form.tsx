import type { PlanStep } from "@retinue/core/schema/plan";
import { ArrowDown, ArrowUp, CircleAlert, Trash2 } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { useAgents } from "../../data/queries.ts";
import { join } from "../../ui/class-names.ts";
import { Button } from "../../ui/controls.tsx";
import { AgentMark } from "../../ui/face.tsx";
import type { DraftChange } from "./plan-draft.ts";

type Change = (change: DraftChange) => void;

/** One step of a plan that is edited. */
export function StepForm({
  step,
  index,
  steps,
  problems,
  change,
}: {
  step: PlanStep;
  index: number;
  steps: readonly PlanStep[];
  problems: readonly string[];
  change: Change;
}) {
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
        <PlanField label="Title">
          {(id) => (
            <input
              id={id}
              className={FIELD}
              value={step.title}
              maxLength={300}
              onChange={(event) => set({ title: event.target.value })}
            />
          )}
        </PlanField>
        <RoleField role={step.role} onRole={(role) => set({ role })} />
      </div>
      <PlanField label="Task, as the agent reads it">
        {(id) => <TextArea id={id} value={step.task} maxLength={20_000} onText={(task) => set({ task })} />}
      </PlanField>
      <NeedsField step={step} steps={steps} onNeeds={(dependsOn) => set({ dependsOn })} />
      <div className="grid gap-2.5 sm:grid-cols-2">
        <PlanField label="Done when (one per line)">
          {(id) => (
            <TextArea
              id={id}
              value={step.successCriteria.join("\n")}
              onText={(text) => set({ successCriteria: text.split("\n") })}
            />
          )}
        </PlanField>
        <PlanField label="Files (one per line)">
          {(id) => (
            <TextArea
              id={id}
              className="font-mono text-xs"
              value={step.files.join("\n")}
              onText={(text) => set({ files: text === "" ? [] : text.split("\n") })}
            />
          )}
        </PlanField>
      </div>
      <PlanField label="Tool calls, about">
        {(id) => (
          <input
            id={id}
            type="number"
            min={0}
            max={100_000}
            className={join(FIELD, "figures max-w-28")}
            value={step.estimate.toolCalls}
            onChange={(event) =>
              set({
                estimate: {
                  ...step.estimate,
                  toolCalls: Math.max(0, Math.trunc(event.target.valueAsNumber || 0)),
                },
              })
            }
          />
        )}
      </PlanField>
    </li>
  );
}

function StepHead({
  step,
  index,
  count,
  change,
}: {
  step: PlanStep;
  index: number;
  count: number;
  change: Change;
}) {
  const name = `step ${index + 1}`;
  return (
    <div className="flex items-center gap-1">
      <AgentMark name={step.role} size="sm" />
      <h3 className="ml-1 text-sm font-semibold">Step {index + 1}</h3>
      <code className="ml-1 truncate font-mono text-2xs text-ink-3">{step.id}</code>
      <span className="ml-auto" />
      <Button
        kind="quiet"
        small
        aria-label={`Move ${name} up`}
        disabled={index === 0}
        onClick={() => change({ kind: "moved", id: step.id, by: -1 })}
      >
        <ArrowUp className="size-3.5" />
      </Button>
      <Button
        kind="quiet"
        small
        aria-label={`Move ${name} down`}
        disabled={index === count - 1}
        onClick={() => change({ kind: "moved", id: step.id, by: 1 })}
      >
        <ArrowDown className="size-3.5" />
      </Button>
      <Button
        kind="quiet"
        small
        aria-label={`Remove ${name}`}
        onClick={() => change({ kind: "removed", id: step.id })}
      >
        <Trash2 className="size-3.5" />
      </Button>
    </div>
  );
}

function RoleField({ role, onRole }: { role: string; onRole: (role: string) => void }) {
  const { data } = useAgents();
  const names = (data?.agents ?? []).filter(({ state }) => state === "enabled").map(({ name }) => name);
  const choices = names.includes(role) ? names : [role, ...names];
  return (
    <PlanField label="Agent">
      {(id) => (
        <select
          id={id}
          className={join(FIELD, "h-8.5")}
          value={role}
          onChange={(event) => onRole(event.target.value)}
        >
          {choices.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </PlanField>
  );
}

function NeedsField({
  step,
  steps,
  onNeeds,
}: {
  step: PlanStep;
  steps: readonly PlanStep[];
  onNeeds: (dependsOn: string[]) => void;
}) {
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

/** How a field of the editor looks. */
const FIELD =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-sm text-ink placeholder:text-ink-3";

/** A label over its field, which takes the id. */
export function PlanField({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid min-w-0 content-start gap-1">
      <label htmlFor={id} className="text-xs text-ink-2">
        {label}
      </label>
      {children(id)}
    </div>
  );
}

/** A field of several lines. */
export function TextArea({
  onText,
  className,
  ...rest
}: Omit<ComponentProps<"textarea">, "onChange"> & { onText: (text: string) => void }) {
  return (
    <textarea
      {...rest}
      className={join(FIELD, "field-sizing-content min-h-14", className)}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
