import type { AgentForm, AgentFormChange } from "../../../../../src/schema/api/agent.ts";

/** What a field is that the file leaves out. */
const LEFT_OUT: AgentForm = {
  name: "",
  displayName: "",
  description: "",
  model: "inherit",
  aliases: [],
  tools: null,
  askTools: [],
  disallowedTools: [],
  grants: null,
  subagents: null,
  context: "task_only",
  limits: {},
  temperature: null,
  maxOutputTokens: null,
  workspace: "shared",
  flow: "loop",
  icon: null,
  color: null,
  enabled: true,
  prompt: "",
};

/** The form as it will be once the server has written a change down. */
export function applyChange(form: AgentForm, change: AgentFormChange): AgentForm {
  const absent = Object.entries(change).flatMap(([field, value]) =>
    value === null ? [[field, LEFT_OUT[field as keyof AgentForm]]] : [],
  );
  return { ...form, ...(change as Partial<AgentForm>), ...Object.fromEntries(absent) };
}

/** The same form, with the very values of an earlier one where nothing differs: whoever shows those need not draw again. */
export function withKnown(form: AgentForm, earlier: AgentForm): AgentForm {
  const same = Object.entries(form).flatMap(([field, value]) => {
    const known = earlier[field as keyof AgentForm];
    return JSON.stringify(known) === JSON.stringify(value) ? [[field, known]] : [];
  });
  return { ...form, ...Object.fromEntries(same) };
}
