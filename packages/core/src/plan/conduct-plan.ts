import type { Conduct } from "../run/conductor.ts";
import type { Session } from "../run/run.ts";
import type { Agent } from "../schema/agent.ts";
import type { Conducted } from "../schema/plan.ts";
import { conductPlanning } from "./make-plan.ts";
import type { PlanningPorts } from "./planning-ports.ts";
import { reachableFrom } from "./reachable-agents.ts";
import { conductExecution, stepAgents } from "./run-plan.ts";

/** Leads a run of this agent that makes a plan or carries one out. */
export function conductPlan(
  { id, host, projectDir, workspaceDir }: Session,
  agent: Agent,
  conducted: Exclude<Conducted, { kind: "program" }>,
): Conduct {
  const ports: PlanningPorts = {
    record: host.record,
    sessionId: id,
    projectDir,
    workspaceDir,
    agent: agent.name,
    agents: () => reachableFrom(host, agent),
    escapeText: host.guards.escapeText,
    now: () => host.clock.wallMs(),
  };
  const { kind, planId } = conducted;
  return kind === "planning"
    ? conductPlanning({ ...ports, agents: () => stepAgents(ports.agents()) }, planId, conducted.maxSteps)
    : conductExecution(ports, planId, conducted);
}
