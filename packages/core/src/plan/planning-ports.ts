import type { Record } from "../record/record.ts";
import type { Agent } from "../schema/agent.ts";

/** What leading a plan needs from outside. */
export type PlanningPorts = {
  readonly record: Record;
  readonly sessionId: string;
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** The agent in whose name steps are delegated. */
  readonly agent: string;
  /** Agents that it may delegate to now. */
  agents(): readonly Agent[];
  escapeText(text: string): string;
  now(): number;
};
