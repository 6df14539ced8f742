import type { AgentRegistry } from "../agents/registry.ts";
import type { Ledger } from "../budget/ledger.ts";
import type { Slots } from "../budget/slots.ts";
import type { Isolation } from "../changes/isolate.ts";
import type { ChangeKeeper } from "../changes/keep-changes.ts";
import type { admitChild } from "../delegate/admit-child.ts";
import type { Children } from "../delegate/children.ts";
import type { SpawnRequest } from "../delegate/spawn-request.ts";
import type { Store } from "../record/create-store.ts";
import type { ToolName } from "../rights/outlook.ts";
import type { visibleTools } from "../rights/visible-tools.ts";
import type { Flow } from "../run/flow.ts";
import type { Guards } from "../run/guards.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import type { LoopPorts } from "../run/ports.ts";
import type { Run } from "../run/run.ts";
import type { Interruption } from "../run/run-spec.ts";
import type { Agent } from "../schema/agent.ts";
import type { RunResult } from "../schema/result.ts";
import type { Layer } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { GitState } from "./describe-environment.ts";
import type { Observations } from "./observations.ts";
import type { Lease } from "./take-lease.ts";

/** The loop's guards and the runtime's own. */
export type RuntimeGuards = Guards & { admitChild: typeof admitChild; visibleTools: typeof visibleTools };

/** What every run of a runtime shares. */
export type Host = {
  readonly settings: Settings;
  readonly registry: AgentRegistry;
  readonly tools: ReadonlyMap<string, AnyTool>;
  /** Tools that limits may name although this runtime does not bring them. */
  readonly knownTools: readonly ToolName[];
  readonly store: Store;
  readonly slots: Slots;
  /** How agents work, by what their files call it. */
  readonly flows: Readonly<Record<Agent["flow"], Flow>>;
  readonly guards: RuntimeGuards;
  /** Gives an agent a model by name; `inherit` is the parent's, or the default for a root run. */
  resolveModel(name: string, inherited: CallableModel | null, agent: Agent): Promise<CallableModel>;
  /** Runs an agent below another run or as a root, from its first row to its last; never rejects. */
  runChild(request: SpawnRequest): Promise<RunResult>;
  readonly homeDir: string;
  /** The person's time zone. */
  zone(): string;
  /** The person's name, where it is known. */
  person(projectDir: string): string | null;
  /** Keeps what runs change in the project. */
  readonly changes: ChangeKeeper;
  readonly isolation: Isolation;
  /** Which files hold what tainted runs wrote. */
  readonly untrusted: LoopPorts["untrusted"];
};

/** One conversation with a person and its workspace, while it is open in this process. */
export type Session = {
  readonly id: string;
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** Where the project's repository stood when it was first asked for; null if there is none. */
  gitState(): Promise<GitState | null>;
  /** When it began, also if it goes on or is replayed later. */
  readonly startedAtMs: number;
  readonly account: Ledger;
  /** Layers above every agent: protected places, settings, the session's flags. */
  readonly base: readonly Layer[];
  readonly maxDepth: number;
  /** Words of a request may make a delegation mandatory. */
  readonly triggers: boolean;
  readonly ports: LoopPorts;
  readonly live: Map<string, LiveRun>;
  /** Set once the session was cancelled or lost: nothing begins in it any more. */
  stop: Interruption | null;
  readonly lease: Lease;
  /** What tools came upon, on its way to the workspace. */
  readonly observations: Observations;
};

/** A run that has not ended, with its place in the tree. */
export type LiveRun = {
  readonly run: Run;
  readonly session: Session;
  readonly parent: LiveRun | null;
  readonly kids: Set<LiveRun>;
  /** Null for a run that may not delegate. */
  children: Children | null;
  /** Resolves when the run and everything below it is over. */
  readonly settled: Promise<void>;
  settle(): void;
};
