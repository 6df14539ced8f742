import type { Agent } from "../schema/agent.ts";
import type { Risk, Target } from "../schema/rights.ts";
import type { ToolContext } from "../tools/tool.ts";

/** A call that needs a person's word. */
export type ApprovalRequest = {
  approvalId: string;
  runId: string;
  sessionId: string;
  callId: string;
  tool: string;
  groups: readonly string[];
  targets: readonly Target[];
  input: unknown;
  /** The call in words: every address, the whole text. */
  presented?: string;
  /** Binds the answer to exactly these arguments. */
  inputHash: string;
  risk: Risk;
  reason: string;
  /** Names from the root agent down to the one that asks. */
  chain: readonly string[];
  /** The run holds untrusted text and the call acts outside. */
  tainted: boolean;
  /** The call itself is of a kind that a rule on the tool's name does not cover. */
  mustConfirm: boolean;
};

/** A person's word. With `scope: "run"` a yes also holds for further calls of this run with exactly these arguments. */
export type ApprovalAnswer = { allowed: boolean; by: string; note?: string; scope?: "once" | "run" };

/** Hides secrets. */
export type Redactor = {
  redact(text: string): string;
  /** For a text that was cut off: leaves out what may be the beginning of a secret at its end. */
  redactCut(text: string): string;
  redactJson<Value>(value: Value): Value;
  stream(): { push(chunk: string): string; end(): string; cut(): string };
  /** Whether a value that is about to leave holds a known secret, however it is encoded. */
  findHidden(value: unknown): "none" | "found" | "too much";
};

/** Reuses outputs of safe tools within a session. */
export type ToolCache = {
  get(key: string): { text: string; tainted: boolean } | undefined;
  set(key: string, output: { text: string; tainted: boolean }): void;
};

/** Keeps what one call changes in the project, so that it can be shown and taken back. */
export type CallChanges = Pick<ToolContext, "beforeChange" | "aroundChanges"> & {
  /** Something was announced and its outcome is not known yet. */
  readonly busy: boolean;
  /** Measures what came of it; what the model must be told comes back. To be called when the tool has really ended. */
  end(): Promise<readonly string[]>;
};

/** Opens the books of one call. */
export type KeepChanges = (call: {
  readonly sessionId: string;
  readonly runId: string;
  /** The record's row of the call. */
  readonly rowId: number;
  readonly projectDir: string;
  readonly signal: AbortSignal;
  readonly changed: ToolContext["changed"];
}) => CallChanges;

/** A file that is handed over; `version` only if all of it is, so that who gets it has read it. */
export type HandedFile = {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly version?: string;
};

/** What a session's prompts say of the project's repository; null if there is none. */
export type GitState = { readonly branch: string; readonly state: string };

/** This process's hold on a session. */
export type Lease = {
  /** Fires, with the reason, when another process has taken the session over, or it was left for later. */
  readonly lost: AbortSignal;
  /** Leaves the session as it is on disk, to be resumed later; nothing more of it is done or written here. */
  park(reason: Error): Promise<void>;
  /** Lets other processes have the session. */
  release(): void;
};

/** The delegation that is asked for, and where in the tree. */
export type Admission = {
  child: Agent;
  parent: Agent;
  /** Names from the root down to the parent itself. */
  line: readonly string[];
  depth: number;
  maxDepth: number;
};

/** Whose text may have a say in what a run does: that of others outside, or that of the project. */
export type Steering = { readonly tainted: boolean; readonly projectText: boolean };
