import type { Limits } from "../../../../../src/schema/agent.ts";
import { NumberField } from "../controls/number-field.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { FormSection } from "./form-section.tsx";

type Field = { field: Exclude<keyof Limits, "perTool">; label: string; hint: string; whole: boolean };

const FIELDS: readonly Field[] = [
  { field: "turns", label: "Turns", hint: "of one run", whole: true },
  { field: "toolCalls", label: "Tool calls", hint: "of one run", whole: true },
  { field: "minutes", label: "Minutes", hint: "of one run", whole: false },
  { field: "contextChars", label: "Context chars", hint: "of one run", whole: true },
  { field: "tokens", label: "Tokens", hint: "with everything below", whole: true },
  { field: "costUsd", label: "Cost in US$", hint: "with everything below", whole: false },
  { field: "spawns", label: "Delegations", hint: "with everything below", whole: true },
  { field: "depth", label: "Depth", hint: "of delegations below it", whole: true },
];

/** Upper bounds; an empty one is as the settings say. */
export function LimitsSection() {
  const { form, change, readOnly } = useForm("limits");
  const set = (field: Field["field"], value: number | null) => {
    const { [field]: _before, ...others } = form.limits;
    const limits: Limits = value === null ? others : { ...others, [field]: value };
    change({ limits: Object.keys(limits).length === 0 ? null : limits });
  };
  return (
    <FormSection title="Limits" about="Empty: as the settings say.">
      <div className="grid grid-cols-2 gap-3 @md:grid-cols-4">
        {FIELDS.map(({ field, label, hint, whole }) => (
          <NumberField
            key={field}
            label={label}
            hint={hint}
            whole={whole}
            readOnly={readOnly}
            value={form.limits[field] ?? null}
            onChange={(value) => set(field, value)}
          />
        ))}
      </div>
      {form.limits.perTool && (
        <p className="text-xs text-ink-3">
          Calls per tool, to be changed under Raw:{" "}
          <span className="font-mono">
            {Object.entries(form.limits.perTool)
              .map(([tool, most]) => `${tool}: ${most}`)
              .join(", ")}
          </span>
        </p>
      )}
    </FormSection>
  );
}
