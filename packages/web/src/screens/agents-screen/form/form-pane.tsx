import type { Limits } from "@retinue/core/schema/agent";
import { LIMIT_PARTS } from "@retinue/core/schema/agent-fields";
import { FileWarning } from "lucide-react";
import { memo } from "react";
import { useSelected, useSignal } from "../../../live/signal.ts";
import { ChoiceField } from "../../../ui/choosers.tsx";
import { Button } from "../../../ui/controls.tsx";
import { AGENT_COLOURS, chooseHue } from "../../../ui/face.tsx";
import { FormSection, TextField } from "../../../ui/fields.tsx";
import { NamePicker } from "../../../ui/name-picker.tsx";
import { Empty, Loading, Note } from "../../../ui/states.tsx";
import { useAgentDraft, useForm } from "../use-agent-draft.tsx";
import { RightsSection } from "./rights-section.tsx";
import { orNone } from "./rule-lists.tsx";
import { SubagentsSection } from "./subagents-section.tsx";
import { PartControls, SectionControls } from "./value-control.tsx";

/** The file as a form. What it does not show stays in the file as it is. */
export const FormPane = memo(function FormPane({ onProblems }: { onProblems: () => void }) {
  const draft = useAgentDraft();
  const hasForm = useSelected(draft.form, (form) => form !== null);
  const review = useSignal(draft.review);
  if (!hasForm) {
    if (!review) return <Loading label="Reading the text" />;
    return (
      <Empty icon={FileWarning} title="No agent can be made of this text">
        <p className="pb-2">Fix it under Raw; the form follows as soon as it can be read.</p>
        <Button small onClick={onProblems}>
          Show why
        </Button>
      </Empty>
    );
  }
  return (
    <div className="@container">
      {review?.form === null && (
        <Note level="warning" actions={[["Show why", onProblems]]}>
          The raw text cannot be read right now. You see the form as it last was, read-only.
        </Note>
      )}
      <IdentitySection />
      <FormSection title="Model">
        <div className="grid gap-3 @md:grid-cols-2">
          <SectionControls section="Model" />
        </div>
      </FormSection>
      <RightsSection />
      <SubagentsSection />
      <LimitsSection />
      <FormSection title="Context, workspace and flow">
        <div className="grid gap-3 @md:grid-cols-3">
          <SectionControls section="Work" />
        </div>
      </FormSection>
      <PromptSection />
    </div>
  );
});

function LimitsSection() {
  const { form, change, readOnly } = useForm("limits");
  const set = (part: string, value: unknown) => {
    const others = Object.entries(form.limits).filter(([name]) => name !== part);
    const limits: Limits = Object.fromEntries(value === null ? others : [...others, [part, value]]);
    change({ limits: Object.keys(limits).length === 0 ? null : limits });
  };
  return (
    <FormSection title="Limits" about="Empty: as the settings say.">
      <div className="grid grid-cols-2 gap-3 @md:grid-cols-4">
        <PartControls parts={LIMIT_PARTS} values={form.limits} readOnly={readOnly} onChange={set} />
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

function PromptSection() {
  const { form, change, readOnly } = useForm("prompt");
  return (
    <FormSection title="Prompt">
      <TextField
        label="System prompt, in Markdown"
        area="min-h-72"
        mono
        value={form.prompt}
        readOnly={readOnly}
        onChange={(prompt) => change({ prompt })}
        hint="{{today}} becomes the day the session began, {{workspace}} its folder."
      />
    </FormSection>
  );
}

const DRAWN_HERE = ["name", "displayName", "description", "icon", "color", "aliases"] as const;

function IdentitySection() {
  const { form, change, readOnly } = useForm(...DRAWN_HERE);
  const colours = new Set([...Object.keys(AGENT_COLOURS), ...(form.color ? [form.color] : [])]);
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
            ...Array.from(colours, (color) => ({
              value: color,
              label: color,
              mark: <Swatch hue={chooseHue(form.name, color)} />,
            })),
          ]}
        />
        <NamePicker
          label="Aliases"
          value={form.aliases}
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
