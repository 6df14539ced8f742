import type { JsonSchema } from "./json-schema.ts";
import type { ErrorType } from "./result.ts";

/** Of some files, those that are there and that no running command made: no other is read as an agent, a prompt or settings. */
export type FindOwnFiles = (paths: readonly string[]) => Promise<readonly string[]>;

/** How much of the parent's conversation a child receives. */
export type ContextMode = "task_only" | "summary" | "full" | "selective";
export const CONTEXT_MODES = ["task_only", "summary", "full", "selective"] as const satisfies ContextMode[];
/** A context mode as people and models write it; `full_history` is another word for `full`. */
export type ContextWord = ContextMode | "full_history";
export const CONTEXT_WORDS = [...CONTEXT_MODES, "full_history"] as const satisfies ContextWord[];

/** The mode that a word means. */
export function toContextMode(word: ContextWord): ContextMode {
  return word === "full_history" ? "full" : word;
}

/** How several delegations of one turn or batch run. */
export type ExecutionMode = "parallel" | "parallel_streaming" | "sequential";
export const EXECUTION_MODES = [
  "parallel",
  "parallel_streaming",
  "sequential",
] as const satisfies ExecutionMode[];

/** Upper bounds. turns, toolCalls, perTool, contextChars bind one run; tokens, costUsd, spawns its whole subtree. */
export type Limits = {
  turns?: number;
  toolCalls?: number;
  perTool?: Readonly<Record<string, number>>;
  contextChars?: number;
  minutes?: number;
  tokens?: number;
  costUsd?: number;
  spawns?: number;
  depth?: number;
};

/** What a run must leave behind: a file (glob), a command that must exit 0, or an answer of a given form. */
export type Deliverable = FileDeliverable | CommandDeliverable | AnswerDeliverable;
export type FileDeliverable = {
  /** Glob relative to the workspace, or to the project with the prefix `project:`. */
  file: string;
  /** JSON Schema every matching file must satisfy. */
  schema?: JsonSchema;
  /** Tools that answer with an error until this file is there and valid. */
  before?: readonly string[];
};
export type CommandDeliverable = { command: string };
/** The final answer must be JSON that fits this schema. */
export type AnswerDeliverable = { answer: JsonSchema };

/** How often a failed delegation is tried again, and on which error types. */
export type RetryPolicy = { attempts: number; on: readonly ErrorType[]; backoffMs: number };

/** Whom an agent may delegate to, and how. */
export type SubagentPolicy = {
  allow: readonly string[];
  deny: readonly string[];
  execution: ExecutionMode;
  maxConcurrent: number;
  recursive: boolean;
};

/** A word that marks a request, where it says more than the word alone. */
export type Trigger = {
  /** A word or a few words in a row. */
  word: string;
  /** One of these must be in the request too. */
  with?: readonly string[];
  /** None of these may be in the request. */
  not?: readonly string[];
};

/** A delegation that a request makes mandatory, and the word in it that does. */
export type MandatoryDelegation = { agent: string; word: string };

/** Where a definition came from. */
export type AgentFormat = "native" | "claude" | "opencode" | "copilot" | "gemini" | "code" | "settings";
export type AgentSource = {
  format: AgentFormat;
  scope: "project" | "user" | "builtin" | "code";
  /** Absolute path; absent for agents defined in code. */
  file?: string;
  /** Absolute path of the file with its prompt, if that is another one of the user's or the project's. */
  promptFile?: string;
};

/** One checked agent definition. Frozen when a run starts. */
export type Agent = {
  /** Slug by which it is addressed. */
  name: string;
  displayName: string;
  aliases: readonly string[];
  /** When to delegate to it. */
  description: string;
  /** The system prompt. */
  prompt: string;
  /** `inherit`, an alias, or `provider/model-id`. */
  model: string;
  /** Rules it may use; absent means everything its parent grants. */
  tools?: readonly string[];
  askTools: readonly string[];
  disallowedTools: readonly string[];
  /** Rules it may pass on; absent means the same as `tools`. */
  grants?: readonly string[];
  /** Absent: it works alone. */
  subagents?: SubagentPolicy;
  context: ContextMode;
  limits: Limits;
  temperature?: number;
  /** Tokens of one reply; absent: as many as the settings or the model allow. */
  maxOutputTokens?: number;
  /** Requests that one of these marks must go to this agent. */
  delegation?: { mandatory: boolean; triggers: readonly (string | Trigger)[] };
  retry: RetryPolicy;
  deliverables: readonly Deliverable[];
  /** Success criteria that no command of the contract can tell are judged by a run of the reviewer. */
  verify?: "reviewer";
  workspace: "shared" | "isolated";
  flow: "loop" | "intent";
  display: { icon?: string; color?: string };
  enabled: boolean;
  source: AgentSource;
  /** Keys Retinue does not know, kept as they were. */
  extra: Readonly<Record<string, unknown>>;
};

/** A definition that cannot be used, and why. While it comes first of its name, no other agent has that name. */
export type BrokenAgent = Pick<Agent, "name" | "aliases" | "source"> & { problem: Problem };

/** Something wrong or repaired in a file, with its place and remedy. */
export type Problem = {
  severity: "error" | "warning" | "info";
  file: string;
  line: number;
  /** Stable kebab-case id such as `unknown-tool`. */
  code: string;
  message: string;
  fix: string;
};
