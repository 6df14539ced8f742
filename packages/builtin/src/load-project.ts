import { join } from "node:path";
import { createFindOwn, listJournalFolders, listJournals } from "@retinue/code/sandbox/running-commands";
import { type AgentRoles, parseAgentRoles } from "@retinue/core/agents/agent-roles";
import { didYouMean } from "@retinue/core/agents/closest";
import { parseAgentValue } from "@retinue/core/agents/define-agent";
import { resolveToolName } from "@retinue/core/agents/fields/resolve-rule";
import { makeSlug } from "@retinue/core/agents/fields/slug";
import type { KnownTools } from "@retinue/core/agents/fields/tool-names";
import { loadAgents, type ParsedFiles } from "@retinue/core/agents/load-agents";
import {
  type AgentChange,
  type AgentRegistry,
  isBroken,
  takeDefinitions,
} from "@retinue/core/agents/registry";
import { DEFAULT_LIMITS } from "@retinue/core/delegate/effective-limits";
import { GENERAL_PURPOSE } from "@retinue/core/delegate/find-agent";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import type { Environment } from "@retinue/core/models/providers";
import { parseRule } from "@retinue/core/rights/rule";
import type { Agent, AgentSource, BrokenAgent, FindOwnFiles, Problem } from "@retinue/core/schema/agent";
import { AGENT_FIELDS, type AgentField } from "@retinue/core/schema/agent-fields";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Settings } from "@retinue/core/schema/settings";
import { DEFAULT_SETTINGS } from "@retinue/core/settings/default-settings";
import { type LoadedSettings, loadSettings } from "@retinue/core/settings/load-settings";
import { lowerLimits } from "@retinue/core/settings/narrow-settings";
import { findPlaces, type Places } from "@retinue/core/settings/places";
import { OFFLINE_NAMES } from "@retinue/offline/offline-words";
import { BUILTIN_DIR, knownNames } from "./built-in-agents.ts";

/** What a project is loaded from. */
export type ProjectOptions = {
  projectDir: string;
  env: Environment;
  /** The built-in agents; those of the package by default. */
  builtinDir?: string;
  /** Agents as JSON by name, as given on the command line; they come before all others. */
  agentsJson?: string | undefined;
  /** What was parsed before, for programs that load again and again. */
  parsed?: ParsedFiles;
};

/** Everything that holds in a project. */
export type Project = {
  settings: Settings;
  registry: AgentRegistry;
  /** Of the settings and of every agent. */
  problems: Problem[];
  places: Places;
  known: KnownTools;
};

/** Loads settings and agents. Throws only for a bad `agentsJson`; everything else wrong is among the problems. */
export async function loadProject(options: ProjectOptions): Promise<Project> {
  const { projectDir, env } = options;
  const places = findPlaces(env);
  await settleCutOffCommands(places.dataDir);
  const findOwn = createFindOwn(places.dataDir);
  const defaults: Settings = { ...DEFAULT_SETTINGS, limits: DEFAULT_LIMITS };
  const loaded = await loadSettings({
    projectDir,
    configDir: places.configDir,
    defaults,
    findOwn,
    explainTool,
  });
  const problems = [...loaded.problems];
  const withDefaults: Settings = { ...defaults, ...loaded.settings };
  const known = knownNames(listRuleNames(withDefaults.permissions));
  const builtinDir = options.builtinDir ?? BUILTIN_DIR;
  const given = await readGivenAgents(options.agentsJson, { loaded, known, problems, builtinDir, findOwn });
  const settings = given.roles.reduce(applyRoles, withDefaults);
  const registry = await loadAgents({
    projectDir,
    homeDir: places.homeDir,
    configHome: places.configHome,
    builtinDir,
    known,
    agents: given.definitions,
    disabledAgents: settings.disabledAgents,
    changes: given.changes,
    findOwn,
    ...(options.parsed && { parsed: options.parsed }),
  });
  problems.push(...findUnknownOff(loaded.switchedOff, registry));
  problems.push(...registry.problems, ...(await checkRoleModels(given.roles, settings, env)));
  const agents = given.definitions.flatMap((one) => (isBroken(one) ? [] : [one]));
  return { settings: { ...settings, agents }, registry, problems, places, known };
}

/** Names that are switched off and are nobody's: the agent that was meant stays on. */
function findUnknownOff(switchedOff: LoadedSettings["switchedOff"], registry: AgentRegistry): Problem[] {
  const agents = [...registry.list(), ...registry.disabled, ...registry.broken];
  const names = new Set([GENERAL_PURPOSE, ...agents.flatMap(({ name, aliases }) => [name, ...aliases])]);
  return switchedOff.flatMap(({ name, file, line }) => {
    if (names.has(makeSlug(name) ?? name)) return [];
    const message = `disabledAgents names '${name}', but no agent is called so, and none is switched off by it${didYouMean(name, names)}`;
    const fix = "correct the name or remove it";
    return [{ severity: "warning" as const, file, line, code: "unknown-agent", message, fix }];
  });
}

/** Roles whose model nobody serves: they load, and fail when they are called. */
async function checkRoleModels(
  roles: readonly AgentRoles[],
  settings: Settings,
  env: Environment,
): Promise<Problem[]> {
  const agents = roles.flatMap((each) => each.agents).filter(({ model }) => model !== "inherit");
  if (agents.length === 0) return [];
  const { explainModel } = await import("@retinue/core/host/resolve-models");
  const byModel = Map.groupBy(agents, ({ model, source }) => JSON.stringify([source.file, model]));
  return [...byModel.values()].flatMap((group) => {
    const { model = "", source } = group[0] ?? {};
    const fault = explainModel(model, { settings, env, agentModels: { names: OFFLINE_NAMES } });
    if (!fault) return [];
    const names = group.map(({ name }) => `'${name}'`).join(", ");
    const message = `role ${names} cannot run: ${fault.message}`;
    const fix = `${fault.hint ?? "choose another model"}; or map the name in your own settings, with aliases or a gateway`;
    const file = source?.file ?? "";
    return [{ severity: "warning" as const, file, line: 0, code: "unknown-model", message, fix }];
  });
}

/** What a command made against the rules before it was cut off must not be read as an agent file or a setting. */
async function settleCutOffCommands(dataDir: string): Promise<void> {
  if (listJournalFolders(dataDir).every((folder) => listJournals(folder).length === 0)) return;
  const { settleAllLeftCommands } = await import("@retinue/code/sandbox/command-journal");
  await settleAllLeftCommands(dataDir);
}

/** Throws the first error of the settings: with a rule that could not be read, nothing may run. */
export function refuseBrokenSettings({ problems }: Pick<Project, "problems">): void {
  const broken = problems.find(({ severity, code }) => severity === "error" && SETTINGS_CODES.has(code));
  if (broken)
    throw new RetinueError("config", `${broken.file}:${broken.line}: ${broken.message}`, broken.fix);
}

const SETTINGS_CODES = new Set(["bad-settings-file", "bad-setting"]);

type Giving = {
  loaded: LoadedSettings;
  known: KnownTools;
  problems: Problem[];
  builtinDir: string;
  findOwn: FindOwnFiles;
};

async function readGivenAgents(
  agentsJson: string | undefined,
  { loaded, known, problems, builtinDir, findOwn }: Giving,
): Promise<{ definitions: (Agent | BrokenAgent)[]; roles: AgentRoles[]; changes: AgentChange[] }> {
  const { definitions, changes } =
    agentsJson === undefined ? { definitions: [], changes: [] } : readFlag(agentsJson, known);
  const roles: AgentRoles[] = [];
  const builtIns = loaded.agentRoles.length > 0 ? await loadAgents({ builtinDir, known }) : undefined;
  for (const { value, ...from } of loaded.agentRoles) {
    const findBuiltIn = (name: string) => builtIns?.get(name);
    const read = await parseAgentRoles(value, {
      ...from,
      known,
      builtinDir: PACKAGE_ROOT,
      findBuiltIn,
      findOwn,
    });
    problems.push(...read.problems);
    definitions.push(...read.unusable, ...read.agents);
    roles.push(read);
  }
  for (const { value, file, scope } of loaded.agents) {
    const read = readAgentMap(value, { format: "settings", scope, file }, known);
    problems.push(...read.problems);
    definitions.push(...read.definitions);
    changes.push(...read.changes);
  }
  return { definitions, roles, changes };
}

/** Roles bring limits for everybody; like every second voice on limits, they can only lower them. */
function applyRoles(settings: Settings, { settings: { maxDepth, defaultLimits } }: AgentRoles): Settings {
  const limits = lowerLimits(settings.limits, defaultLimits);
  return { ...settings, limits, maxDepth: Math.min(settings.maxDepth, maxDepth ?? settings.maxDepth) };
}

function readFlag(text: string, known: KnownTools): Pick<AgentMap, "definitions" | "changes"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw describeBadFlag(`it is not valid JSON: ${messageOf(thrown)}`);
  }
  const read = readAgentMap(value, { format: "code", scope: "code" }, known);
  const [wrong] = read.problems.filter(({ severity }) => severity === "error");
  if (wrong) throw describeBadFlag(`${wrong.message} (${wrong.fix})`);
  return read;
}

function describeBadFlag(why: string): RetinueError {
  const hint = `write {"name": {"description": "…", "prompt": "…", "tools": ["read"]}}`;
  return new RetinueError("input", `--agents cannot be used: ${why}`, hint);
}

/** What a setting without a prompt can change in an agent that there is. */
const CHANGEABLE = Object.entries<AgentField>(AGENT_FIELDS).flatMap(([name, { isChangeable }]) =>
  isChangeable ? [name] : [],
);

type AgentMap = { definitions: (Agent | BrokenAgent)[]; changes: AgentChange[]; problems: Problem[] };

/** Definitions by name, in the shape of Claude Code's flag; what has neither prompt nor description changes another agent. */
function readAgentMap(value: unknown, source: AgentSource, known: KnownTools): AgentMap {
  const definitions: (Agent | BrokenAgent)[] = [];
  const changes: AgentChange[] = [];
  const problems: Problem[] = [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const message = "agents must be an object of definitions by name";
    problems.push({
      severity: "error",
      file: source.file ?? "code",
      line: 0,
      code: "bad-value",
      message,
      fix: "write {…}",
    });
    return { definitions, changes, problems };
  }
  for (const [name, each] of Object.entries(value)) {
    const fields: Record<string, unknown> | null =
      typeof each === "object" && each !== null && !Array.isArray(each) ? { ...each } : null;
    const given = fields && Object.keys(fields);
    const isChange = given?.length && given.every((key) => CHANGEABLE.includes(key));
    const draft = isChange ? { description: name, prompt: name, ...fields } : fields;
    const parsed = parseAgentValue(draft ? { ...draft, name } : each, { source, known });
    const told = parsed.problems.map((one) => ({ ...one, message: `agent '${name}': ${one.message}` }));
    problems.push(...told);
    const read = takeDefinitions({ name: makeSlug(name), ...parsed, problems: told }, source);
    for (const one of read) {
      if (!isChange) definitions.push(one);
      else changes.push({ name, file: source.file ?? "code", ...readChange(one, given) });
    }
  }
  return { definitions, changes, problems };
}

function readChange(
  read: Agent | BrokenAgent,
  given: readonly string[],
): { fields: Partial<Agent> } | { problem: Problem } {
  if (isBroken(read)) return { problem: read.problem };
  return { fields: Object.fromEntries(Object.entries(read).filter(([field]) => given.includes(field))) };
}

/** The tools and groups that the settings' own rules name. */
function listRuleNames({ allow = [], ask, deny }: Settings["permissions"]): string[] {
  return [...allow, ...ask, ...deny].flatMap((text) => {
    const rule = parseRule(text);
    return "error" in rule ? [] : [rule.tool];
  });
}

function explainTool(name: string): string | undefined {
  const tool = resolveToolName(name, "native", knownNames([]));
  return "hint" in tool ? tool.hint : undefined;
}

/** The folder that new agents of the project, or of the person, go to. */
export function findAgentFolder(
  { places }: Pick<Project, "places">,
  projectDir: string,
  scope: "project" | "user",
): string {
  return scope === "project" ? join(projectDir, ".retinue", "agents") : join(places.configDir, "agents");
}

/** How many problems of each weight there are. */
export function countProblems(problems: readonly Problem[]): {
  errors: number;
  warnings: number;
  notes: number;
} {
  const count = (severity: Problem["severity"]) =>
    problems.filter((problem) => problem.severity === severity).length;
  return { errors: count("error"), warnings: count("warning"), notes: count("info") };
}
