import type { Agent } from "../schema/agent.ts";
import { RetinueError, type RetinueErrorCode } from "../schema/error.ts";
import type { ExecutionPlan } from "../schema/plan.ts";
import type { RunResult } from "../schema/result.ts";
import { PLANNER } from "./make-plan.ts";

/** The leader can reach nobody who plans. */
export function noPlanner(agent: Agent): RetinueError {
  return new RetinueError(
    "config",
    `'${agent.name}' cannot delegate to an agent named '${PLANNER}', so there is nobody to make a plan`,
    `define an agent '${PLANNER}' and name it under subagents.allow of '${agent.name}'`,
  );
}

const CODES: Readonly<Record<string, RetinueErrorCode>> = {
  auth: "auth",
  config: "config",
  budget: "limit",
  spawn_limit: "limit",
  permission: "denied",
};

/** Planning ended without a plan. */
export function notPlanned({ status, error, session_id }: RunResult): RetinueError {
  const message = error?.message ?? `planning ended without a plan (${status})`;
  return new RetinueError(
    CODES[error?.type ?? ""] ?? "failed",
    message,
    `see what was tried with: retinue trace ${session_id}`,
  );
}

/** The session was left for later, with what it has done so far; it is neither done nor failed. */
export class PlanLeft extends RetinueError {
  constructor({ error, session_id: sessionId }: RunResult) {
    const why = error ? `: ${error.message}` : "";
    super("failed", `it was left in the middle${why}`, `go on with: retinue resume ${sessionId}`);
  }
}

/** The plan is in somebody's hands. */
export function isRunning({ id, executionSessionId }: ExecutionPlan): RetinueError {
  return new RetinueError(
    "input",
    `plan ${id} is being executed in session ${executionSessionId}`,
    `if its process is gone, go on with: retinue resume ${executionSessionId}`,
  );
}

/** The plan's status does not allow it. */
export function notNow({ id, status }: ExecutionPlan, done: string): RetinueError {
  return new RetinueError(
    "input",
    `plan ${id} is ${status} and cannot be ${done}`,
    `change it first with: retinue plan edit ${id}`,
  );
}
