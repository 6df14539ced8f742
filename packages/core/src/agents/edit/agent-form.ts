import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../../schema/agent.ts";
import type { AgentForm } from "../../schema/api/agent.ts";

/** What a form shows of an agent. */
export function formOf(agent: Agent): AgentForm {
  return {
    name: agent.name,
    displayName: agent.displayName,
    description: agent.description,
    model: agent.model,
    aliases: agent.aliases,
    tools: agent.tools ?? null,
    askTools: agent.askTools,
    disallowedTools: agent.disallowedTools,
    grants: agent.grants ?? null,
    subagents: agent.subagents ?? null,
    context: agent.context,
    limits: agent.limits,
    temperature: agent.temperature ?? null,
    maxOutputTokens: agent.maxOutputTokens ?? null,
    workspace: agent.workspace,
    flow: agent.flow,
    icon: agent.display.icon ?? null,
    color: agent.display.color ?? null,
    enabled: agent.enabled,
    prompt: agent.prompt,
  };
}

/** Whether two values of a field mean the same; the order of names in a list means nothing. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(ordered(a), ordered(b));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set<unknown>(value)].sort();
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]));
}
