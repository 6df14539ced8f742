import type { Agent } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import type { OpenProject } from "../open-project.ts";

/** The agent of a name or alias; an error lists what there is. */
export function agentNamed({ registry }: Pick<OpenProject, "registry">, name: string): Agent {
  const agent = registry.get(name);
  if (agent) return agent;
  throw new RetinueError("input", registry.unknownAgentMessage(name), "see them with: retinue agents list");
}
