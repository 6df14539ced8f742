import type { AgentRegistry } from "../../agents/registry.ts";
import {
  COLLECT_INPUT,
  DELEGATE_INPUT,
  DELEGATE_MANY_INPUT,
} from "../../runtime/delegation/delegation-input.ts";
import type { Project } from "../../runtime/project/load-project.ts";
import type { DelegationBatch, DelegationRequest } from "../../schema/delegation.ts";
import { type AnyTool, defineTool, type HostPlaces } from "../../tools/tool.ts";

/** Tools that look into a person's accounts to say whom a call reaches; a trial opens no account. */
const OF_ACCOUNTS = new Set(["email", "calendar", "contacts", "slack"]);

/** The tools of delegation as far as rights are concerned: which agent a call would reach. */
export function delegationTools(registry: Pick<AgentRegistry, "get">): AnyTool[] {
  const reach = (name: string) => ({ kind: "agent" as const, agent: registry.get(name)?.name ?? name });
  const shared = { groups: ["delegation"], risk: "low", execute: refuse } as const;
  return [
    defineTool<DelegationRequest>({
      ...shared,
      name: "delegate",
      description: "Hands one task to a sub-agent and returns its result.",
      input: DELEGATE_INPUT,
      check: ({ agent }) => (agent ? null : "agent is missing"),
      access: ({ agent }) => [reach(agent)],
    }),
    defineTool<DelegationBatch>({
      ...shared,
      name: "delegate_many",
      description: "Hands several tasks to sub-agents at once.",
      input: DELEGATE_MANY_INPUT,
      check: ({ tasks }) => (tasks.every(({ agent }) => agent) ? null : "agent is missing in a task"),
      access: ({ tasks }) => [...new Set(tasks.map(({ agent }) => agent))].map(reach),
    }),
    defineTool({
      ...shared,
      name: "collect_results",
      description: "Waits for delegations that still run and returns the results of those that have ended.",
      input: COLLECT_INPUT,
    }),
  ];
}

function refuse(): Promise<string> {
  return Promise.reject(new Error("a trial never executes"));
}

/** Whether a tool would have to open an account to say what a call touches. */
export function needsAccount(tool: AnyTool): boolean {
  return tool.groups.some((group) => OF_ACCOUNTS.has(group));
}

/** A tool as the settings want it, where that opens nothing. */
export function configured(tool: AnyTool, { settings, places }: Project): AnyTool {
  if (needsAccount(tool) || !tool.withSettings) return tool;
  const { homeDir, dataDir, configDir } = places;
  const host: HostPlaces = { env: process.env, homeDir, dataDir, configDir };
  return tool.withSettings(settings, host);
}
