import { delegatesOf, isIdle } from "../delegate/profile.ts";
import { toolsLayer } from "../rights/layers.ts";
import type { Conduct } from "../run/conductor.ts";
import type { Host, Session } from "../run/run.ts";
import type { Agent } from "../schema/agent.ts";
import type { Conducted } from "../schema/plan.ts";
import { baseLayers } from "../session/open-session.ts";
import { conductPlanning } from "./make-plan.ts";
import type { PlanningPorts } from "./plan-record.ts";
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

/** The agents that an agent could delegate to in a session of its own. */
export function reachableFrom(host: Host, agent: Agent): readonly Agent[] {
  if (Math.min(host.settings.maxDepth, agent.limits.depth ?? Number.POSITIVE_INFINITY) < 1) return [];
  const agents = delegatesOf(host, agent, [...baseLayers(host), toolsLayer(agent, host.homeDir)], null);
  return agents.filter((one) => !isIdle(host, one));
}
