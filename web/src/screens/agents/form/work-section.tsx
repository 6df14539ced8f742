import type { AgentForm } from "../../../../../src/schema/api/agent.ts";
import { Choice, type Option } from "../controls/choice.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { FormSection } from "./form-section.tsx";

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
export function WorkSection() {
  const { form, change, readOnly } = useForm("context", "workspace", "flow");
  return (
    <FormSection title="Context, workspace and flow">
      <div className="grid gap-3 @md:grid-cols-3">
        <Choice
          label="Sees of its parent"
          value={form.context}
          options={CONTEXTS}
          readOnly={readOnly}
          onChange={(context) => change({ context: context === "task_only" ? null : context })}
        />
        <Choice
          label="Workspace"
          value={form.workspace}
          options={WORKSPACES}
          readOnly={readOnly}
          onChange={(workspace) => change({ workspace: workspace === "shared" ? null : workspace })}
        />
        <Choice
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
