import { realpath } from "node:fs/promises";
import {
  type BuiltInOptions,
  createBuiltInRuntime,
  pickProjectOptions,
} from "@retinue/builtin/create-runtime";
import type { RuntimeOptions } from "@retinue/core/host/create-host";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { Approval } from "@retinue/core/schema/record";
import type { RunRequest } from "@retinue/core/session/root-run";
import type { ResumedHandle, RunHandle } from "@retinue/core/session/sessions";
import { openOut } from "../copy-folder.ts";
import { chooseExitCode, EXIT } from "../exit-code.ts";
import { type OpenProject, openWorkingProject } from "../open-project.ts";
import { omitAbsent } from "../options.ts";
import { openTaskView, type TaskView } from "../progress/task-view.ts";
import type { Cli } from "../terminal.ts";
import { createAsker } from "./ask-person.ts";
import {
  applyFlags,
  chooseFormat,
  parseFork,
  parseToolRules,
  pickAgent,
  pickLimits,
  type RunOptions,
  readAnswerSchema,
  readTask,
} from "./run-options.ts";
import { createResultView } from "./show-result.ts";
import { catchSignals, type StopSignals } from "./stop-signals.ts";

/** `retinue run`: runs one task to its end and returns the exit code. */
export async function runTask(argument: string | undefined, cli: Cli<RunOptions>): Promise<number> {
  const project = await openWorkingProject(cli);
  const agent = pickAgent(project.registry, cli.options.agent);
  const request = await readTaskRequest(argument, cli);
  const tools = cli.options.tools && parseToolRules(cli.options.tools, "--tools", project.known);
  return watchTask(project, cli, (runtime) => runtime.start({ ...request, agent, ...(tools && { tools }) }));
}

/** What the flags ask for, with the task from the argument or stdin. */
export async function readTaskRequest(
  argument: string | undefined,
  cli: Cli<RunOptions>,
): Promise<Omit<RunRequest, "agent">> {
  const answer = await readAnswerSchema(cli);
  const task = await readTask(argument, cli);
  const model = cli.options.model || undefined;
  const deliverables = answer && [{ answer }];
  const limits = pickLimits(cli.options);
  return { task, limits, ...omitAbsent({ model, deliverables, fork: parseFork(cli.options) }) };
}

/** Begins a run, shows it, ends it when the person says so, and gives the exit code. */
export async function watchTask(
  project: OpenProject,
  cli: Cli<RunOptions>,
  begin: (runtime: Runtime) => Promise<RunHandle | ResumedHandle>,
  more: Pick<BuiltInOptions, "procedures" | "tools"> = {},
): Promise<number> {
  const out = await openOut(cli);
  return withRuntime(project, cli, more, async ({ runtime, view, signals, stopWith, unanswered }) => {
    const finish = createResultView(runtime, project.projectDir, cli);
    const parked = watchParked(runtime);
    const handle = await begin(runtime);
    const stopped = stopWith(() => runtime.cancel(handle.sessionId));
    const working = "results" in handle ? handle.results : handle.result.then((result) => [result]);
    const results = await Promise.race([working, stopped]);
    const waiting = await parked();
    view.close();
    await finish({ results, waiting });
    const { workspace, status, session_id: sessionId } = await runtime.record.findSession(handle.sessionId);
    if (signals.isLeft && status === "running")
      cli.tell(`left in the middle; go on with: retinue resume ${sessionId}`);
    else if (signals.exitCode !== undefined) cli.tell("interrupted: what was under way has settled");
    view.tellTally(results);
    const copies = await out?.copyFrom(workspace);
    const tainted = results.find((result) => result.tainted);
    if (copies && tainted) {
      const { noteCopies } = await import("@retinue/core/host/untrusted-files");
      const place = { project: await realpath(project.projectDir), sessionId, runId: tainted.run_id };
      await noteCopies(runtime.record, copies, place);
    }
    const codes = results.map((result) => chooseExitCode(result, unanswered()));
    if (waiting.length > 0 && signals.exitCode === undefined) return EXIT.denied;
    return signals.exitCode ?? codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
  });
}

/** A runtime while a command works with it, what shows it, and whether something asked and nobody was there. */
type AtWork = {
  runtime: Runtime;
  view: TaskView;
  signals: StopSignals;
  /** At Ctrl-C `end` ends the work; another signal leaves it to be resumed. Rejects if that fails. */
  stopWith(end: () => void): Promise<never>;
  unanswered(): boolean;
};

/** Opens the runtime that a command line asks for, shows what happens in it, and closes it after `work`. */
export async function withRuntime(
  project: OpenProject,
  cli: Cli<RunOptions>,
  more: Pick<BuiltInOptions, "procedures" | "tools">,
  work: (open: AtWork) => Promise<number>,
): Promise<number> {
  const given = { ...chooseRuntimeOptions(project, cli), ...more };
  const view = await openTaskView(cli);
  const runtime = createBuiltInRuntime({
    ...given,
    ...(given.approve && { approve: view.asking(given.approve) }),
  });
  const signals = catchSignals(view.terminal);
  const stopWith = (end: () => void): Promise<never> => {
    const failed = Promise.withResolvers<never>();
    signals.onStop((signal) => {
      if (signal === "SIGINT") end();
      else runtime.drain(project.settings.graceSeconds * 1_000).catch(failed.reject);
    });
    return failed.promise;
  };
  runtime.events(view.take);
  const unanswered = watchUnanswered(runtime);
  try {
    return await work({ runtime, view, signals, stopWith, unanswered });
  } finally {
    view.close();
    await runtime.close();
    signals.release();
  }
}

/** The runtime that a command line asks for. */
export function chooseRuntimeOptions(project: OpenProject, cli: Cli<RunOptions>): RuntimeOptions {
  const { known, projectDir } = project;
  const { onAsk, permissionMode, triggers } = cli.options;
  const asks = cli.interactive && !cli.options.print && chooseFormat(cli.options) === "text" && !onAsk;
  return {
    ...pickProjectOptions(project, { projectDir, env: cli.env }),
    settings: applyFlags(project.settings, cli.options),
    allowedTools: parseToolRules(cli.options.allowedTools, "--allowed-tools", known),
    disallowedTools: parseToolRules(cli.options.disallowedTools, "--disallowed-tools", known),
    ...(triggers === false && { triggers }),
    ...omitAbsent({ permissionMode, onAsk, approve: asks ? createAsker(cli) : undefined }),
  };
}

/** The questions that a session was left with, if it was. */
function watchParked(runtime: Runtime): () => Promise<Approval[]> {
  const ids = new Set<string>();
  runtime.events((event) => {
    if (event.type === "session.parked") for (const id of event.approvalIds) ids.add(id);
  });
  return () => Promise.all([...ids].map((id) => runtime.record.findApproval(id)));
}

/** Whether something needed approval and nobody was there. */
function watchUnanswered(runtime: Runtime): () => boolean {
  let unanswered = false;
  runtime.events((event) => {
    if (event.type === "approval.settled" && !event.allowed && event.by === "nobody") unanswered = true;
  });
  return () => unanswered;
}
