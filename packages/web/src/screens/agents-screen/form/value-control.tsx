import type { FieldPart, FormControl, FormSectionName, ValueKind } from "@retinue/core/schema/agent-fields";
import { listFormSections } from "@retinue/core/schema/form-fields";
import { ChoiceField, SuggestField } from "../../../ui/choosers.tsx";
import { NumberField, TextField, Toggle } from "../../../ui/fields.tsx";
import { NamePicker } from "../../../ui/name-picker.tsx";
import { useFormValue } from "../use-agent-draft.tsx";

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
  const common = { label, readOnly, onChange, ...(hint && { hint }), ...(placeholder && { placeholder }) };
  switch (kind.is) {
    case "number": {
      const { min, max, whole = false } = kind.range;
      const number = typeof value === "number" ? value : null;
      return (
        <NumberField
          {...common}
          value={number}
          least={min}
          whole={whole}
          {...(max !== undefined && { most: max })}
        />
      );
    }
    case "choice": {
      const offered = kind.words.map((word) => {
        const [name = word, about] = options[word] ?? [];
        return { value: word, label: name, ...(about && { about }) };
      });
      return (
        <ChoiceField
          label={label}
          options={offered}
          value={String(value)}
          readOnly={readOnly}
          onChange={onChange}
        />
      );
    }
    case "flag":
      return (
        <Toggle
          label={label}
          isOn={value === true}
          readOnly={readOnly}
          onChange={onChange}
          {...(hint && { about: hint })}
        />
      );
    case "text":
      return proposals ? (
        <SuggestField {...common} value={String(value ?? "")} choices={proposals} />
      ) : (
        <TextField {...common} value={String(value ?? "")} />
      );
    case "names":
      return (
        <NamePicker {...common} names={Array.isArray(value) ? value.map(String) : []} choices={[]} isOpen />
      );
    default:
      return null;
  }
}

const SECTIONS = new Map(listFormSections().map(({ title, fields }) => [title, fields]));

/** The controls of a section of the form, those aside that its own part of the page draws. */
export function SectionControls({
  section,
  without = [],
}: {
  section: FormSectionName;
  without?: readonly string[];
}) {
  return SECTIONS.get(section)?.flatMap(({ name, kind, control }) =>
    without.includes(name) ? [] : [<FieldControl key={name} name={name} kind={kind} control={control} />],
  );
}

function FieldControl({ name, kind, control }: { name: string; kind: ValueKind; control: FormControl }) {
  const { value, set, readOnly } = useFormValue(name);
  return <ValueControl kind={kind} control={control} value={value} readOnly={readOnly} onChange={set} />;
}

/** The controls of the parts of a map; a part that was emptied is left out. */
export function PartControls({
  parts,
  values,
  readOnly,
  onChange,
}: {
  parts: Readonly<Record<string, FieldPart>>;
  values: Readonly<Record<string, unknown>>;
  readOnly: boolean;
  onChange: (part: string, value: unknown) => void;
}) {
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
