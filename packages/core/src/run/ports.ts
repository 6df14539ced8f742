import type { Clock } from "../budget/clock.ts";
import type { Limiter } from "../budget/limiter.ts";
import type { MandatoryDelegation } from "../schema/agent.ts";
import type { DelegationRequest, OpenDelegation } from "../schema/delegation.ts";
import type { EventBody } from "../schema/event.ts";
import type { Journal } from "../schema/record.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import type { Layer, Target } from "../schema/rights.ts";
import type { Risk, ToolContext } from "../tools/tool.ts";
import type { Claim } from "./deliverables.ts";
import type { EarlierCalls } from "./earlier-calls.ts";
import type { Guards } from "./guards.ts";
import type { KnownAddresses } from "./known-addresses.ts";
import type { ProjectText } from "./project-text.ts";
import type { Recorded } from "./replay/recorded.ts";
import type { Run } from "./run.ts";

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

/** Knows which files hold what tainted runs wrote, until a person has looked at them. */
export type UntrustedFiles = {
  /** Whether any of these files is such a file, wherever it lies and whatever it is called now. */
  hold(paths: Iterable<string>): Promise<boolean>;
  /** Whether a run to which these files and folders are shown sees any such file, or a name that a tainted run made. */
  show(run: Run, paths: Iterable<string>): Promise<boolean>;
  /** Whether there are such files where the run's commands could read them. */
  reach(run: Run): boolean;
  /**
   * A tainted run is about to change files. Until the returned function is called, whatever changes in its project is
   * untrusted; then that is noted which did: what is named, and, unless that is all, what is found by its time. What cannot be
   * noted one by one stays untrusted by the time in which it happened.
   */
  begin(run: Run): (changed: Iterable<string>, isAllKnown: boolean) => Promise<void>;
  /** Notes files that hold untrusted text. */
  note(run: Run, paths: Iterable<string>): Promise<void>;
  /** Ends what a dead process of the session began. */
  closeLeft(sessionId: string): Promise<void>;
  /** Whatever lies in the workspace of a tainted run may come from it. */
  taintWorkspace(run: Run): void;
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

/** A child that is about to begin: its id, the call and row it comes from, and what ends it. */
export type NewChild = { id: string; callId: string; rowId: number; signal: AbortSignal };

/** All that the loop needs from outside. Ports never reject: a failure comes back as a value. */
export type LoopPorts = {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly guards: Guards;
  readonly redactor: Redactor;
  readonly cache: ToolCache;
  /** Set while a session is replayed: nothing outside is called. */
  readonly recorded: Recorded | null;
  /** Tells every subscriber; rows carry their seq. */
  emit(sessionId: string, event: EventBody, seq?: number): void;
  /** Plan mode: only calls of low risk are made. */
  readonly readOnly: boolean;
  /** Who made or changed a file last. */
  readonly claims: Map<string, Claim>;
  /** Where the session's runs may go in the web without a question. */
  readonly addresses: KnownAddresses;
  readonly projectText: ProjectText;
  /** Calls of the session that a tool may want to look back at. */
  readonly earlier: EarlierCalls;
  /** Somebody shows text while it streams. */
  watched(): boolean;
  limiter(provider: string): Limiter;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /**
   * What holds now and may change while runs are under way; only narrows. `writes` are files of the project that are to be
   * written, for what depends on where they lie.
   */
  liveLayers(projectDir: string, writes: readonly string[]): readonly Layer[];
  /** The groups of a tool that there is, whether or not a run has it. */
  groupsOf(tool: string): readonly string[] | undefined;
  /** Keeps a text in the record and gives its id. */
  saveText(text: string): string;
  /** Saves a long text in the workspace and says where. */
  saveArtefact(run: Run, name: string, text: string): Promise<string>;
  /** Keeps what a call came upon as a file of the workspace, in the background. */
  observed(run: Run, path: string, text: string): void;
  /** Results of children that the run has not yet been told of; waits for them, or stops them first. Null if there are none. */
  remainingResults(run: Run, how?: "wait" | "stop"): Promise<string | null>;
  /** The run id of the child that a call asks for. */
  childId(run: Run, callId: string): string;
  /** Runs a child that passed every check; the signal ends it with everything below it. */
  startChild(run: Run, request: DelegationRequest, about: NewChild): Promise<RunResult>;
  /** The result of a child that did not come to run. */
  failedChild(run: Run, about: { id: string; agent: string }, error: RunError): RunResult;
  /** Goes on with the children that the code of a tool had started in a call before a crash, until they end. */
  finishChildren(run: Run, callId: string): Promise<void>;
  /** In a replay: plays the children again that the code of a tool had started in a call. */
  playChildren(run: Run, callId: string, rowId: number): Promise<void>;
  /** Delegations of the run whose results it has not been given. */
  openDelegations(run: Run): readonly OpenDelegation[];
  /** Mandatory delegations that the run has not made. */
  owedDelegations(run: Run): readonly MandatoryDelegation[];
  readonly keepChanges: KeepChanges;
  readonly untrusted: UntrustedFiles;
  createId(prefix: string): string;
  random(): number;
};
