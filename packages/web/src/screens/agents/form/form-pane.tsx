import type { Limits } from "@retinue/core/schema/agent";
import type { AgentForm } from "@retinue/core/schema/api/agent";
import { FileWarning } from "lucide-react";
import { memo, useSyncExternalStore } from "react";
import { useSignal } from "../../../live/signal.ts";
import { Button } from "../../../ui/controls.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { ChoiceField, type Option, SuggestField } from "../controls/choosers.tsx";
import { FormSection, NumberField, TextField } from "../controls/fields.tsx";
import { Note } from "../editor/editor-notes.tsx";
import { useAgentDraft, useForm } from "../use-agent-draft.tsx";
import { IdentitySection } from "./identity-section.tsx";
import { RightsSection } from "./rights-section.tsx";
import { SubagentsSection } from "./subagents-section.tsx";

/** The file as a form. What it does not show stays in the file as it is. */
export const FormPane = memo(function FormPane({ onProblems }: { onProblems: () => void }) {
  const draft = useAgentDraft();
  const hasForm = useSyncExternalStore(draft.form.subscribe, () => draft.form.value !== null);
  const review = useSignal(draft.review);
  const why = (
    <Button small onClick={onProblems}>
      Show why
    </Button>
  );
  if (!hasForm) {
    if (!review) return <Loading label="Reading the text" />;
    return (
      <Empty icon={FileWarning} title="No agent can be made of this text">
        <p className="pb-2">Fix it under Raw; the form follows as soon as it can be read.</p>
        {why}
      </Empty>
    );
  }
  return (
    <div className="@container">
      {review?.form === null && (
        <Note level="warning" actions={why}>
          The raw text cannot be read right now. You see the form as it last was, read-only.
        </Note>
      )}
      <IdentitySection />
      <ModelSection />
      <RightsSection />
      <SubagentsSection />
      <LimitsSection />
      <WorkSection />
      <PromptSection />
    </div>
  );
});

const MODELS = ["inherit", "fast", "smart", "haiku", "sonnet", "opus"];

/** Which model answers for it. */
function ModelSection() {
  const { form, change, readOnly } = useForm("model", "temperature", "maxOutputTokens");
  return (
    <FormSection title="Model">
      <div className="grid gap-3 @md:grid-cols-2">
        <SuggestField
          label="Model"
          value={form.model}
          choices={MODELS}
          readOnly={readOnly}
          onChange={(model) => change({ model: model === "" || model === "inherit" ? null : model })}
          hint="inherit takes the parent's. Else an alias, or provider/model-id."
        />
        <NumberField
          label="Temperature"
          value={form.temperature}
          readOnly={readOnly}
          most={2}
          placeholder="as the provider sets it"
          onChange={(temperature) => change({ temperature })}
          hint="From 0 to 2; higher is freer."
        />
        <NumberField
          label="Output tokens"
          value={form.maxOutputTokens}
          readOnly={readOnly}
          whole
          least={1}
          placeholder="as many as the model can give"
          onChange={(maxOutputTokens) => change({ maxOutputTokens })}
          hint="The most that one reply may have."
        />
      </div>
    </FormSection>
  );
}

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
function LimitsSection() {
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

const CONTEXTS: readonly Option<AgentForm["context"]>[] = [
  { value: "task_only", label: "The task only", about: "Nothing of the parent's conversation." },
  { value: "summary", label: "A summary", about: "The task and the gist of the conversation." },
  { value: "selective", label: "Selected parts", about: "The task and the messages the parent picks." },
  { value: "full", label: "Everything", about: "The whole conversation." },
];

const WORKSPACES: readonly Option<AgentForm["workspace"]>[] = [
  { value: "shared", label: "Shared", about: "Works in the session's folder and in the project." },
  { value: "isolated", label: "Isolated", about: "Works in a folder of its own." },
];

const FLOWS: readonly Option<AgentForm["flow"]>[] = [
  { value: "loop", label: "Loop", about: "Turns until it is done." },
  { value: "intent", label: "Intent", about: "Assess, execute, format: one request in, one answer out." },
];

/** What it gets to see, and how it works. */
function WorkSection() {
  const { form, change, readOnly } = useForm("context", "workspace", "flow");
  return (
    <FormSection title="Context, workspace and flow">
      <div className="grid gap-3 @md:grid-cols-3">
        <ChoiceField
          label="Sees of its parent"
          value={form.context}
          options={CONTEXTS}
          readOnly={readOnly}
          onChange={(context) => change({ context: context === "task_only" ? null : context })}
        />
        <ChoiceField
          label="Workspace"
          value={form.workspace}
          options={WORKSPACES}
          readOnly={readOnly}
          onChange={(workspace) => change({ workspace: workspace === "shared" ? null : workspace })}
        />
        <ChoiceField
          label="Flow"
          value={form.flow}
          options={FLOWS}
          readOnly={readOnly}
          onChange={(flow) => change({ flow: flow === "loop" ? null : flow })}
        />
      </div>
    </FormSection>
  );
}

/** What it is told before its task. */
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
