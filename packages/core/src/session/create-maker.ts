import { join, resolve } from "node:path";
import { type AgentRegistry, createRegistry } from "../agents/registry.ts";
import { systemClock } from "../budget/clock.ts";
import { Slots } from "../budget/slots.ts";
import { createIsolation } from "../changes/isolate.ts";
import { createChangeKeeper } from "../changes/keep-changes.ts";
import { resolveLimits } from "../delegate/resolve-tools.ts";
import { spawnRun } from "../delegate/spawn-run.ts";
import { layersByGit } from "../git/layers-by-git.ts";
import { intentFlow } from "../intent/intent-flow.ts";
import { createBlobStore } from "../record/checkpoints/blob-store.ts";
import { createStore, type StoreOptions } from "../record/create-store.ts";
import { createRedactor } from "../redact/create-redactor.ts";
import { secretsFromEnvironment } from "../redact/secrets-from-environment.ts";
import { loopFlow } from "../run/flow.ts";
import { checkAgentNumbers, checkSettingNumbers } from "../schema/check-numbers.ts";
import { RetinueError } from "../schema/error.ts";
import type { Rule } from "../schema/rights.ts";
import type { Settings } from "../schema/settings.ts";
import { DEFAULT_SETTINGS } from "../settings/default-settings.ts";
import { findPlaces } from "../settings/places.ts";
import { findMachineZone, isZone } from "../text/zone.ts";
import type { AnyTool, HostPlaces } from "../tools/tool.ts";
import { ApprovalDesk } from "./approval-desk.ts";
import { createApprovals } from "./approvals.ts";
import { findPerson } from "./describe-environment.ts";
import { EventBus } from "./event-bus.ts";
import type { Host } from "./host.ts";
import type { SessionMaker } from "./open-session.ts";
import { RecordedAsks } from "./recorded-asks.ts";
import { createModelResolver } from "./resolve-models.ts";
import type { RuntimeInternals, RuntimeOptions } from "./runtime.ts";
import { runtimeGuards } from "./runtime-guards.ts";
import { createUntrustedFiles } from "./untrusted-files.ts";

/** Everything a runtime's sessions are made with, from its options. */
export function createMaker(
  options: RuntimeOptions,
  internals: RuntimeInternals,
): SessionMaker & { revoked: Rule[]; closeModels: () => void } {
  const given = fillIn(options.settings);
  const tools = toolsByName(options.tools ?? []);
  checkSettingNumbers(given);
  const { scale, ...limits } = given.limits;
  const known = { tools, knownTools: options.knownTools ?? [] };
  const resolved = resolveLimits(known, "settings.limits", limits);
  const settings = { ...given, limits: { ...resolved, ...(scale !== undefined && { scale }) } };
  for (const agent of "list" in options.agents ? options.agents.list() : options.agents) {
    checkAgentNumbers(agent);
    resolveLimits(known, `limits of the agent '${agent.name}'`, agent.limits);
  }
  const env = options.env ?? process.env;
  const places = findPlaces(env);
  const { homeDir } = places;
  const dataDir = resolve(options.dataDir ?? places.dataDir);
  const configDir = resolve(options.configDir ?? places.configDir);
  const clock = internals.clock ?? systemClock;
  const bus = new EventBus();
  const mode = options.permissionMode ?? "default";
  const revoked: Rule[] = [];
  const onNotice: StoreOptions["onNotice"] = (notice) =>
    bus.publish({ type: "notice.raised", ...notice, sessionId: "", atMs: clock.wallMs() });
  const { model, agentModels } = options;
  const models = createModelResolver({ model, models: options.models, settings, env, agentModels, onNotice });
  const store =
    internals.store ??
    createStore(
      {
        path: options.database ?? join(dataDir, "retinue.db"),
        synchronous: settings.store.synchronous,
        onNotice,
      },
      internals.storePorts,
    );
  const secrets = createRedactor({ secrets: [...secretsFromEnvironment(env), ...keysOf(settings, env)] });
  const redactor = internals.redactor ?? secrets;
  const blobs = createBlobStore(join(dataDir, "blobs"));
  const kept = { store, blobs, dataDir, redact: (text: string) => redactor.redact(text) };
  const changes = createChangeKeeper(kept);
  const toolPlaces: HostPlaces = { env, homeDir, dataDir, configDir, hideSecret: secrets.add };
  const asks = new RecordedAsks({ store, clock, bus, redactor });
  const desk = options.onAsk === "park" ? new ApprovalDesk(asks, bus) : undefined;
  const approver = options.approve ?? desk?.ask;
  const host: Host = {
    runChild: (request) => spawnRun(host, request),
    settings,
    registry: registryFor(options.agents, settings.disabledAgents),
    tools: new Map(
      [...tools].map(([name, tool]) => [name, tool.withSettings?.(settings, toolPlaces) ?? tool]),
    ),
    store,
    changes,
    isolation: createIsolation(kept, changes),
    untrusted: createUntrustedFiles({ store, clock, redact: kept.redact }),
    slots: new Slots(settings.maxConcurrent),
    flows: { loop: loopFlow, intent: intentFlow },
    guards: { ...runtimeGuards, ...internals.guards },
    resolveModel: internals.resolveModel ?? models.resolve,
    homeDir,
    knownTools: options.knownTools ?? [],
    zone: options.zone ?? (() => (env.TZ && isZone(env.TZ) ? env.TZ : findMachineZone())),
    person: (projectDir) => findPerson(projectDir, toolPlaces.homeDir),
  };
  return {
    host,
    bus,
    clock,
    mode,
    recorded: internals.recorded ?? null,
    revoked,
    dataDir,
    random: internals.random ?? Math.random,
    redactor,
    approve: createApprovals({
      mode,
      allowedTools: options.allowedTools ?? [],
      // A replay asks nobody.
      approver: approver && (internals.recorded ? approver : asks.through(approver)),
      answered: store.answerTo,
    }),
    asks,
    desk,
    limiters: new Map(),
    maxConcurrent: models.maxConcurrent,
    liveLayers: (projectDir, writes) => [
      ...(revoked.length > 0 ? [{ name: "revoked", ask: [], deny: revoked }] : []),
      ...layersByGit(projectDir, writes, places),
    ],
    projectDir: resolve(options.projectDir ?? process.cwd()),
    configDir,
    disallowedTools: options.disallowedTools ?? [],
    triggers: options.triggers ?? true,
    keeper: options.keeper,
    closeModels: models.close,
  };
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
