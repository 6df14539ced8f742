import type { AgentRegistry } from "../agents/registry.ts";
import type { Guards } from "../loop/guards.ts";
import type { LoopPorts } from "../loop/ports.ts";
import type { CallableModel, Run } from "../loop/run.ts";
import type { visibleTools } from "../permissions/visible-tools.ts";
import type { Account } from "../scheduler/ledger.ts";
import type { Slots } from "../scheduler/slots.ts";
import type { Agent } from "../schema/agent.ts";
import type { Layer } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import type { Store } from "../store/create-store.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { admitChild } from "./delegation/admit-child.ts";
import type { Children } from "./delegation/children.ts";

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
};

/** One conversation with a person and its workspace, while it is open in this process. */
export type Session = {
  readonly id: string;
  readonly projectDir: string;
  readonly workspaceDir: string;
  readonly account: Account;
  /** Layers above every agent: protected places, settings, the session's flags. */
  readonly base: readonly Layer[];
  readonly maxDepth: number;
  readonly ports: LoopPorts;
  readonly live: Map<string, LiveRun>;
  /** Set once the session was cancelled: nothing begins in it any more. */
  stopped: boolean;
  /** Lets other processes have the session. */
  release(): void;
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
