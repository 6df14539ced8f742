import { join, resolve } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type AgentRegistry, createRegistry } from "../agents/registry.ts";
import type { Redactor } from "../loop/ports.ts";
import { parseRules } from "../permissions/rule.ts";
import { createRedactor } from "../redact/create-redactor.ts";
import { secretsFromEnvironment } from "../redact/secrets-from-environment.ts";
import { type Clock, systemClock } from "../scheduler/clock.ts";
import { Gate } from "../scheduler/gate.ts";
import { Slots } from "../scheduler/slots.ts";
import type { Agent, Deliverable, Limits } from "../schema/agent.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { RunResult } from "../schema/result.ts";
import type { Rule } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import { createStore, type Store, type StoreOptions, type StorePorts } from "../store/create-store.ts";
import type { AnyTool } from "../tools/tool.ts";
import { type Approver, createApprovals, type PermissionMode } from "./approvals.ts";
import { createId } from "./create-id.ts";
import { DEFAULT_SETTINGS } from "./default-settings.ts";
import { EventBus, type Listener } from "./event-bus.ts";
import { failedResult } from "./failed-result.ts";
import { findAgent, isAgent } from "./find-agent.ts";
import type { Host, LiveRun, RuntimeGuards, Session } from "./host.ts";
import { openSession, type SessionMaker } from "./open-session.ts";
import { findPlaces } from "./places.ts";
import { createProfile } from "./profile.ts";
import { createModelResolver } from "./resolve-models.ts";
import { runtimeGuards } from "./runtime-guards.ts";
import { cancelTree, spawnRun } from "./spawn-run.ts";

/** How a runtime is set up; everything has a default but the agents. */
export type RuntimeOptions = {
  agents: readonly Agent[] | AgentRegistry;
  tools?: readonly AnyTool[];
  /** The default model: an object, an alias or `provider/model-id`. */
  model?: LanguageModelV4 | string;
  /** Model objects by the names agents use for them. */
  models?: Readonly<Record<string, LanguageModelV4>>;
  settings?: Partial<Settings>;
  projectDir?: string;
  /** Holds the database and one workspace folder per session. */
  dataDir?: string;
  configDir?: string;
  /** Database file; `:memory:` keeps nothing. Default: in the data folder. */
  database?: string;
  /** Asks a person; without it every ask is a denial. */
  approve?: Approver;
  permissionMode?: PermissionMode;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
};

/** One task for a root run. */
export type RunRequest = {
  agent: string;
  task: string;
  model?: string;
  /** Only these of the agent's tools. */
  tools?: readonly string[];
  limits?: Limits;
  deliverables?: readonly Deliverable[];
};

/** A run under way. */
export type RunHandle = { sessionId: string; runId: string; result: Promise<RunResult> };

/** Options of `spawn`: a tool-call budget and a narrower tool list. */
export type SpawnOptions = { budget?: number; tools?: readonly string[]; limits?: Limits };

/** Runs agents, lets them delegate, and keeps the record. */
export type Runtime = {
  readonly agents: AgentRegistry;
  readonly store: Store;
  /** Starts a task in a session of its own. */
  start(request: RunRequest): Promise<RunHandle>;
  /** Runs a task to its result. */
  run(request: RunRequest): Promise<RunResult>;
  /** Runs one agent on one task. */
  spawn(agent: string, task: string, options?: SpawnOptions): Promise<RunResult>;
  /** Runs several tasks at once; results in the order of the tasks, an exception becomes a failed result. */
  fanOut(
    tasks: readonly (readonly [agent: string, task: string])[],
    options?: { maxConcurrent?: number },
  ): Promise<RunResult[]>;
  /** Tells of everything that happens; returns how to stop listening. */
  events(listener: Listener): () => void;
  /** Ends a run or a session with everything below it; false if nothing of that id is alive. */
  cancel(id: string): boolean;
  /** Holds a run and its subtree at their next turn. */
  pause(runId: string): boolean;
  unpause(runId: string): boolean;
  /** Gives a run a message that it reads at its next turn. */
  steer(runId: string, text: string): boolean;
  /** Takes a right away from everything that runs; only narrows. */
  revoke(rule: string): void;
  /** Ends everything and writes what is left. */
  close(): Promise<void>;
};

/** What only tests replace. */
export type RuntimeInternals = {
  guards?: Partial<RuntimeGuards>;
  clock?: Clock;
  random?: () => number;
  store?: Store;
  /** For the store that the runtime opens itself. */
  storePorts?: Partial<StorePorts>;
  redactor?: Redactor;
};

const FAN_OUT = 3;

/** Creates a runtime. */
export function createRuntime(options: RuntimeOptions): Runtime {
  return assembleRuntime(options, {});
}

/** Creates a runtime with some of its inner parts replaced; the package does not export this. */
export function assembleRuntime(options: RuntimeOptions, internals: RuntimeInternals): Runtime {
  const maker = createMaker(options, internals);
  const { host, bus } = maker;
  const sessions = new Map<string, Session>();
  const find = (runId: string) =>
    [...sessions.values()].map((session) => session.live.get(runId)).find((live) => live);

  const endings = new Set<Promise<unknown>>();
  const agentOf = (request: RunRequest): Agent => {
    const agent = findAgent(host.registry, request.agent, null);
    if (isAgent(agent)) return agent;
    throw new RetinueError("input", agent.message, "see them with: retinue agents list");
  };
  const begin = async (session: Session, request: RunRequest): Promise<RunHandle> => {
    const agent = agentOf(request);
    const profile = await createProfile(host, {
      agent,
      session,
      parent: null,
      tools: request.tools,
      limits: request.limits,
      model: request.model,
    });
    const runId = createId("run");
    const message = session.ports.redactor.redact(request.task);
    const deliverables = [...agent.deliverables, ...(request.deliverables ?? [])];
    const run = {
      session,
      parent: null,
      profile,
      runId,
      task: message,
      message,
      callId: null,
      parentRowId: null,
      attempt: 0,
      deliverables,
    };
    return { sessionId: session.id, runId, result: spawnRun(host, { ...run, limits: request.limits }) };
  };
  const inSession = async <Value>(
    title: string,
    work: (session: Session) => Promise<{ status: RunResult["status"]; value: Value }>,
  ): Promise<Value> => {
    const session = await openSession(maker, title);
    sessions.set(session.id, session);
    let status: RunResult["status"] = "failed";
    try {
      const done = await work(session);
      status = done.status;
      return done.value;
    } finally {
      sessions.delete(session.id);
      host.store.endSession(session.id, status);
      await host.store.committed();
      session.ports.emit(session.id, { type: "session.ended", status });
    }
  };
  const start = async (request: RunRequest): Promise<RunHandle> => {
    await host.resolveModel(request.model ?? agentOf(request).model, null);
    const { promise, resolve: started, reject } = Promise.withResolvers<RunHandle>();
    const whole = inSession(request.task, async (session) => {
      const handle = await begin(session, request);
      started({ ...handle, result: whole });
      const value = await handle.result;
      return { status: value.status, value };
    });
    const ending = whole.catch(reject).finally(() => endings.delete(ending));
    endings.add(ending);
    return promise;
  };
  const control = (runId: string, act: (live: LiveRun) => void): boolean => {
    const live = find(runId);
    if (live) act(live);
    return live !== undefined;
  };
  const run = async (request: RunRequest) => (await start(request)).result;

  return {
    agents: host.registry,
    store: host.store,
    start,
    run,
    spawn: (agent, task, { budget, tools, limits } = {}) =>
      run({
        agent,
        task,
        ...(tools && { tools }),
        limits: { ...limits, ...(budget !== undefined && { toolCalls: budget }) },
      }),
    fanOut: (tasks, { maxConcurrent = FAN_OUT } = {}) =>
      inSession(`${tasks.length} tasks at once`, async (session) => {
        const gate = new Gate(maxConcurrent);
        const one = async ([agent, task]: readonly [string, string]) =>
          (await begin(session, { agent, task })).result;
        const value = await Promise.all(
          tasks.map((task) =>
            gate
              .run(() => one(task))
              .catch((thrown) => {
                const about = { runId: createId("run"), sessionId: session.id, agent: task[0] };
                return failedResult(about, {
                  type: "failed",
                  message: session.ports.redactor.redact(messageOf(thrown)),
                  recoverable: false,
                });
              }),
          ),
        );
        return { status: value.every((result) => result.success) ? "completed" : "failed", value };
      }),
    events: (listener) => bus.subscribe(listener),
    cancel(id) {
      const roots = [...(sessions.get(id)?.live.values() ?? [])].filter((live) => !live.parent);
      for (const live of roots) cancelTree(live, "cancelled");
      return control(id, (live) => cancelTree(live, "cancelled")) || roots.length > 0;
    },
    pause: (runId) => control(runId, (live) => forSubtree(live, pauseRun)),
    unpause: (runId) => control(runId, (live) => forSubtree(live, ({ run }) => run.paused?.resume())),
    steer: (runId, text) =>
      control(runId, (live) => live.run.steering.push(live.session.ports.redactor.redact(text))),
    revoke: (rule) => maker.revoked.push(...parseRules([rule], "revoke")),
    async close() {
      const alive = [...sessions.values()].flatMap((session) => [...session.live.values()]);
      for (const live of alive) cancelTree(live, "the runtime was closed");
      await Promise.all([...alive.map((live) => live.settled), ...endings]);
      await host.store.shutdown();
      maker.closeModels();
    },
  };
}

function pauseRun({ run }: LiveRun): void {
  if (run.paused) return;
  const { promise, resolve: resume } = Promise.withResolvers<void>();
  run.paused = {
    promise,
    resume: () => {
      run.paused = null;
      resume();
    },
  };
}

function forSubtree(live: LiveRun, act: (live: LiveRun) => void): void {
  act(live);
  for (const kid of live.kids) forSubtree(kid, act);
}

function createMaker(
  options: RuntimeOptions,
  internals: RuntimeInternals,
): SessionMaker & { revoked: Rule[]; closeModels: () => void } {
  const settings: Settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const env = options.env ?? process.env;
  const places = findPlaces(env);
  const { homeDir } = places;
  const dataDir = resolve(options.dataDir ?? places.dataDir);
  const clock = internals.clock ?? systemClock;
  const bus = new EventBus();
  const models = createModelResolver({ model: options.model, models: options.models, settings, env });
  const mode = options.permissionMode ?? "default";
  const revoked: Rule[] = [];
  const onNotice: StoreOptions["onNotice"] = (notice) =>
    bus.publish({ type: "notice.raised", ...notice, sessionId: "", atMs: clock.wallMs() });
  const host: Host = {
    settings,
    registry:
      "list" in options.agents
        ? options.agents
        : createRegistry({ agents: options.agents, disabledAgents: settings.disabledAgents }),
    tools: toolsByName(options.tools ?? []),
    store:
      internals.store ??
      createStore(
        {
          path: options.database ?? join(dataDir, "retinue.db"),
          synchronous: settings.store.synchronous,
          onNotice,
        },
        internals.storePorts,
      ),
    slots: new Slots(settings.maxConcurrent),
    guards: { ...runtimeGuards, ...internals.guards },
    resolveModel: models.resolve,
    homeDir,
  };
  return {
    host,
    bus,
    clock,
    mode,
    revoked,
    dataDir,
    random: internals.random ?? Math.random,
    redactor:
      internals.redactor ??
      createRedactor({ secrets: [...secretsFromEnvironment(env), ...keysOf(settings)] }),
    approve: createApprovals({ mode, allowedTools: options.allowedTools ?? [], approver: options.approve }),
    limiters: new Map(),
    maxConcurrent: models.maxConcurrent,
    liveLayer: () => (revoked.length > 0 ? { name: "revoked", ask: [], deny: revoked } : null),
    projectDir: resolve(options.projectDir ?? process.cwd()),
    configDir: resolve(options.configDir ?? places.configDir),
    disallowedTools: options.disallowedTools ?? [],
    closeModels: models.close,
  };
}

/** Keys that stand in the settings are as secret as those of the environment. */
function keysOf(settings: Settings): string[] {
  return Object.values(settings.providers).flatMap(({ apiKey }) => apiKey ?? []);
}

function toolsByName(tools: readonly AnyTool[]): Map<string, AnyTool> {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new RetinueError("config", `two tools are named '${tool.name}'`, "rename one of them");
    byName.set(tool.name, tool);
  }
  return byName;
}
