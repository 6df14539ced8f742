import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { GoldenClock } from "./golden-clock.ts";
import {
  type Agent,
  assembleRuntime,
  builtInTools,
  createRegistry,
  defineAgent,
  loadProject,
  type Project,
  type RetinueEvent,
  type RuntimeOptions,
  type Script,
  type ScriptedModel,
  type ScriptRequest,
  type Step,
  type StepMaker,
  scriptedModel,
  withBuiltIns,
} from "./retinue.ts";
import type { Scenario, Scripts, Stage } from "./scenario.ts";

/** The folder that the program is in. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
/** Every root is a path of this length, so that no text is cut elsewhere on another machine. */
export const ROOT_CHARS = 96;
/** What a reply costs unless a scenario says otherwise: numbers that do not hang on the length of a path. */
const USAGE = { input: 100, output: 20 };

/** So often a scenario looks whether something holds: about a minute. */
const MOST_LOOKS = 20_000_000;
/** The built-in agents are read once for all scenarios. */
const PARSED: NonNullable<Parameters<typeof loadProject>[0]["parsed"]> = new Map();

/** Makes an empty folder whose path has the same length on every machine. */
export function makeRoot(): string {
  const made = mkdtempSync(join(realpathSync(tmpdir()), "retinue-golden-"));
  const root = join(dirname(made), basename(made).padEnd(ROOT_CHARS - dirname(made).length - 1, "-"));
  if (root.length !== ROOT_CHARS)
    throw new Error(`${dirname(made)} is too long for a root of ${ROOT_CHARS} characters`);
  renameSync(made, root);
  return root;
}

/** Where a scenario takes place. */
export type Place = { root: string; name: string; database: string };

/** The folder that a scenario's project is in. */
export function findProject({ root, name }: Pick<Place, "root" | "name">): string {
  return join(root, name, "project");
}

/** Writes the files of a scenario's project. */
export function writeProject(place: Pick<Place, "root" | "name">, { files = {} }: Scenario): void {
  const projectDir = findProject(place);
  mkdirSync(projectDir, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(projectDir, path)), { recursive: true });
    writeFileSync(join(projectDir, path), text);
  }
}

/** What the models say, and where a server of the scenario is. */
type Playing = { afterwards?: Scripts | undefined; baseUrl?: string | undefined };

/** A scenario's agents, models, tools and settings, as a runtime takes them. */
export async function prepareOptions(
  { root, name, database }: Place,
  scenario: Scenario,
  { afterwards, baseUrl }: Playing = {},
): Promise<RuntimeOptions & { models: Record<string, ScriptedModel> }> {
  const home = join(root, name);
  const dataDir = join(home, "data");
  // No program of the machine is on the path, and no key in the environment.
  const env = {
    HOME: home,
    RETINUE_HOME: dataDir,
    RETINUE_DISCOVER: "0",
    PATH: join(home, "no-programs"),
    TZ: "UTC",
  };
  const projectDir = findProject({ root, name });
  const project = await loadProject({ projectDir, env, parsed: PARSED });
  const { settings } = scenario;
  const first = typeof scenario.scripts === "function" ? scenario.scripts() : (scenario.scripts ?? {});
  const scripts = afterwards ?? first;
  const names = [...new Set([...Object.keys(first), ...Object.keys(scripts)])];
  return {
    agents: createRegistry({ agents: gatherAgents(scenario, project, names) }),
    models: Object.fromEntries(
      names.map((each) => [each, scriptedModel(each, withUsage(scripts[each] ?? []))]),
    ),
    tools: [...builtInTools, ...(scenario.tools ?? [])],
    settings: {
      ...project.settings,
      ...(typeof settings === "function" ? settings(projectDir) : settings),
      ...(baseUrl !== undefined && { providers: { local: { kind: "openai-compatible", baseUrl } } }),
    },
    projectDir,
    dataDir,
    database,
    env,
    ...scenario.options,
  };
}

function gatherAgents(scenario: Scenario, { registry }: Project, scripted: readonly string[]): Agent[] {
  const isBuiltIn = (name: string) => registry.list().some((agent) => agent.name === name);
  const own = scripted.filter((name) => !isBuiltIn(name));
  const others = scripted.slice(1);
  const made = own.map((name) =>
    defineAgent({
      name,
      description: `Plays ${name}.`,
      prompt: `You are ${name}.`,
      model: name,
      ...(name === scripted[0] && others.length > 0 && { subagents: { allow: others } }),
      ...scenario.agents?.[name],
    }),
  );
  const builtIn = registry
    .list()
    .map((agent) => ({ ...agent, model: scripted.includes(agent.name) ? agent.name : agent.model }));
  return [...made, ...(scenario.more ?? []).map((agent) => defineAgent(agent)), ...builtIn];
}

function withUsage(script: Script): Script {
  const give = (step: Step): Step =>
    step.kind === "reply" && step.usage === undefined ? { ...step, usage: USAGE } : step;
  const giveEach = (steps: readonly StepMaker[]) =>
    steps.map((step) =>
      typeof step === "function" ? async (request: ScriptRequest) => give(await step(request)) : give(step),
    );
  if (typeof script === "function") return async (request) => give(await script(request));
  return "eachRun" in script ? { eachRun: giveEach(script.eachRun) } : giveEach(script);
}

/** A process of a scenario: a runtime on its place. */
export type Life = Stage & { outcomes: unknown[]; close(): Promise<void> };

/** Opens a runtime that plays these scripts, or those of the scenario. */
export async function openLife(
  place: Place,
  scenario: Scenario,
  clock: GoldenClock,
  afterwards?: Scripts,
): Promise<Life> {
  const server = await scenario.server?.start();
  const options = await prepareOptions(place, scenario, { afterwards, baseUrl: server?.baseUrl });
  const runtime = assembleRuntime(withBuiltIns(options), { clock, random: () => 0.5 });
  const events: RetinueEvent[] = [];
  runtime.events((event) => events.push(event));
  return {
    runtime,
    clock,
    models: options.models,
    events,
    projectDir: findProject(place),
    outcomes: [],
    async close() {
      await runtime.close();
      await server?.close();
    },
    async until(holds) {
      for (let looks = 0; !holds(); looks++) {
        if (looks === MOST_LOOKS) throw new Error(`${place.name} never gets to the moment that it waits for`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** Plays what comes before the kill, or all there is. */
export async function playFirst(life: Life, scenario: Scenario): Promise<void> {
  const { request, killed } = scenario;
  if (killed) {
    // What the killed process would have answered is nobody's concern.
    if (scenario.play) scenario.play(life).catch(() => {});
    else if (request) await life.runtime.start(request);
    await life.until(() => killed.when(life));
    await life.runtime.record.committed();
  } else if (scenario.play) life.outcomes.push(await scenario.play(life));
  else if (request) life.outcomes.push(await life.runtime.run(request));
}

/** Resumes a session and waits until all of its tasks have ended. */
export async function resumeSession({ runtime }: Life, sessionId: string): Promise<unknown> {
  const { results } = await runtime.resume(sessionId);
  return results;
}

/** Throws if a model was asked less or more often than its script says. */
export function checkScripts({ models }: Life): void {
  for (const model of Object.values(models)) model.assertDone();
}

/** Copies a database as a killed process would leave it. */
export function copyDatabase(from: string, to: string): void {
  using db = new DatabaseSync(from);
  db.prepare("VACUUM INTO ?").run(to);
  using copy = new DatabaseSync(to);
  copy.exec("DELETE FROM leases");
}

/** Removes a root with everything in it. */
export function removeRoot(root: string): void {
  rmSync(root, { recursive: true, force: true });
}
