import { join, resolve } from "node:path";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { type AgentRegistry, createRegistry } from "../agents/registry.ts";
import { systemClock } from "../budget/clock.ts";
import { Limiter } from "../budget/limiter.ts";
import { Slots } from "../budget/slots.ts";
import { createIsolation } from "../changes/isolate.ts";
import { createChangeKeeper } from "../changes/keep-changes.ts";
import { conductProgram } from "../delegate/program-tool.ts";
import { resolveLimits } from "../delegate/resolve-tools.ts";
import { spawnRun } from "../delegate/spawn-run.ts";
import { layersByGit } from "../git/git-places.ts";
import { intentFlow } from "../intent/intent-flow.ts";
import { conductPlan } from "../plan/conduct-plan.ts";
import { createBlobStore } from "../record/blob-store.ts";
import { createSqliteRecord, type SqliteRecordOptions } from "../record/sqlite/create-sqlite-record.ts";
import type { SqliteRecordPorts } from "../record/sqlite/record-writer.ts";
import { createRedactor } from "../redact/create-redactor.ts";
import { secretsFromEnvironment } from "../redact/secrets-from-environment.ts";
import type { ToolName } from "../rights/explain.ts";
import { dispatch } from "../run/calls/dispatch.ts";
import { createId } from "../run/create-id.ts";
import { guards } from "../run/guards.ts";
import { loopFlow } from "../run/loop-flow.ts";
import { attemptCall } from "../run/model/call-model.ts";
import type { AgentModels } from "../run/model/callable-model.ts";
import { livePace } from "../run/pace.ts";
import type { Guards, Host, Session } from "../run/run.ts";
import type { Agent } from "../schema/agent.ts";
import { checkAgentNumbers } from "../schema/check-numbers.ts";
import { RetinueError } from "../schema/error.ts";
import type { PermissionMode, Rule } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import { checkSettingNumbers } from "../settings/check-settings.ts";
import { DEFAULT_SETTINGS } from "../settings/default-settings.ts";
import { findPlaces } from "../settings/places.ts";
import { findMachineZone, isZone } from "../text/zone.ts";
import type { AnyTool, HostPlaces } from "../tools/tool.ts";
import { ApprovalDesk } from "./approval-desk.ts";
import { type Approver, createApprovals } from "./approvals.ts";
import { findPerson, readGitState } from "./describe-environment.ts";
import { EventBus } from "./event-bus.ts";
import { RecordedAsks } from "./recorded-asks.ts";
import { createModelResolver } from "./resolve-models.ts";
import { createUntrustedFiles } from "./untrusted-files.ts";
import { createWorkplace } from "./workplace.ts";

/** How a runtime is set up; everything has a default but the agents. */
export type RuntimeOptions = {
  agents: readonly Agent[] | AgentRegistry;
  tools?: readonly AnyTool[];
  /** Tools that limits may name although this runtime does not bring them. */
  knownTools?: readonly ToolName[];
  /** The default model: an object, an alias or `provider/model-id`. */
  model?: LanguageModelV4 | string;
  /** Model objects by the names agents use for them. */
  models?: { readonly [name: string]: LanguageModelV4 };
  /** A model for each agent where nothing is configured; without it, that is an error. */
  agentModels?: AgentModels;
  settings?: Partial<Settings>;
  projectDir?: string;
  /** Holds the database and one workspace folder per session. */
  dataDir?: string;
  configDir?: string;
  /** Database file; `:memory:` keeps nothing. Default: in the data folder. */
  database?: string;
  /** Asks a person; without it every ask is a denial. While it asks, any other process can answer in the record. */
  approve?: Approver;
  /**
   * What becomes of an ask without `approve`: it is denied, or the session is left as it is once nothing else of it can go
   * on, to be resumed when somebody has answered. `deny` if absent.
   */
  onAsk?: "deny" | "park";
  permissionMode?: PermissionMode;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  /** False: no words of a task make a delegation mandatory. */
  triggers?: boolean;
  env?: { readonly [name: string]: string | undefined };
  /** The zone that times without one are meant in. Default: that of `TZ`, or the machine's. */
  zone?: () => string;
  /** Who looks after the sessions that are left open here, as the record keeps it; nobody if absent. */
  keeper?: string;
};

/** What takes the place of a part of the host: in tests, and where a session is played again. */
export type RuntimeInternals = Partial<Omit<Host, "guards">> & {
  guards?: Partial<Guards>;
  /** For the record that the runtime opens itself. */
  recordPorts?: Partial<SqliteRecordPorts>;
};

/** What a runtime controls besides what its runs see. */
export type HostControl = {
  readonly host: Host;
  readonly bus: EventBus;
  readonly asks: RecordedAsks;
  /** Rights that were taken away while runs are under way. */
  readonly revoked: Rule[];
  /** Lets go of everything that is open. */
  close(): Promise<void>;
};

/** Makes the host of a runtime from its options; `internals` take the place of what it would make itself. */
export function createHost(options: RuntimeOptions, internals: RuntimeInternals = {}): HostControl {
  const { recordPorts, guards: otherGuards, ...others } = internals;
  const settings = readSettings(options);
  const env = options.env ?? process.env;
  const places = findPlaces(env);
  const { homeDir } = places;
  const dataDir = resolve(options.dataDir ?? places.dataDir);
  const configDir = resolve(options.configDir ?? places.configDir);
  const clock = internals.clock ?? systemClock;
  const random = internals.random ?? Math.random;
  const bus = new EventBus();
  const onNotice: SqliteRecordOptions["onNotice"] = (notice) =>
    bus.publish({ type: "notice.raised", ...notice, sessionId: "", atMs: clock.wallMs() });
  const { model, agentModels } = options;
  const models = createModelResolver({ model, models: options.models, settings, env, agentModels, onNotice });
  const record =
    internals.record ??
    createSqliteRecord(
      {
        path: options.database ?? join(dataDir, "retinue.db"),
        synchronous: settings.store.synchronous,
        onNotice,
      },
      recordPorts,
    );
  const secrets = createRedactor({ secrets: [...secretsFromEnvironment(env), ...keysOf(settings, env)] });
  const redactor = internals.redactor ?? secrets;
  const kept = {
    record,
    blobs: createBlobStore(join(dataDir, "blobs")),
    dataDir,
    redact: (text: string) => redactor.redact(text),
  };
  const changes = createChangeKeeper(kept);
  const toolPlaces: HostPlaces = { env, homeDir, dataDir, configDir, hideSecret: secrets.add };
  const tools = toolsByName(options.tools ?? []);
  const sessions = new Map<string, Session>();
  const asks = new RecordedAsks({ record, clock, bus, redactor });
  const desk = options.onAsk === "park" ? new ApprovalDesk(asks, bus, sessions) : undefined;
  const approver = options.approve ?? desk?.ask;
  const revoked: Rule[] = [];
  const limiters = new Map<string, Limiter>();
  const mode = options.permissionMode ?? "default";
  const host: Host = {
    settings,
    registry: registryFor(options.agents, settings.disabledAgents),
    tools: new Map(
      [...tools].map(([name, tool]) => [name, tool.withSettings?.(settings, toolPlaces) ?? tool]),
    ),
    knownTools: options.knownTools ?? [],
    record,
    slots: new Slots(settings.maxConcurrent),
    flows: { loop: loopFlow, intent: intentFlow },
    guards: { ...guards, ...otherGuards },
    sessions,
    projectDir: resolve(options.projectDir ?? process.cwd()),
    dataDir,
    configDir,
    homeDir,
    mode,
    disallowedTools: options.disallowedTools ?? [],
    triggers: options.triggers ?? true,
    keeper: options.keeper,
    clock,
    redactor,
    random,
    createId,
    createRunId: () => createId("run"),
    zone: options.zone ?? (() => (env.TZ && isZone(env.TZ) ? env.TZ : findMachineZone())),
    person: (projectDir) => findPerson(projectDir, homeDir),
    readGitState,
    watched: () => bus.watched,
    emit(sessionId, event, seq) {
      if (event.type === "run.ended") void asks.runEnded(event.runId);
      if (bus.watched)
        bus.publish({ ...event, sessionId, atMs: clock.wallMs(), ...(seq !== undefined && { seq }) });
    },
    approve: createApprovals({
      mode,
      allowedTools: options.allowedTools ?? [],
      approver: approver && asks.through(approver),
      answered: (request) => record.findAnswer(request),
    }),
    limiter(provider) {
      let limiter = limiters.get(provider);
      if (!limiter) {
        limiter = new Limiter(models.maxConcurrent(provider), clock, random);
        limiters.set(provider, limiter);
      }
      return limiter;
    },
    liveLayers: (projectDir, writes) => [
      ...(revoked.length > 0 ? [{ name: "revoked", ask: [], deny: revoked }] : []),
      ...layersByGit(projectDir, writes, places),
    ],
    resolveModel: models.resolve,
    conduct: (session, leader, conducted) =>
      conducted.kind === "program" ? conductProgram(session) : conductPlan(session, leader, conducted),
    runChild: spawnRun,
    callModel: attemptCall,
    makeCall: dispatch,
    pace: livePace,
    workplace: createWorkplace(createIsolation(kept, changes)),
    untrusted: createUntrustedFiles({ record, clock, redact: kept.redact }),
    keepChanges: changes.keep,
    ...others,
  };
  return {
    host,
    bus,
    asks,
    revoked,
    async close() {
      await Promise.allSettled([...host.tools.values()].map(async (tool) => tool.close?.()));
      await changes.close();
      await record.close();
      models.close();
    },
  };
}

/** The settings that hold: the defaults where nothing is said, and limits by tool in our own names. Throws for what cannot hold. */
function readSettings(options: RuntimeOptions): Settings {
  const given = fillIn(options.settings);
  checkSettingNumbers(given);
  const { scale, ...limits } = given.limits;
  const known = { tools: toolsByName(options.tools ?? []), knownTools: options.knownTools ?? [] };
  const resolved = resolveLimits(known, "settings.limits", limits);
  for (const agent of "list" in options.agents ? options.agents.list() : options.agents) {
    checkAgentNumbers(agent);
    resolveLimits(known, `limits of the agent '${agent.name}'`, agent.limits);
  }
  return { ...given, limits: { ...resolved, ...(scale !== undefined && { scale }) } };
}

/** Settings over the defaults; one that is set to nothing is not set. */
function fillIn(given: RuntimeOptions["settings"] = {}): Settings {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(set) };
}

/** The registry, in which nobody is reachable whom the settings switch off, also if it was made without them. */
function registryFor(
  agents: RuntimeOptions["agents"],
  disabledAgents: Settings["disabledAgents"],
): AgentRegistry {
  if (!("list" in agents)) return createRegistry({ agents, disabledAgents });
  if (disabledAgents.every((name) => agents.isDisabled(name))) return agents;
  const off = agents.disabled.map(({ name }) => name);
  return createRegistry({
    agents: [
      ...agents.broken,
      ...agents.list(),
      ...agents.disabled,
      ...agents.shadowed.map(({ agent }) => agent),
    ],
    problems: agents.problems,
    disabledAgents: [...disabledAgents, ...off],
  });
}

/** Keys that stand in the settings, or in variables that they name, are as secret as those of the environment. */
function keysOf(settings: Settings, env: Readonly<Record<string, string | undefined>>): string[] {
  const named = [settings.search.keyEnv, settings.workbench?.keyEnv];
  return [
    ...named.flatMap((name) => (name && env[name]) || []),
    ...Object.values(settings.providers).flatMap(({ apiKey }) => apiKey ?? []),
    ...(settings.search.key ? [settings.search.key] : []),
  ];
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
