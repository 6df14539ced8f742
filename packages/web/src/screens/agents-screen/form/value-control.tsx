import type { FieldPart, FormControl, FormSectionName, ValueKind } from "@retinue/core/schema/agent-fields";
import type { AgentForm } from "@retinue/core/schema/api/agent";
import { listFormSections } from "@retinue/core/schema/form-fields";
import { ChoiceField, SuggestField } from "../../../ui/choosers.tsx";
import { NumberField, TextField, Toggle } from "../../../ui/fields.tsx";
import { NamePicker } from "../../../ui/name-picker.tsx";
import { FORM_DEFAULTS } from "../agent-draft.ts";
import { useForm } from "../use-agent-draft.tsx";

type ControlProps = {
  kind: ValueKind;
  control: FormControl;
  value: unknown;
  readOnly: boolean;
  onChange: (value: unknown) => void;
};

/** The control of a value, as its kind says; nothing for a kind that has a part of the form to itself. */
export function ValueControl({ kind, control, value, readOnly, onChange }: ControlProps) {
  const { label, hint, placeholder, options = {}, proposals } = control;
  const common = { label, hint, placeholder, readOnly, onChange };
  switch (kind.is) {
    case "number": {
      const { min, max, whole = false } = kind.range;
      const number = typeof value === "number" ? value : null;
      return <NumberField {...common} value={number} least={min} most={max} whole={whole} />;
    }
    case "choice": {
      const offered = kind.words.map((word) => {
        const [name = word, about] = options[word] ?? [];
        return { value: word, label: name, ...(about && { about }) };
      });
      return <ChoiceField {...common} options={offered} value={String(value)} />;
    }
    case "flag":
      return (
        <Toggle label={label} about={hint} isOn={value === true} readOnly={readOnly} onChange={onChange} />
      );
    case "text":
      return proposals ? (
        <SuggestField {...common} value={String(value ?? "")} choices={proposals} />
      ) : (
        <TextField {...common} value={String(value ?? "")} />
      );
    case "names":
      return (
        <NamePicker {...common} value={Array.isArray(value) ? value.map(String) : []} choices={[]} isOpen />
      );
    default:
      return null;
  }
}

const SECTIONS = new Map(listFormSections().map(({ title, fields }) => [title, fields]));

type SectionControlsProps = { section: FormSectionName; without?: readonly string[] };

/** The controls of a section of the form, those aside that its own part of the page draws. */
export function SectionControls({ section, without = [] }: SectionControlsProps) {
  return SECTIONS.get(section)?.flatMap(({ name, kind, control }) =>
    without.includes(name)
      ? []
      : [<FieldControl key={name} name={name as keyof AgentForm} kind={kind} control={control} />],
  );
}

function FieldControl({
  name,
  kind,
  control,
}: {
  name: keyof AgentForm;
  kind: ValueKind;
  control: FormControl;
}) {
  const { form, change, readOnly } = useForm(name);
  // What a value is without being written is taken out of the file.
  const set = (value: unknown) => {
    const isUsual = value === "" || JSON.stringify(value) === JSON.stringify(FORM_DEFAULTS[name]);
    change({ [name]: isUsual ? null : value });
  };
  return <ValueControl kind={kind} control={control} value={form[name]} readOnly={readOnly} onChange={set} />;
}

type PartControlsProps = {
  parts: Readonly<Record<string, FieldPart>>;
  values: Readonly<Record<string, unknown>>;
  readOnly: boolean;
  onChange: (part: string, value: unknown) => void;
};

/** The controls of the parts of a map; a part that was emptied is left out. */
export function PartControls({ parts, values, readOnly, onChange }: PartControlsProps) {
  return Object.entries(parts).flatMap(([part, { kind, form }]) =>
    form ? (
      <ValueControl
        key={part}
        kind={kind}
        control={form}
        value={values[part] ?? null}
        readOnly={readOnly}
        onChange={(value) => onChange(part, value)}
      />
    ) : (
      []
    ),
  );
}
