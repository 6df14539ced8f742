import { builtInTools } from "../../runtime/project/built-in-tools.ts";
import {
  createRuntime,
  type ResumedHandle,
  type RunHandle,
  type Runtime,
  type RuntimeOptions,
} from "../../runtime/runtime.ts";
import type { RunResult } from "../../schema/result.ts";
import { EXIT, exitCodeOfResult } from "../exit-code.ts";
import { type OpenProject, openSoundProject } from "../open-project.ts";
import { plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { createAsker } from "./ask-person.ts";
import { pickAgent, readTask } from "./read-task.ts";
import { forkOf, formatOf, limitsOf, type RunOptions, rulesOf, withFlags } from "./run-options.ts";
import { createNotices, createProgress } from "./show-progress.ts";
import { catchSignals } from "./stop-signals.ts";
import { createJsonStream } from "./stream-json.ts";

/** `retinue run`: runs one task to its end and returns the exit code. */
export async function runTask(
  argument: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<number> {
  const project = await openSoundProject(options, terminal);
  const agent = pickAgent(project.registry, options.agent);
  const task = await readTask(argument, terminal);
  const fork = forkOf(options);
  const request = {
    agent,
    task,
    limits: limitsOf(options),
    ...(options.model && { model: options.model }),
    ...(fork && { fork }),
  };
  return conduct(project, options, terminal, (runtime) => runtime.start(request));
}

/** Begins a run, shows it, ends it when the person says so, and gives the exit code. */
export async function conduct(
  project: OpenProject,
  options: RunOptions,
  terminal: Terminal,
  begin: (runtime: Runtime) => Promise<RunHandle | ResumedHandle>,
): Promise<number> {
  const runtime = createRuntime(runtimeOptions(project, options, terminal));
  const signals = catchSignals(terminal);
  const finish = show(runtime, project, options, terminal);
  const unanswered = watchUnanswered(runtime);
  try {
    const handle = await begin(runtime);
    signals.onStop(() => runtime.cancel(handle.sessionId));
    const results = "results" in handle ? await handle.results : [await handle.result];
    finish(results);
    const codes = results.map((result) => exitCodeOfResult(result, unanswered()));
    return signals.exitCode ?? codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
  } finally {
    await runtime.close();
    signals.release();
  }
}

/** The runtime that a command line asks for. */
export function runtimeOptions(
  project: OpenProject,
  options: RunOptions,
  terminal: Terminal,
): RuntimeOptions {
  const { known, projectDir, registry, places } = project;
  const asks = terminal.interactive && !options.print && formatOf(options) === "text";
  return {
    agents: registry,
    tools: builtInTools,
    settings: withFlags(project.settings, options),
    projectDir,
    dataDir: places.dataDir,
    configDir: places.configDir,
    env: terminal.env,
    allowedTools: rulesOf(options.allowedTools, "--allowed-tools", known),
    disallowedTools: rulesOf(options.disallowedTools, "--disallowed-tools", known),
    ...(options.triggers === false && { triggers: false }),
    ...(options.permissionMode && { permissionMode: options.permissionMode }),
    ...(asks && { approve: createAsker(terminal) }),
  };
}

/** Shows what happens while it does; the answer shows the results. */
function show(
  runtime: Runtime,
  { projectDir }: OpenProject,
  options: RunOptions,
  terminal: Terminal,
): (results: readonly RunResult[]) => void {
  const format = formatOf(options);
  runtime.events(createNotices(terminal));
  if (format === "stream-json") {
    const about = { cwd: projectDir, permissionMode: options.permissionMode ?? "default" };
    const stream = createJsonStream(runtime, about, (line) => terminal.print(JSON.stringify(line)));
    runtime.events(stream.take);
    return (results) => results.forEach(stream.finish);
  }
  if (!options.print) runtime.events(createProgress(terminal));
  if (format === "json")
    return (results) => terminal.print(JSON.stringify(results.length === 1 ? results[0] : results, null, 2));
  return (results) => {
    for (const [index, result] of results.entries()) {
      if (results.length > 1)
        terminal.print(`${index > 0 ? "\n" : ""}${index + 1}. ${plainText(result.agent)}: ${result.status}`);
      printResult(result, terminal);
    }
  };
}

function printResult(result: RunResult, terminal: Terminal): void {
  const text = plainText(result.details || result.summary).trimEnd();
  const error = result.success ? "" : plainText(result.error?.message ?? "").trimEnd();
  if (text && text !== error) terminal.print(text);
  if (error) terminal.tell(`error: ${error}`);
}

/** Whether something needed a person's word and nobody was there. */
export function watchUnanswered(runtime: Runtime): () => boolean {
  let unanswered = false;
  runtime.events((event) => {
    if (event.type === "approval.settled" && !event.allowed && event.by === "nobody") unanswered = true;
  });
  return () => unanswered;
}
