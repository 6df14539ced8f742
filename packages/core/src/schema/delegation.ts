import type { ContextWord, ExecutionMode, FileDeliverable, Limits } from "./agent.ts";

/** One task for one sub-agent. */
export type DelegationRequest = {
  agent: string;
  task: string;
  context?: ContextWord;
  contextFiles?: readonly string[];
  /** Run ids of finished delegations whose results the child receives. */
  fromResults?: readonly string[];
  /** Last N messages, with context `selective`. */
  lastMessages?: number;
  successCriteria?: string;
  deliverables?: readonly FileDeliverable[];
  /** Narrows the child's tools further. */
  tools?: readonly string[];
  /** Narrows the child's limits further. */
  limits?: Limits;
  /** The folder of the project that the child's relative paths begin in; only programs can name one. */
  cwd?: string;
};

/** A task of a batch; `dependsOn` names ids of the same batch. */
export type BatchTask = DelegationRequest & { id: string; dependsOn?: readonly string[] };

/** Several tasks at once. */
export type DelegationBatch = {
  tasks: readonly BatchTask[];
  mode?: ExecutionMode;
  /** What happens to the rest when a task fails. */
  onFailure?: "continue" | "stop";
};

/** A delegation whose result its parent has not been given yet. */
export type OpenDelegation = {
  /** Run id of its first attempt. */
  id: string;
  agent: string;
  /** The parent's call that asked for it. */
  callId: string;
  /** The task's id in its batch. */
  taskId?: string;
};
