import { realpath } from "node:fs/promises";
import { builtInTools } from "../../runtime/project/built-in-tools.ts";
import {
  createRuntime,
  type ResumedHandle,
  type RunHandle,
  type RunRequest,
  type Runtime,
  type RuntimeOptions,
} from "../../runtime/runtime.ts";
import type { Approval } from "../../schema/record.ts";
import { EXIT, exitCodeOfResult } from "../exit-code.ts";
import { openRunView } from "../live/run-view.ts";
import { type OpenProject, openWorkingProject } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { readAnswerSchema } from "./answer-schema.ts";
import { createAsker } from "./ask-person.ts";
import { openOut } from "./copy-out.ts";
import { pickAgent, readTask } from "./read-task.ts";
import { forkOf, formatOf, limitsOf, type RunOptions, rulesOf, withFlags } from "./run-options.ts";
import { createResultView } from "./show-result.ts";
import { catchSignals } from "./stop-signals.ts";

/** `retinue run`: runs one task to its end and returns the exit code. */
export async function runTask(
  argument: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<number> {
  const project = await openWorkingProject(options, terminal);
  const agent = pickAgent(project.registry, options.agent);
  const request = await requestOf(argument, options, terminal);
  const tools = options.tools && rulesOf(options.tools, "--tools", project.known);
  return conduct(project, options, terminal, (runtime) =>
    runtime.start({ ...request, agent, ...(tools && { tools }) }),
  );
}

/** What the flags ask for, with the task from the argument or stdin. */
export async function requestOf(
  argument: string | undefined,
  options: RunOptions,
  terminal: Terminal,
): Promise<Omit<RunRequest, "agent">> {
  const answer = await readAnswerSchema(options, terminal);
  const task = await readTask(argument, terminal);
  const fork = forkOf(options);
  return {
    task,
    limits: limitsOf(options),
    ...(options.model && { model: options.model }),
    ...(answer && { deliverables: [{ answer }] }),
    ...(fork && { fork }),
  };
}

/** Begins a run, shows it, ends it when the person says so, and gives the exit code. */
export async function conduct(
  project: OpenProject,
  options: RunOptions,
  terminal: Terminal,
  begin: (runtime: Runtime) => Promise<RunHandle | ResumedHandle>,
  more: Pick<RuntimeOptions, "procedures" | "tools"> = {},
): Promise<number> {
  const out = await openOut(options, terminal);
  const given = { ...runtimeOptions(project, options, terminal), ...more };
  const view = await openRunView(options, terminal);
  const runtime = createRuntime({ ...given, ...(given.approve && { approve: view.asking(given.approve) }) });
  const signals = catchSignals(view.terminal);
  runtime.events(view.take);
  const finish = createResultView(runtime, project.projectDir, options, terminal);
  const unanswered = watchUnanswered(runtime);
  const parked = watchParked(runtime);
  try {
    const handle = await begin(runtime);
    const stopped = Promise.withResolvers<never>();
    let isLeft = false;
    signals.onStop((signal) => {
      isLeft = signal !== "SIGINT";
      if (!isLeft) runtime.cancel(handle.sessionId);
      else runtime.drain(project.settings.graceSeconds * 1_000).catch(stopped.reject);
    });
    const working = "results" in handle ? handle.results : handle.result.then((result) => [result]);
    const results = await Promise.race([working, stopped.promise]);
    const waiting = parked();
    view.close();
    finish({ results, waiting });
    if (signals.exitCode !== undefined) terminal.tell(describeStop(runtime, handle.sessionId, isLeft));
    view.account(results);
    const { workspace, session_id: sessionId } = runtime.store.findSession(handle.sessionId);
    const copies = await out?.copyFrom(workspace);
    const tainted = results.find((result) => result.tainted);
    if (copies && tainted) {
      const { noteCopies } = await import("../../runtime/untrusted-files.ts");
      const place = { project: await realpath(project.projectDir), sessionId, runId: tainted.run_id };
      await noteCopies(runtime.store, copies, place);
    }
    const codes = results.map((result) => exitCodeOfResult(result, unanswered()));
    if (waiting.length > 0 && signals.exitCode === undefined) return EXIT.denied;
    return signals.exitCode ?? codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
  } finally {
    view.close();
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
  const { onAsk } = options;
  const asks = terminal.interactive && !options.print && formatOf(options) === "text" && !onAsk;
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
    ...(onAsk && { onAsk }),
    ...(asks && { approve: createAsker(terminal) }),
  };
}

function describeStop({ store }: Runtime, sessionId: string, isLeft: boolean): string {
  return isLeft && store.session(sessionId)?.status === "running"
    ? `left in the middle; go on with: retinue resume ${sessionId}`
    : "interrupted: what was under way has settled";
}

/** The questions that a session was left with, if it was. */
function watchParked(runtime: Runtime): () => Approval[] {
  const ids = new Set<string>();
  runtime.events((event) => {
    if (event.type === "session.parked") for (const id of event.approvalIds) ids.add(id);
  });
  return () => [...ids].map((id) => runtime.store.findApproval(id));
}

/** Whether something needed a person's word and nobody was there. */
export function watchUnanswered(runtime: Runtime): () => boolean {
  let unanswered = false;
  runtime.events((event) => {
    if (event.type === "approval.settled" && !event.allowed && event.by === "nobody") unanswered = true;
  });
  return () => unanswered;
}
