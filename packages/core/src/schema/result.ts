/** Life of a run. */
export type RunStatus = (typeof RUN_STATUSES)[number];
export const RUN_STATUSES = ["pending", "running", "completed", "failed", "cancelled", "timeout"] as const;

/** Why something failed, for retry policies and callers. */
export type ErrorType = (typeof ERROR_TYPES)[number];
export const ERROR_TYPES = [
  "unknown_agent",
  "not_allowed",
  "disabled",
  "depth_exceeded",
  "cycle",
  "spawn_limit",
  "budget",
  "timeout",
  "cancelled",
  "failed",
  "auth",
  "rate_limit",
  "overloaded",
  "context_overflow",
  "content_filter",
  "network",
  "bad_response",
  "params",
  "permission",
  "tool_error",
  "deliverable",
  "config",
] as const;

/** A failure as data. */
export type RunError = {
  type: ErrorType;
  message: string;
  tool?: string;
  recoverable: boolean;
  retryAfterMs?: number;
};

/** Why a run was cut short. */
export type BailoutReason =
  | "max_iterations"
  | "max_tool_calls"
  | "max_tokens"
  | "max_cost"
  | "deadline"
  | "timeout"
  | "first_token_timeout"
  | "idle_timeout"
  | "loop_detected"
  | "not_started"
  | "cancelled"
  | "error";

/** Tokens of one model call or a sum of them. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
};

/** The host's word on one deliverable. */
export type DeliverableVerdict = {
  deliverable: string;
  ok: boolean;
  /** What was found or what is missing. */
  reason: string;
  files: readonly string[];
};

/** A deliverable that a sub-agent owed and that nobody has left since. */
export type UnmetDeliverable = {
  agent: string;
  run_id: string;
  deliverable: string;
  reason: string;
};

/** Whether a run met the success criteria of its task, and who judged it. */
export type CriteriaVerdict = {
  criteria: string;
  verdict: "met" | "not_met" | "not_verified";
  by: "commands" | "reviewer" | null;
  reason: string;
  /** The reviewer's run. */
  run_id?: string;
};

/** What became of a file. */
export type ChangeKind = "created" | "modified" | "deleted";

/** One file that a run changed in its own copy of the project. */
export type ChangedFile = {
  path: string;
  kind: ChangeKind;
  /** Lines; null for what is not text. */
  added: number | null;
  removed: number | null;
};

/** What an isolated run changed in its own copy of the project. It is not in the project until it is merged. */
export type IsolatedChanges = {
  files: readonly ChangedFile[];
  /** The copy's folder. */
  worktree: string;
  /** What it began with: a commit, or outside git a tree. */
  base: string;
  /** The hidden ref that keeps the base; null outside git. */
  ref: string | null;
  /** File with the unified diff; null if it could not be saved. */
  diff: string | null;
};

/** The tests of one suite by their last run: a runner, what it was told to run, and the folder in which it ran. */
export type SuiteTests = {
  suite: string;
  run: number;
  passed: number;
  /** How often the suite was run. */
  runs: number;
  /** When it was run last; milliseconds since 1970. */
  at_ms: number;
  /** Suites that hold these tests among others: once all of them were run later, only those count. */
  part_of?: readonly string[];
  /** What was wrong with the run although no test is known to have failed, such as its exit code. */
  fault?: string;
  /** Seen by one that changed nothing and is not there to change anything: what fails is a figure, and no fault of its work. */
  observed?: true;
};

/** What a run and all below it did; tokens and cost of both stand beside it. */
export type SubtreeFigures = {
  /** The run itself is one of them, and so is each attempt of a delegation. */
  runs: number;
  files_modified: readonly string[];
  files_created: readonly string[];
  files_deleted: readonly string[];
  tests: readonly SuiteTests[];
  /** Null if no tests were counted. */
  tests_run: number | null;
  tests_passed: number | null;
  tool_calls_used: number;
  tools_used: readonly string[];
};

/** A delegation of a run, in a line. */
export type SubRun = {
  agent: string;
  run_id: string;
  status: RunStatus;
  success: boolean;
  /** At most 200 characters. */
  summary: string;
};

/** What a flow tells of a run at one moment, in fields of its own: the record keeps it, and the trace shows it. */
export type FlowContext = { readonly [field: string]: unknown };

/** The structured result of a run. What can be measured is measured by the host, not taken from the model. */
export type RunResult = {
  run_id: string;
  session_id: string;
  agent: string;
  model: string;
  status: RunStatus;
  success: boolean;
  /** At most 500 characters. */
  summary: string;
  /** The full final text, or a pointer to the artefact that holds it. */
  details: string;
  /** What the final text holds as JSON, or the response of a flow whose answer has a form of its own. */
  data?: unknown;
  /** The file that holds the data, if they are long and the parent can read files. */
  data_file?: string;
  /** The runs that it delegated to; absent if there are none. */
  sub_runs?: readonly SubRun[];
  /** What its flow tells of the end, if it tells anything. */
  context?: FlowContext;
  /** Files, tests and tools are the run's own; `subtree` has them with everything below. */
  files_modified: readonly string[];
  files_created: readonly string[];
  files_deleted: readonly string[];
  /** Each suite counts by its last run. */
  tests: readonly SuiteTests[];
  /** Null if no tests were counted. */
  tests_run: number | null;
  tests_passed: number | null;
  warnings: readonly string[];
  suggestions: readonly string[];
  iteration_count: number;
  duration_ms: number;
  tool_calls_used: number;
  tools_used: readonly string[];
  subtree: SubtreeFigures;
  /** Characters of the history at the end. */
  context_size: number;
  tokens: { self: number; subtree: number };
  /** Unknown prices are `null`, never 0. */
  cost_usd: { self: number | null; subtree: number | null };
  deliverables: readonly DeliverableVerdict[];
  /** Set if its task came with success criteria. */
  criteria?: CriteriaVerdict;
  /** Set if runs below it left deliverables out and neither a later run nor this one repaired that; it failed then. */
  unmet?: readonly UnmetDeliverable[];
  partial: boolean;
  bailout_reason?: BailoutReason;
  error?: RunError;
  /** Untrusted text entered this run or its children. */
  tainted: boolean;
  /** Data that is not public, such as files or mail, entered this run or its children. */
  private_data: boolean;
  /** Retries of this delegation that came before. */
  attempt: number;
  /** Set for an isolated run that changed something. */
  changes?: IsolatedChanges;
};
