import type { AgentRegistry } from "../agents/registry.ts";
import type { Agent } from "../schema/agent.ts";
import type { RunError } from "../schema/result.ts";

/** The name of the sub-agent that has its parent's prompt and tools in a clean context. */
export const GENERAL_PURPOSE = "general-purpose";

/** The agent a delegation names, or why there is none; `usable` are the agents that the asker is told of. */
export function findAgent(
  registry: AgentRegistry,
  name: string,
  parent: Agent,
  usable?: readonly Agent[],
): Agent | RunError {
  const agent = registry.get(name);
  if (agent) return agent;
  const isOut = registry.isDisabled(name) || registry.getBroken(name) !== undefined;
  if (name === GENERAL_PURPOSE && !isOut) return generalPurpose(parent);
  const type = isOut ? "disabled" : "unknown_agent";
  return { type, message: registry.unknownAgentMessage(name, usable), recoverable: false };
}

/** Tells an agent from an error. */
export function isAgent(found: Agent | RunError): found is Agent {
  return "prompt" in found;
}

function generalPurpose(parent: Agent): Agent {
  const { subagents: _, delegation: __, ...rest } = parent;
  return {
    ...rest,
    name: GENERAL_PURPOSE,
    displayName: "General purpose",
    aliases: [],
    description: `A clean context with the prompt and tools of ${parent.name}.`,
    model: "inherit",
    deliverables: [],
  };
}
