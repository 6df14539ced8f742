import { PROGRAM_TOOL } from "../delegate/program-tool.ts";
import { readTree } from "../record/read-tree.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import type { Agent } from "../schema/agent.ts";
import type { Conducted } from "../schema/plan.ts";
import { type Conduct, createConductor } from "./conductor.ts";
import { conductPlanning } from "./make-plan.ts";
import type { PlanningPorts } from "./planning-ports.ts";
import { conductExecution, stepAgents } from "./run-plan.ts";

/** The conductor of a run, in the place of a model. */
export function conductRun(
  conducted: Conducted,
  ports: PlanningPorts,
  passedOn: CallableModel,
): CallableModel {
  return createConductor(conductOf(conducted, ports), passedOn);
}

function conductOf(conducted: Conducted, ports: PlanningPorts): Conduct {
  if (conducted.kind === "program") return conductProgram(ports);
  const { kind, planId } = conducted;
  return kind === "planning"
    ? conductPlanning({ ...ports, agents: () => stepAgents(ports.agents()) }, planId, conducted.maxSteps)
    : conductExecution(ports, planId, conducted);
}

/** Leaves the run to its program for one call, and ends it with what the program reports. */
function conductProgram({ record, sessionId }: PlanningPorts): Conduct {
  const answer = async () => {
    const rows = (await readTree(record, sessionId)).flatMap((root) =>
      root.children.flatMap((turn) => turn.children),
    );
    const { response_content: said, status } = rows.find((row) => row.call_id === PROGRAM_TOOL) ?? {};
    return said ? { said, isFailed: status === "failed" } : undefined;
  };
  return {
    async next() {
      await record.committed();
      const { said, isFailed } = (await answer()) ?? {};
      if (said === undefined) return { call: { id: PROGRAM_TOOL, tool: PROGRAM_TOOL, input: {} } };
      return isFailed ? { fail: said, type: "failed" } : { say: said };
    },
    report: async () => (await answer())?.said ?? "the session ended before its program did",
  };
}

/** A day: the steps of a plan have their own times, and a person may have to be waited for. */
const WHOLE_MINUTES = 24 * 60;

/**
 * The agent as the leader of a plan: its rights, budget and sub-agents, but bounds that suit rules which make a handful of
 * calls and wait long for each.
 */
export function leaderOf(agent: Agent, maxConcurrent?: number): Agent {
  const { subagents, limits } = agent;
  return {
    ...agent,
    deliverables: [],
    limits: { ...limits, turns: 20, toolCalls: 20, minutes: WHOLE_MINUTES, contextChars: 10_000_000 },
    ...(subagents && {
      subagents: {
        ...subagents,
        maxConcurrent: Math.min(subagents.maxConcurrent, maxConcurrent ?? subagents.maxConcurrent),
      },
    }),
  };
}
