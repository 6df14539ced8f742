import type { AgentCard } from "../../../../../src/schema/api/agent.ts";

/** Where agents come from, in the order they are found. */
export const SCOPES: Readonly<Record<AgentCard["scope"], string>> = {
  project: "Project",
  user: "Yours",
  code: "From the settings",
  builtin: "Built-in",
};
