import { ChoiceField } from "../../../ui/choosers.tsx";
import { chooseHue } from "../../../ui/face.tsx";
import { FormSection, TextField } from "../../../ui/fields.tsx";
import { NamePicker } from "../../../ui/name-picker.tsx";
import { useForm } from "../use-agent-draft.tsx";
import { orNone } from "./rule-lists.tsx";
import { SectionControls } from "./value-control.tsx";

const COLOURS = [
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "cyan",
  "blue",
  "indigo",
  "violet",
  "purple",
  "magenta",
  "pink",
];

const DRAWN_HERE = ["name", "displayName", "description", "icon", "color", "aliases"] as const;

/** Who it is, and how others find it. */
export function IdentitySection() {
  const { form, change, readOnly } = useForm(...DRAWN_HERE);
  const colours = [...new Set(form.color ? [...COLOURS, form.color] : COLOURS)];
  return (
    <FormSection title="Identity">
      <div className="grid gap-3 @md:grid-cols-2">
        <TextField
          label="Name"
          mono
          value={form.name}
          readOnly={readOnly}
          onChange={(name) => change({ name })}
          hint="Others address it by this."
          fault={/^[a-z0-9][a-z0-9_-]*$/.test(form.name) ? null : "Only a-z, 0-9, - and _."}
        />
        <TextField
          label="Display name"
          value={form.displayName === form.name ? "" : form.displayName}
          placeholder={form.name}
          readOnly={readOnly}
          onChange={(displayName) => change({ displayName: displayName || null })}
        />
      </div>
      <TextField
        label="Description"
        area="min-h-14"
        value={form.description}
        readOnly={readOnly}
        onChange={(description) => change({ description })}
        hint="When to delegate to it. Other agents choose by this."
        fault={form.description.trim() === "" ? "It needs one: others choose it by this." : null}
      />
      <div className="grid gap-3 grid-cols-1 @md:grid-cols-[5rem_minmax(0,1fr)_minmax(0,1fr)]">
        <TextField
          label="Icon"
          value={form.icon ?? ""}
          readOnly={readOnly}
          placeholder={form.name.slice(0, 1).toUpperCase()}
          onChange={(icon) => change({ icon: icon || null })}
        />
        <ChoiceField
          label="Colour"
          value={form.color ?? ""}
          readOnly={readOnly}
          onChange={(color) => change({ color: color || null })}
          options={[
            { value: "", label: "From its name", mark: <Swatch hue={chooseHue(form.name, null)} /> },
            ...colours.map((color) => ({
              value: color,
              label: color,
              mark: <Swatch hue={chooseHue(form.name, color)} />,
            })),
          ]}
        />
        <NamePicker
          label="Aliases"
          names={form.aliases}
          choices={[]}
          isOpen
          readOnly={readOnly}
          placeholder="Type a name"
          onChange={(aliases) => change({ aliases: orNone(aliases) })}
        />
      </div>
      <SectionControls section="Identity" without={DRAWN_HERE} />
    </FormSection>
  );
}

function Swatch({ hue }: { hue: number }) {
  return (
    <span
      aria-hidden
      className="size-3 shrink-0 rounded-full"
      style={{ background: `oklch(0.65 0.14 ${hue})` }}
    />
  );
}
