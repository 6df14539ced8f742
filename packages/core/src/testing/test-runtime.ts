import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentInput, defineAgent } from "../agents/define-agent.ts";
import { createRegistry } from "../agents/registry.ts";
import type { RuntimeInternals, RuntimeOptions } from "../host/create-host.ts";
import { assembleRuntime, type Runtime } from "../runtime/create-runtime.ts";
import type { RetinueEvent } from "../schema/event.ts";
import { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";

/** What a test may set besides the scripts. */
export type TestRuntimeOptions = Partial<Omit<RuntimeOptions, "agents" | "models">> & {
  /** Fields of the agents that differ from the default; the first script's agent may delegate to all others. */
  agents?: Readonly<Record<string, Partial<AgentInput>>>;
  /** Other agents that play no script of their own. */
  more?: readonly AgentInput[];
  internals?: RuntimeInternals;
  /** Do not complain about steps that were not used. */
  lenient?: boolean;
};

/** A real runtime on scripted models, with its own folders. */
export type TestRuntime = {
  runtime: Runtime;
  models: Readonly<Record<string, ScriptedModel>>;
  events: readonly RetinueEvent[];
  projectDir: string;
  dataDir: string;
  /** Runs in the order they ended, such as `lead > scout: completed`. */
  trace(): string[];
  /** Ends everything, and fails on steps that were left over or missing. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a runtime whose agents play scripts, one script per agent. */
export function testRuntime(
  scripts: Readonly<Record<string, Script>>,
  options: TestRuntimeOptions = {},
): TestRuntime {
  const { agents = {}, more = [], internals = {}, lenient = false, ...rest } = options;
  const root = rest.projectDir && rest.dataDir ? null : mkdtempSync(join(tmpdir(), "retinue-test-"));
  const projectDir = rest.projectDir ?? mkdtempSync(join(root ?? "", "project-"));
  const dataDir = rest.dataDir ?? join(root ?? "", "data");
  const models = Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [name, scriptedModel(name, script)]),
  );
  const definitions = Object.keys(scripts).map((name, index) =>
    defineAgent({
      name,
      description: `Plays ${name}.`,
      prompt: `You are ${name}.`,
      model: name,
      ...(index === 0 && Object.keys(scripts).length + more.length > 1 && { subagents: { allow: ["*"] } }),
      ...agents[name],
    }),
  );
  const registry = createRegistry({
    agents: [...definitions, ...more.map((agent) => defineAgent(agent))],
    disabledAgents: rest.settings?.disabledAgents ?? [],
  });
  const runtime = assembleRuntime(
    { database: ":memory:", env: {}, ...rest, agents: registry, models, projectDir, dataDir },
    internals,
  );
  const events: RetinueEvent[] = [];
  runtime.events((event) => events.push(event));
  const close = async () => {
    await runtime.close();
    if (root) rmSync(root, { recursive: true, force: true });
    if (!lenient) for (const model of Object.values(models)) model.assertDone();
  };
  return {
    runtime,
    models,
    events,
    projectDir,
    dataDir,
    trace: () => traceOf(events),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function traceOf(events: readonly RetinueEvent[]): string[] {
  const names = new Map<string, string>();
  const lines: string[] = [];
  for (const event of events) {
    if (event.type === "run.started") {
      const above = event.parentRunId ? `${names.get(event.parentRunId)} > ` : "";
      names.set(event.runId, `${above}${event.agent}`);
    } else if (event.type === "run.ended") {
      lines.push(`${names.get(event.runId)}: ${event.result.status}`);
    }
  }
  return lines;
}
