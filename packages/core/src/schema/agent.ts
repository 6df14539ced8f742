import type { AgentFormat, ContextMode, ContextWord, ExecutionMode, SimpleFields } from "./agent-fields.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { ErrorType } from "./result.ts";

export {
  type AgentFormat,
  CONTEXT_MODES,
  CONTEXT_WORDS,
  type ContextMode,
  type ContextWord,
  EXECUTION_MODES,
  type ExecutionMode,
} from "./agent-fields.ts";

/** Of some files, those that are there and that no running command made: no other is read as an agent, a prompt or settings. */
export type FindOwnFiles = (paths: readonly string[]) => Promise<readonly string[]>;

/** The mode that a word means. */
export function toContextMode(word: ContextWord): ContextMode {
  return word === "full_history" ? "full" : word;
}

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
export type AgentSource = {
  format: AgentFormat;
  scope: "project" | "user" | "builtin" | "code";
  /** Absolute path; absent for agents defined in code. */
  file?: string;
  /** Absolute path of the file with its prompt, if that is another one of the user's or the project's. */
  promptFile?: string;
};

/** One checked agent definition. Frozen when a run starts. What its simple fields mean stands in the table of fields. */
export type Agent = SimpleFields & {
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
  limits: Limits;
  /** Requests that one of these marks must go to this agent. */
  delegation?: { mandatory: boolean; triggers: readonly (string | Trigger)[] };
  retry: RetryPolicy;
  deliverables: readonly Deliverable[];
  display: { icon?: string; color?: string };
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
