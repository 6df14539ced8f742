import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Clock } from "../budget/clock.ts";
import { Deadline, type TimeBox } from "../budget/deadline.ts";
import type { Ledger, Need, Refusal, Reservation } from "../budget/ledger.ts";
import type { Limiter } from "../budget/limiter.ts";
import type { RunSlot, Slots } from "../budget/slots.ts";
import type { Record } from "../record/record.ts";
import type { decide } from "../rights/decide.ts";
import type { ToolName, visibleTools } from "../rights/explain.ts";
import type { Agent, ContextMode, Deliverable, Limits, MandatoryDelegation } from "../schema/agent.ts";
import type { EventBody, WaitingOn } from "../schema/event.ts";
import type { Conducted } from "../schema/plan.ts";
import type { Journal, MessageNode, Past } from "../schema/record.ts";
import type {
  BailoutReason,
  ChangeKind,
  DeliverableVerdict,
  RunError,
  RunResult,
  SuiteTests,
  UnmetDeliverable,
} from "../schema/result.ts";
import type { Decision, Layer, PermissionMode } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import { combineChanges } from "../schema/subtree.ts";
import type { AnyTool, Program, Spawner } from "../tools/tool.ts";
import type { Validated } from "../tools/validate-input.ts";
import type { Claim } from "./claims.ts";
import type { Conduct } from "./conductor.ts";
import type { Delegation, Delegations } from "./delegations.ts";
import type { EarlierCalls } from "./earlier-calls.ts";
import type { KnownAddresses } from "./known-addresses.ts";
import type { CallableModel } from "./model/callable-model.ts";
import type { measureUsage } from "./model/measure-usage.ts";
import { sizeOf } from "./model/message-size.ts";
import type { CallResult, Reply, ReplyReader, ToolCall } from "./model/reply.ts";
import type { Ending, GatheredWork, ModelCall, ModelOutcome, Next, Resumption } from "./outcome.ts";
import type {
  Admission,
  ApprovalAnswer,
  ApprovalRequest,
  GitState,
  HandedFile,
  KeepChanges,
  Lease,
  Redactor,
  Steering,
  ToolCache,
} from "./ports.ts";
import type { ProjectText } from "./project-text.ts";
import type { isRepeating, Repetition } from "./repetition.ts";

// The three objects, and the types that name them and that they name: all of these name each other, so they are in one
// file. What names none of the three is in `outcome.ts` and `ports.ts`.

/** What everything in one process shares: made once by `createHost`. What comes from outside is a port, and a port never rejects. */
export type Host = {
  readonly settings: Settings;
  readonly registry: AgentRegistry;
  readonly tools: ReadonlyMap<string, AnyTool>;
  /** Tools that limits may name although this runtime does not bring them. */
  readonly knownTools: readonly ToolName[];
  /** The record. */
  readonly record: Record;
  readonly slots: Slots;
  /** How agents work, by what their files call it. */
  readonly flows: { readonly [Name in Agent["flow"]]: Flow };
  readonly guards: Guards;
  /** The sessions that are open here, by id. */
  readonly sessions: Map<string, Session>;

  readonly projectDir: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly homeDir: string;
  readonly mode: PermissionMode;
  readonly disallowedTools: readonly string[];
  /** Words of a request may make a delegation mandatory. */
  readonly triggers: boolean;
  /** Who looks after sessions that are left open. */
  readonly keeper: string | undefined;

  readonly clock: Clock;
  readonly redactor: Redactor;
  random(): number;
  createId(prefix: string): string;
  /** The id of a child run, or of another attempt of it. */
  createRunId(parent: Run, child: ChildKey): string;
  /** The person's time zone. */
  zone(): string;
  /** The person's name, where it is known. */
  person(projectDir: string): string | null;
  /** Where the project's repository stands; null if there is none. */
  readGitState(projectDir: string): Promise<GitState | null>;
  /** Somebody hears events. */
  watched(): boolean;
  /** Tells every subscriber; a row's event carries its seq. */
  emit(sessionId: string, event: EventBody, seq?: number): void;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  limiter(provider: string): Limiter;
  /**
   * What holds now and may change while runs are under way; only narrows. `writes` are files of the project that are to be
   * written, for what depends on where they lie.
   */
  liveLayers(projectDir: string, writes: readonly string[]): readonly Layer[];
  /** Gives an agent a model by name; `inherit` is the parent's, or the default for a root run. */
  resolveModel(name: string, inherited: CallableModel | null, agent: Agent): Promise<CallableModel>;
  /** What the host does in a root run that it leads itself, in the place of a model. */
  conduct(session: Session, leader: Agent, conducted: Conducted): Conduct;
  /** Runs an agent below another run or as a root, from its first row to its last; never rejects. */
  runChild(request: SpawnRequest): Promise<RunResult>;
  /** Makes one attempt at a model call. */
  callModel(run: Run, call: ModelCall): Promise<ModelOutcome>;
  /** Makes one call of a tool. */
  makeCall(run: Run, call: ToolCall): Promise<CallResult>;
  readonly pace: Pace;
  readonly workplace: Workplace;
  readonly untrusted: UntrustedFiles;
  /** Keeps what calls change in the project, so that it can be shown and taken back. */
  readonly keepChanges: KeepChanges;
};

/** One conversation with a person and its workspace, while it is open in this process. */
export type Session = {
  readonly id: string;
  readonly host: Host;
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** When it began, also if it goes on later. */
  readonly startedAtMs: number;
  readonly account: Ledger;
  /** Layers above every agent: protected places, settings, the session's flags. */
  readonly base: readonly Layer[];
  readonly maxDepth: number;
  /** Plan mode: only calls of low risk are made. */
  readonly readOnly: boolean;
  /** Words of a request may make a delegation mandatory. */
  readonly triggers: boolean;
  /** The record as this session's runs write it. */
  readonly journal: Journal;
  readonly lease: Lease;
  /** Runs that have not ended, by id. */
  readonly live: Map<string, Run>;
  readonly cache: ToolCache;
  /** Who made or changed a file last. */
  readonly claims: Map<string, Claim>;
  /** Where its runs may go in the web without a question. */
  readonly addresses: KnownAddresses;
  readonly projectText: ProjectText;
  /** Calls that a tool may want to look back at. */
  readonly earlier: EarlierCalls;
  /** Set once the session was cancelled or lost: nothing begins in it any more. */
  stop: Interruption | null;
  /** Where the project's repository stood when it was first asked for; null if there is none. */
  gitState(): Promise<GitState | null>;
  emit(event: EventBody, seq?: number): void;
  /** Keeps what a call found as a file of the workspace, in the background. */
  observe(run: Run, path: string, text: string): void;
  /** Waits until what was observed is in the workspace, but not longer than a moment. */
  flushObserved(): Promise<void>;
};

/** One execution of an agent: what is fixed when it begins, and what changes while it runs. */
export class Run {
  readonly session: Session;
  readonly host: Host;
  readonly parent: Run | null;
  /** Its children that have not ended. */
  readonly kids = new Set<Run>();
  /** Null for a run that may not delegate. */
  children: ChildRuns | null = null;
  /** Resolves when the run and everything below it is over. */
  readonly settled: Promise<void>;
  readonly settle: () => void;

  readonly runId: string;
  /** Ids of this run and its ancestors, root first. */
  readonly line: readonly string[];
  /** The parent's tool call that made this run. */
  readonly callId: string | null;
  readonly attempt: number;
  /** Its task's id in the parent's batch. */
  readonly taskId: string | null;
  readonly depth: number;
  readonly agent: Agent;
  readonly flow: Flow;
  readonly system: string;
  /** The whole first message, with criteria, context and results. */
  readonly task: string;
  /** What of it the person or the parent asked for. */
  readonly asked: string;
  readonly chain: readonly Layer[];
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly limits: RunLimits;
  readonly deliverables: readonly Deliverable[];
  /** Delegations that its request demands before it may answer. */
  readonly mandatory: readonly MandatoryDelegation[];
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** The folder of the project that relative paths begin in, if it is not its top. */
  readonly cwd: string | undefined;
  /** This run's row in the record. */
  readonly messageId: number;
  readonly startedAtMs: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** The end of its own time, which stands still while it waits for children or a person. */
  readonly deadline: Deadline;
  /** The time that a person or a program gave to it or to a run above it, everything below included. */
  readonly timeBox: TimeBox | null;
  /** How deep delegation may go below the root, the tightest limit of the line. */
  readonly maxDepth: number;
  readonly account: Ledger;
  readonly slot: RunSlot;
  /** The agent's model, which children inherit. */
  readonly ownModel: CallableModel;

  readonly #controller = new AbortController();
  /** The model of the next call: the agent's, or the fallback that took over for the rest of the run. */
  model: CallableModel;
  readonly fallbacks: CallableModel[];
  readonly history: LanguageModelV4Message[] = [];
  /** Where in the history its own task stands; what comes before it is another run's conversation. */
  begunAt = 1;
  contextChars = 0;
  contextBytes = 0;
  turn = 0;
  toolCalls = 0;
  /** It wanted more tool calls than it may make. */
  overToolCalls = false;
  readonly toolCounts = new Map<string, number>();
  /** Tools that really ran. */
  readonly toolsUsed = new Set<string>();
  tainted: boolean;
  /** Data that is not public has entered it, so that what it writes may tell of them. */
  privateData: boolean;
  tokens = 0;
  /** Null once a call of unknown price was made. */
  costUsd: number | null = 0;
  /** Every call below this run had a known price. */
  subtreePriced = true;
  readonly changes = new Map<string, ChangeKind>();
  /** Suites of tests that it ran, by name. */
  readonly tests = new Map<string, SuiteTests>();
  readonly warnings: string[] = [];
  /** How many of the warnings some row tells of. */
  warningsRecorded = 0;
  /** The last turn's calls, and how often they came in a row. */
  readonly repetition: Repetition = { last: "", count: 0 };
  /** Tokens the last call measured, and the bytes of history it covered. */
  measured: { readonly tokens: number; readonly bytes: number } = UNMEASURED;
  /** Set if the run goes on after a crash. */
  resumption: Resumption | null = null;
  /** What a person has said since the last turn's row. */
  readonly steered: string[] = [];
  /** User messages that no row tells of yet; the next turn's row takes them. */
  readonly unrecorded: string[] = [];
  /** The history was replaced since the last turn's row, which must then hold all of it. */
  historyReplaced = false;
  /** Row of the current turn. */
  turnMessageId: number;
  repairsLeft: number;
  /** Files that matched the deliverables before the run began. */
  baseline: Baseline = NO_FILES;
  emptyReplies = 0;
  /** What the model had written of a reply that broke off; empty again with the next reply. */
  brokenOff = "";
  /** What the model has written of an answer that was cut at the output limit and is to go on, part by part. */
  cutAnswer: readonly string[] = [];
  /** Its answer was sent back once because a mandatory delegation was missing. */
  sentBack = false;
  /** Set once the run has begun its last report. */
  wrapUpReason: BailoutReason | null = null;
  compactedForOverflow = false;
  /** The step that its flow is in; null in a free turn. */
  step: FlowStep | null = null;
  /** Ids of all calls so far. */
  readonly callIds = new Set<string>();
  /** What it waits for, and how often at once. */
  readonly waits = new Map<WaitingOn, number>();
  interruption: Interruption | null = null;
  /** Messages from a person for the next turn. */
  readonly steering: string[] = [];
  /** Set while the run is paused; resolves when it may go on. */
  paused: { promise: Promise<void>; resume: () => void } | null = null;

  constructor(fixed: FixedPart & { tainted: boolean; privateData: boolean }) {
    const { session, parent, runId } = fixed;
    this.session = session;
    this.host = session.host;
    this.parent = parent;
    this.runId = runId;
    this.line = parent ? [...parent.line, runId] : [runId];
    this.callId = fixed.callId;
    this.attempt = fixed.attempt;
    this.taskId = fixed.taskId;
    this.depth = fixed.depth;
    this.agent = fixed.agent;
    this.flow = fixed.flow;
    this.system = fixed.system;
    this.task = fixed.task;
    this.asked = fixed.asked;
    this.chain = fixed.chain;
    this.tools = fixed.tools;
    this.limits = fixed.limits;
    this.deliverables = fixed.deliverables;
    this.mandatory = fixed.mandatory;
    this.projectDir = fixed.projectDir;
    this.workspaceDir = fixed.workspaceDir;
    this.cwd = fixed.cwd;
    this.messageId = fixed.messageId;
    this.startedAtMs = fixed.startedAtMs;
    this.startedMs = fixed.startedMs;
    this.deadline = new Deadline(fixed.startedMs + fixed.limits.timeoutMs);
    this.timeBox = fixed.timeBox;
    this.maxDepth = fixed.maxDepth;
    this.account = fixed.account;
    this.slot = fixed.slot;
    this.ownModel = fixed.ownModel;
    this.model = fixed.ownModel;
    this.fallbacks = [...(fixed.ownModel.fallbacks ?? [])];
    this.tainted = fixed.tainted;
    this.privateData = fixed.privateData;
    this.turnMessageId = fixed.messageId;
    this.repairsLeft = fixed.limits.repairs;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.settled = promise;
    this.settle = resolve;
    this.push({ role: "system", content: fixed.system });
    this.push({ role: "user", content: [{ type: "text", text: fixed.task }] });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Names of the ancestors, root first. */
  get ancestors(): readonly string[] {
    return this.parent ? [...this.parent.ancestors, this.parent.agent.name] : [];
  }

  get waitingOn(): WaitingOn | null {
    return [...this.waits.keys()].at(-1) ?? null;
  }

  /** Milliseconds the run has worked, without the time it waited for children or a person. */
  elapsedMs(nowMs: number): number {
    const waitedMs = this.deadline.atMs - this.limits.timeoutMs - this.startedMs;
    return Math.max(0, Math.round(nowMs - this.startedMs - waitedMs));
  }

  push(message: LanguageModelV4Message): void {
    this.history.push(message);
    const { chars, bytes } = sizeOf(message);
    this.contextChars += chars;
    this.contextBytes += bytes;
  }

  /** Adds what the host or a person says. */
  pushUser(text: string): void {
    this.unrecorded.push(text);
    this.push({ role: "user", content: [{ type: "text", text }] });
  }

  /** Puts another history in place of this one; rights, taint and counters stay as they are. */
  replaceHistory(messages: readonly LanguageModelV4Message[]): void {
    const task = JSON.stringify(this.history[this.begunAt]);
    this.begunAt = Math.max(
      1,
      messages.findLastIndex((message) => JSON.stringify(message) === task),
    );
    this.historyReplaced = true;
    this.unrecorded.length = 0;
    this.history.length = 0;
    this.contextChars = 0;
    this.contextBytes = 0;
    this.measured = UNMEASURED;
    for (const message of messages) this.push(message);
  }

  /** Remembers a file that the run made, changed or deleted. */
  noteChange(path: string, kind: ChangeKind): void {
    const net = combineChanges(this.changes.get(path), kind);
    if (net) this.changes.set(path, net);
    else this.changes.delete(path);
  }

  /** Remembers a run of a suite of tests; the last one counts. */
  noteTests(tests: Omit<SuiteTests, "runs">): void {
    const runs = (this.tests.get(tests.suite)?.runs ?? 0) + 1;
    this.tests.set(tests.suite, { ...tests, runs });
  }

  /** Holds the run at its next turn until `paused.resume` is called. */
  pause(): void {
    if (this.paused || this.interruption) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const resume = () => {
      this.paused = null;
      resolve();
    };
    this.paused = { promise, resume };
  }

  /** Ends the run from outside; the first reason stays. */
  interrupt(interruption: Interruption): void {
    if (this.interruption) return;
    this.interruption = interruption;
    this.paused?.resume();
    this.#controller.abort(new Error(interruption.message));
  }

  /** Ends the run and everything below it. */
  interruptTree(interruption: Interruption): void {
    this.interrupt(interruption);
    for (const kid of this.kids) kid.interruptTree(interruption);
  }
}

/** Nothing of a conversation has been measured. */
export const UNMEASURED = Object.freeze({ tokens: 0, bytes: 0 });

/** How matching files looked when a run began, so that only what it made or changed counts. */
export type Baseline = ReadonlyMap<string, string>;

const NO_FILES: Baseline = new Map();

/** What of a run is given when it is made. */
type FixedPart = Pick<
  Run,
  | "session"
  | "parent"
  | "runId"
  | "callId"
  | "attempt"
  | "taskId"
  | "depth"
  | "agent"
  | "flow"
  | "system"
  | "task"
  | "asked"
  | "chain"
  | "tools"
  | "limits"
  | "deliverables"
  | "mandatory"
  | "projectDir"
  | "workspaceDir"
  | "cwd"
  | "messageId"
  | "startedAtMs"
  | "startedMs"
  | "timeBox"
  | "maxDepth"
  | "account"
  | "slot"
  | "ownModel"
>;

/** The bounds of one run, all filled in. */
export type RunLimits = {
  readonly turns: number;
  readonly toolCalls: number;
  readonly perTool: { readonly [tool: string]: number };
  readonly contextChars: number;
  /** Tokens of one reply; absent: as many as the model can give. */
  readonly maxOutputTokens?: number;
  readonly timeoutMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  /** How often a run may repair missing deliverables. */
  readonly repairs: number;
};

/** Why a run must end from outside. */
export type Interruption = {
  status: "cancelled" | "timeout" | "failed";
  bailout: BailoutReason;
  message: string;
};

/** How an agent gets from its task to its answer: what a run asks at the points where ways of working differ. */
export type Flow = {
  /** Its conversation may be condensed to make room. */
  readonly condenses: boolean;
  /** Its answer has a form of its own, so the model is asked for no other and the record keeps the data beside the text. */
  readonly hasOwnForm: boolean;
  /** Whatever its tools wrote would be written a second time by another attempt, also what stays inside. */
  readonly actsByWriting: boolean;
  /** Before a turn's request: says what the model must hear, and gives the step that the turn takes; null for a free turn. */
  enterStep(run: Run): FlowStep | null;
  /** The step in which the reply was asked for that the conversation ends with, of a run that goes on after a crash. */
  findStepOfReply(run: Run): FlowStep | null;
  /** The model made no calls. */
  afterAnswer(run: Run, reply: Reply): Next | Promise<Next>;
  /** The calls of a turn are answered; `before` is how many had been made before them. */
  afterCalls(run: Run, next: Next, before: number): Next;
  /** What a run leaves that ends without a report. */
  keepWork(run: Run, gathered: GatheredWork): string;
  /** What stands in for the last report of a run whose model gave none; `said` are words of it that are no report. */
  replaceReport(run: Run, gathered: GatheredWork, said: string): string;
  /** The ending as the flow tells it. */
  finish(run: Run, ending: Ending): Ending;
};

/** One step of a flow, from a request to what follows its reply. */
export type FlowStep = {
  readonly name: string;
  /** Names of the only tools that the model is offered; null if none is even shown. */
  readonly tools: readonly string[] | null;
  /** Whether the model may call what it is offered. */
  readonly mayCall: boolean;
  /** What the row of its model call tells when it opens. */
  describe(run: Run): { readonly [name: string]: unknown };
  /** What that row tells of the reply. */
  describeReply(run: Run, reply: Reply): { readonly [name: string]: unknown };
  /** Answers a call, by making it or not. */
  answerCall(call: ToolCall, make: (call: ToolCall) => Promise<CallResult>, run: Run): Promise<CallResult>;
};

/** All that children of one agent under one parent share; made once, frozen for all of them. */
export type Profile = {
  readonly agent: Agent;
  readonly flow: Flow;
  readonly model: CallableModel;
  readonly chain: readonly Layer[];
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly limits: RunLimits;
  /** Whom it may delegate to; nobody at the depth limit. */
  readonly delegates: readonly Agent[];
  readonly maxDepth: number;
  /** Delegations that the person's request demands; none for a child. */
  readonly mandatory: readonly MandatoryDelegation[];
  readonly system: string;
  /** Files of the project that stand in the prompt. */
  readonly promptFiles: readonly string[];
  /** Its prompt holds what lies in the project: an agent's file, instructions, what agents there say of themselves. */
  readonly isOfProject: boolean;
  readonly systemPromptId: string;
  /** Where the record keeps the definition and the rights as they were when the run began. */
  readonly snapshotId: string;
};

/** A run that is about to begin. */
export type SpawnRequest = {
  session: Session;
  parent: Run | null;
  profile: Profile;
  runId: string;
  /** What the person or the parent asked for, for the record. */
  task: string;
  /** The whole first message, with criteria, context and results. */
  message: string;
  /** The part of it that tells of other runs. */
  told?: string | undefined;
  contextMode?: ContextMode;
  /** Untrusted text is in the task or message although the parent holds none yet. */
  tainted?: boolean;
  /** Private data that no person wrote are in the task or message although the parent holds none yet. */
  privateData?: boolean;
  callId: string | null;
  /** The row that the run's row hangs from. */
  parentRowId: number | null;
  attempt: number;
  deliverables: readonly Deliverable[];
  /** How it is told that the task succeeded. */
  criteria?: string | undefined;
  limits?: Limits | undefined;
  /** A program asks for it below its parent, not the parent's model. */
  byProgram?: boolean | undefined;
  /** Set for a root run that the host leads in the place of a model. */
  conducted?: Conducted | undefined;
  /** Set for a root run that a program leads: the program, or null where it is not there any more. */
  program?: Program | null | undefined;
  /** The folder that relative paths begin in, relative to the project. */
  cwd?: string | undefined;
  /** The task's id in its batch. */
  taskId?: string | undefined;
  /** An earlier run whose conversation the new run begins with. */
  past?: Past | undefined;
  /** The row of the run to go on with. */
  resume?: MessageNode | undefined;
  /** Called once the run can be steered, held and stopped. */
  onLive?(): void;
};

/** A child run as its parent knows it: by the call, the task in a batch, and the attempt. */
export type ChildKey = { callId: string; taskId?: string | undefined; attempt: number };

/** The children of one run, as the run itself sees them; see `delegate/children.ts`. */
export type ChildRuns = {
  readonly delegates: readonly Agent[];
  readonly delegations: Delegations;
  /** What ends a child that comes to life only after its siblings were stopped; null if they were not. */
  readonly stopping: Interruption | null;
  /** Ends the children that run and lets no further one begin. */
  stop(message: string): void;
  /** Whether a delegation to an agent has come so far that a row tells of it. */
  hasDelegatedTo(agent: string): boolean;
  /** Results of children that the run has not been told of; waits for them, or stops them first. Null if there are none. */
  collectRest(how: "wait" | "stop"): Promise<string | null>;
  /** Goes on with what the code of a tool had started in a call before a crash, until it ends. */
  finish(callId: string): Promise<void>;
  /** Starts children for the code of a tool. */
  createSpawner(below: Below): Spawner;
};

/** Where children that a tool's code starts belong, and the check that every one of them must pass. */
export type Below = {
  call: ToolCall;
  /** The row that theirs hang from. */
  rowId: number;
  /** The checks of a model's call of `delegate`; why it is refused, or null. */
  refuse(nested: ToolCall): Promise<string | null>;
  /** Told of every result that holds untrusted text. */
  onTainted(): void;
};

/** When what happens elsewhere reaches a run: time, the ends of its children. In life it does as it happens. */
export type Pace = {
  /** A turn is about to begin; a limit that ends the run now is returned. */
  beforeTurn(run: Run): BailoutReason | null;
  /** Ends a run that came to life after it was stopped, and any run at its deadline; returns how to stop watching. */
  watch(run: Run): () => void;
  /** Why a child does not begin now; null if it does. `stopped` is why nothing begins any more. */
  refuseChild(parent: Run, child: ChildKey & { agent: string }, stopped: string | null): string | null;
  /** The end of a delegation as its parent may hear of it. */
  hear(parent: Run, delegation: OpenChild, ended: Promise<RunResult>): Promise<RunResult>;
  /** Waits until one or all of some delegations have ended, or something else has happened. */
  untilEnded(
    parent: Run,
    some: readonly Delegation[],
    enough: "one" | "all",
    orUntil: readonly Promise<unknown>[],
  ): Promise<unknown>;
  /** The parent waits for all that is left. */
  hearAll(parent: Run): void;
  /** The parent wants its children stopped. */
  stopChildren(parent: Run, stop: () => void): void;
};

/** A delegation by what names it. */
export type OpenChild = Pick<Delegation, "id" | "agent" | "callId" | "taskId">;

/** The folders that runs work in, and what the host itself reads and writes there. */
export type Workplace = {
  /** The folders of a run that begins: its parent's, or its own. */
  enter(request: SpawnRequest): Promise<{ projectDir: string; workspaceDir: string }>;
  /** The result with what a run with a copy of the project changed there, and with a word on changes below that nobody merged. */
  leave(run: Run, result: RunResult): Promise<RunResult>;
  /** The tool by which a run brings in what an isolated child changed. */
  createMergeTool(run: Run): AnyTool;
  /** Saves a long text in the run's workspace and says where. */
  saveArtefact(run: Run, name: string, text: string): Promise<string>;
  /** The folder of the project that a child is to work in, relative to it. Throws if it is none. */
  findFolder(run: Run, cwd: string): Promise<string>;
  /** Reads a file that is handed over, by one of these chains of rights. Throws if it cannot be. */
  readHanded(run: Run, chains: readonly (readonly Layer[])[], name: string): Promise<HandedFile>;
  /** Notes the files that match the run's deliverables before it begins. */
  takeBaseline(run: Run): Promise<Baseline>;
  /** Why a tool may not run yet: a file that must come before it is not there or not valid. */
  missingBefore(run: Run, tool: string): Promise<string | null>;
  /** What the children of an ended run owed and nobody has left. */
  findUnmet(run: Run): Promise<readonly UnmetDeliverable[]>;
};

/** Knows which files hold what tainted runs wrote, until a person has looked at them. */
export type UntrustedFiles = {
  /** Whether any of these files is such a file, wherever it lies and whatever it is called now. */
  hold(paths: Iterable<string>): Promise<boolean>;
  /** Whether a run to which these files and folders are shown sees any such file, or a name that a tainted run made. */
  show(run: Run, paths: Iterable<string>): Promise<boolean>;
  /** Whether there are such files where the run's commands could read them. */
  reach(run: Run): Promise<boolean>;
  /**
   * A tainted run is about to change files. Until the returned function is called, whatever changes in its project is
   * untrusted; then that is noted which did: what is named, and, unless that is all, what is found by its time. What cannot be
   * noted one by one stays untrusted by the time in which it happened.
   */
  begin(run: Run): Promise<(changed: Iterable<string>, isAllKnown: boolean) => Promise<void>>;
  /** Notes files that hold untrusted text. */
  note(run: Run, paths: Iterable<string>): Promise<void>;
  /** Ends what a dead process of the session began. */
  closeLeft(sessionId: string): Promise<void>;
  /** Whatever lies in the workspace of a tainted run may come from it. */
  taintWorkspace(run: Run): Promise<void>;
};

/**
 * The checks that keep runs honest, each behind a name; see `run/guards.ts`. The runtime always uses those; only the testing
 * entry can put others in their place, which is how a test shows that a guard matters.
 */
export type Guards = {
  decide: typeof decide;
  visibleTools: typeof visibleTools;
  /** The gate every child run passes, no matter who asks for it: depth and circles. Null lets it through. */
  admitChild: (asked: Admission) => RunError | null;
  validate: (tool: AnyTool, text: string) => Promise<Validated>;
  /** An outbound call of a run that others' text may steer needs a person, unless a rule names whom it reaches, or the command, where that text is only the project's. */
  needsPerson: (by: Steering, outbound: boolean, decision: Decision) => boolean;
  /** What of a call's requests to the web the model put together when it knew private data and others' text. */
  composedRequests: (
    run: Steering & { privateData: boolean },
    requests: readonly string[],
    known: Pick<KnownAddresses, "has">,
  ) => readonly string[];
  /** What a tainted run wrote taints who reads it. */
  taintsReader: (isUntrusted: boolean) => boolean;
  /** Why a person must confirm this call; null if a rule names whom it reaches or the command it runs, or nobody must. */
  mustConfirm: (reason: string | null, decision: Decision) => string | null;
  /** A call whose input holds a secret does not reach anybody outside. */
  leaksSecret: (holdsSecret: boolean, reachesOutside: boolean) => boolean;
  reserve: (account: Ledger, need: Need, signal: AbortSignal) => Promise<Reservation | Refusal>;
  measure: typeof measureUsage;
  escapeText: (text: string) => string;
  isRepeating: typeof isRepeating;
  isEmpty: (text: string) => boolean;
  /** The host's own check of everything the run promised; `text` is its answer. */
  checkDeliverables: (run: Run, text: string, runCommand: RunCommand) => Promise<DeliverableVerdict[]>;
  maxCallsPerTurn: number;
  /** Characters after which a reply that goes on is given up. */
  maxReplyChars: number;
  /** Only a stream that reached its end gives a reply, and with it calls that run. */
  isWhole: (reader: ReplyReader) => boolean;
  /** No call runs of a reply that was cut at the output limit, filtered, or ended in another way than a whole one. */
  isFinished: (call: ToolCall) => boolean;
  distinctCalls: (run: Pick<Run, "turn" | "callIds">, calls: readonly ToolCall[]) => ToolCall[];
  /** What an approval is bound to: exactly this call of this tool. */
  inputHash: (tool: string, input: unknown) => string;
};

/** Runs a command as the run's own shell call; null if it exited with 0, else what went wrong. */
export type RunCommand = (command: string, index: number) => Promise<string | null>;
