import type { ApprovalRequest } from "../../../loop/ports.ts";
import { builtInTools } from "../../../runtime/project/built-in-tools.ts";
import { createRuntime, type Runtime } from "../../../runtime/runtime.ts";
import { messageOf, RetinueError } from "../../../schema/error.ts";
import type { RunResult } from "../../../schema/result.ts";
import { describeUnheld, type OpenProject, openSoundProject } from "../../open-project.ts";
import { pickAgent } from "../../run/read-task.ts";
import type { Terminal } from "../../terminal.ts";
import type { TuiOptions } from "../start-tui.ts";
import type { Tui } from "../tui.ts";
import type { Effect, TuiState } from "../tui-state.ts";
import { createApprover, type TuiApprover } from "./approver.ts";
import { loadHistory, rememberInput } from "./input-history.ts";
import { listFiles } from "./list-files.ts";
import { performCommand } from "./perform-command.ts";
import { followTranscript, type Transcripts } from "./transcripts.ts";

/** What does the work behind the screen. */
export type Engine = {
  perform(effect: Effect): Promise<void>;
  /** Ends everything that runs, or leaves it to be resumed, and waits until it is written. */
  close(how: "end" | "leave"): Promise<void>;
};

/** What commands work with. */
export type Desk = {
  readonly tui: Tui;
  readonly terminal: Terminal;
  readonly options: TuiOptions;
  readonly project: OpenProject;
  readonly agent: string;
  readonly transcripts: Transcripts;
  runtime: Runtime;
  /** The model that the person chose. */
  model: string | undefined;
  /** What agents reported that the person started, and the conversation has not heard of. */
  reports: RunResult[];
  /** Replaces the runtime by one that answers asks in another way. */
  reopen(mode: TuiState["facts"]["mode"]): Promise<void>;
  say(text: string, level?: "info" | "warning" | "error"): void;
  output(text: string): void;
};

/** Loads the project and opens the runtime. Throws what a person must mend before anything can run. */
export async function openEngine(options: TuiOptions, terminal: Terminal, tui: Tui): Promise<Engine> {
  const project = await openSoundProject(options, terminal);
  const agent = pickAgent(project.registry, options.agent);
  const approver = createApprover(tui, (request) => findDiff(request, desk.runtime));
  const open = (mode: TuiState["facts"]["mode"]) => openRuntime(project, mode, { terminal, tui, approver });
  const runtime = open(options.permissionMode ?? "default");
  const desk: Desk = {
    tui,
    terminal,
    options,
    project,
    agent,
    runtime,
    transcripts: followTranscript(tui, () => desk.runtime.store),
    model: options.model,
    reports: [],
    async reopen(mode) {
      await desk.runtime.close();
      desk.runtime = open(mode);
      tui.dispatch({ type: "facts", facts: { mode } });
    },
    say: (text, level = "info") => tui.dispatch({ type: "say", entry: { kind: "notice", level, text } }),
    output: (text) => tui.dispatch({ type: "say", entry: { kind: "output", text } }),
  };
  const historyOf = { dataDir: project.places.dataDir, projectDir: project.projectDir };
  tui.dispatch({ type: "history", items: await loadHistory(historyOf) });
  const agents = project.registry.list().map(({ name }) => name);
  tui.dispatch({ type: "ready", agent, model: options.model ?? "", agents });
  for (const line of describeUnheld(project)) desk.say(line, "warning");
  const engine: Engine = {
    async perform(effect) {
      try {
        if (effect.kind === "remember") await rememberInput(historyOf, effect.text);
        else if (effect.kind === "answer") approver.answer(effect.approvalId, effect.answer);
        else await act(desk, effect);
      } catch (thrown) {
        const hint = thrown instanceof RetinueError && thrown.hint ? ` (${thrown.hint})` : "";
        desk.say(`${messageOf(thrown)}${hint}`, "error");
      }
    },
    async close(how) {
      desk.transcripts.stop();
      // What waits for the person stays open in the record.
      if (how === "leave") await desk.runtime.drain(project.settings.graceSeconds * 1_000);
      approver.close();
      await desk.runtime.close();
    },
  };
  if (options.resume !== undefined || options.continue)
    void engine.perform({ kind: "command", name: "resume", rest: options.resume ?? "" });
  return engine;
}

type Around = { terminal: Terminal; tui: Tui; approver: TuiApprover };

function openRuntime(
  { registry, settings, projectDir, places }: OpenProject,
  permissionMode: TuiState["facts"]["mode"],
  { terminal, tui, approver }: Around,
): Runtime {
  const runtime = createRuntime({
    agents: registry,
    tools: builtInTools,
    settings,
    projectDir,
    dataDir: places.dataDir,
    configDir: places.configDir,
    env: terminal.env,
    permissionMode,
    approve: approver.approve,
  });
  runtime.events((event) => tui.dispatch({ type: "event", event }));
  return runtime;
}

async function act(desk: Desk, effect: Effect): Promise<void> {
  const { runtime, tui } = desk;
  switch (effect.kind) {
    case "start":
      return startTask(desk, effect.text);
    case "steer":
      if (!runtime.steer(effect.runId, effect.text)) tui.dispatch({ type: "unsteered", runId: effect.runId });
      return;
    case "cancel":
      for (const id of effect.ids) runtime.cancel(id);
      return;
    case "open":
      return desk.transcripts.open(effect.runId);
    case "list-files":
      return tui.dispatch({ type: "files", items: await listFiles(desk.project) });
    case "command":
      return performCommand(desk, effect.name, effect.rest);
    default:
      return;
  }
}

async function startTask(desk: Desk, task: string): Promise<void> {
  const { runtime, tui, agent, model } = desk;
  const { sessionId } = tui.snapshot().state;
  const reports = [...desk.reports];
  try {
    const handle = await runtime.start({
      agent,
      task,
      reports,
      ...(model && { model }),
      ...(sessionId !== null && { session: sessionId }),
    });
    desk.reports = desk.reports.filter((report) => !reports.includes(report));
    await handle.result;
  } finally {
    tui.dispatch({ type: "not-started" });
  }
}

/** What a call that asks would change in a file, as the web app shows it. */
async function findDiff(request: ApprovalRequest, { store }: Runtime): Promise<string | null> {
  const { tool, runId, sessionId, targets, input } = request;
  const session = store.session(sessionId);
  if (!session || (tool !== "write" && tool !== "edit")) return null;
  const { proposedDiff } = await import("../../../server/views/proposed-diff.ts");
  return proposedDiff(store, { tool, runId, request: { targets, input } }, session);
}
