import type { AgentRegistry } from "../agents/registry.ts";
import type { Guards } from "../loop/guards.ts";
import type { CallableModel } from "../loop/model/callable-model.ts";
import type { LoopPorts } from "../loop/ports.ts";
import type { Run } from "../loop/run.ts";
import type { Interruption } from "../loop/run-spec.ts";
import type { visibleTools } from "../permissions/visible-tools.ts";
import type { Account } from "../scheduler/ledger.ts";
import type { Slots } from "../scheduler/slots.ts";
import type { Agent } from "../schema/agent.ts";
import type { Layer } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import type { Store } from "../store/create-store.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { ChangeKeeper } from "./changes/keep-changes.ts";
import type { admitChild } from "./delegation/admit-child.ts";
import type { Children } from "./delegation/children.ts";
import type { GitState } from "./describe-environment.ts";
import type { Isolation } from "./isolation/isolate.ts";
import type { Observations } from "./observations.ts";
import type { Lease } from "./take-lease.ts";

/** The loop's guards and the runtime's own. */
export type RuntimeGuards = Guards & { admitChild: typeof admitChild; visibleTools: typeof visibleTools };

/** What every run of a runtime shares. */
export type Host = {
  readonly settings: Settings;
  readonly registry: AgentRegistry;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly store: Store;
  readonly slots: Slots;
  readonly guards: RuntimeGuards;
  /** Gives an agent a model by name; `inherit` is the parent's, or the default for a root run. */
  resolveModel(name: string, inherited: CallableModel | null, agent: Agent): Promise<CallableModel>;
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
  readonly account: Account;
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
