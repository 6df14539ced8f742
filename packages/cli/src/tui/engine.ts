import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createBuiltInRuntime, pickProjectOptions } from "@retinue/builtin/create-runtime";
import { replaceFile } from "@retinue/core/files/replace-file";
import { AnsweredElsewhere, STOPPED } from "@retinue/core/host/approvals";
import { decide } from "@retinue/core/rights/decide";
import { parseRules } from "@retinue/core/rights/rule";
import type { ApprovalAnswer, ApprovalRequest } from "@retinue/core/run/ports";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { PermissionMode } from "@retinue/core/schema/rights";
import { cutToLine } from "@retinue/core/text/plain-text";
import { describeUnheld, type OpenProject, openSoundProject } from "../open-project.ts";
import type { Cli, Terminal } from "../terminal.ts";
import { pickAgent, type RunOptions } from "../work/run-options.ts";
import { type CommandDesk, performCommand } from "./perform-command.ts";
import { followTranscript } from "./transcript.ts";
import type { Tui } from "./tui.ts";
import type { Effect, TuiState } from "./tui-state.ts";

/** Options of `retinue tui`. */
export type TuiOptions = Pick<RunOptions, "cwd" | "agent" | "model" | "agents"> & {
  permissionMode?: PermissionMode;
  /** The session to continue. */
  resume?: string;
  /** Continues the newest session of the project. */
  continue?: boolean;
  linear?: boolean;
  screenReader?: boolean;
};

/** What does the work behind the screen. */
export type Engine = {
  perform(effect: Effect): Promise<void>;
  /** Ends everything that runs, or leaves it to be resumed, and waits until it is written. */
  close(how: "end" | "leave"): Promise<void>;
};

/** Loads the project and opens the runtime. Throws what a person must fix before anything can run. */
export async function openEngine(cli: Cli<TuiOptions>, tui: Tui): Promise<Engine> {
  const project = await openSoundProject(cli);
  const agent = pickAgent(project.registry, cli.options.agent);
  const approver = createApprover(tui, (request) => findDiff(request, desk.runtime));
  const open = (mode: TuiState["facts"]["mode"]) =>
    openRuntime(project, mode, { terminal: cli, tui, approver });
  const runtime = open(cli.options.permissionMode ?? "default");
  const desk: CommandDesk = {
    tui,
    terminal: cli,
    project,
    agent,
    runtime,
    transcripts: followTranscript(tui, () => desk.runtime.record),
    model: cli.options.model,
    reports: [],
    async reopen(mode) {
      await desk.runtime.close();
      desk.runtime = open(mode);
      tui.dispatch({ type: "facts", facts: { mode } });
    },
    say: (text, level = "info") => tui.dispatch({ type: "say", entry: { kind: "notice", level, text } }),
    output: (text) => tui.dispatch({ type: "say", entry: { kind: "output", text } }),
  };
  const place = { dataDir: project.places.dataDir, projectDir: project.projectDir };
  tui.dispatch({ type: "history", items: await loadHistory(place) });
  const agents = project.registry.list().map(({ name }) => name);
  tui.dispatch({ type: "ready", agent, model: cli.options.model ?? "", agents });
  for (const line of describeUnheld(project)) desk.say(line, "warning");
  const engine: Engine = {
    async perform(effect) {
      try {
        if (effect.kind === "remember") await rememberInput(place, effect.text);
        else if (effect.kind === "answer") approver.answer(effect.approvalId, effect.answer);
        else await performEffect(desk, effect);
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
  if (cli.options.resume !== undefined || cli.options.continue)
    void engine.perform({ kind: "command", name: "resume", rest: cli.options.resume ?? "" });
  return engine;
}

type Around = { terminal: Terminal; tui: Tui; approver: ReturnType<typeof createApprover> };

function openRuntime(
  project: OpenProject,
  permissionMode: TuiState["facts"]["mode"],
  { terminal, tui, approver }: Around,
): Runtime {
  const runtime = createBuiltInRuntime({
    ...pickProjectOptions(project, { projectDir: project.projectDir, env: terminal.env }),
    permissionMode,
    approve: approver.approve,
  });
  runtime.events((event) => tui.dispatch({ type: "event", event }));
  return runtime;
}

async function performEffect(desk: CommandDesk, effect: Effect): Promise<void> {
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
      return tui.dispatch({ type: "files", items: await listProjectFiles(desk.project) });
    case "command":
      return performCommand(desk, effect.name, effect.rest);
    default:
      return;
  }
}

async function startTask(desk: CommandDesk, task: string): Promise<void> {
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
async function findDiff(request: ApprovalRequest, { record }: Runtime): Promise<string | null> {
  const { tool, runId, sessionId, targets, input } = request;
  const session = await record.readSession(sessionId);
  if (!session || (tool !== "write" && tool !== "edit")) return null;
  const { proposedDiff } = await import("@retinue/server/views/proposed-diff");
  return proposedDiff(record, { tool, runId, request: { targets, input } }, session);
}

/** Asks on the screen. A question whose run has ended, or that somebody else has answered, is taken from it. */
function createApprover(
  tui: Pick<Tui, "dispatch">,
  askDiff: (request: ApprovalRequest) => Promise<string | null>,
) {
  const open = new Map<string, (answer: ApprovalAnswer) => void>();
  const answer = (approvalId: string, given: ApprovalAnswer): void => {
    open.get(approvalId)?.(given);
    open.delete(approvalId);
  };
  return {
    answer,
    approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
      const { approvalId } = request;
      if (signal.aborted) return Promise.resolve(STOPPED);
      return new Promise((resolve) => {
        open.set(approvalId, resolve);
        const gone = () => {
          answer(approvalId, STOPPED);
          tui.dispatch({ type: "unasked", approvalId, atMs: Date.now() });
          // A no is told with its note when the call hears of it.
          if (!(signal.reason instanceof AnsweredElsewhere) || !signal.reason.answer.allowed) return;
          const text = `${cutToLine(request.tool, 80)} was allowed by ${cutToLine(signal.reason.answer.by, 100)}`;
          tui.dispatch({ type: "say", entry: { kind: "notice", level: "info", text } });
        };
        signal.addEventListener("abort", gone, { once: true });
        void askDiff(request)
          .catch(() => null)
          .then((diff) => {
            if (open.has(approvalId)) tui.dispatch({ type: "asked", request, diff, atMs: Date.now() });
          });
      });
    },
    /** Answers everything that is open with a no. */
    close(): void {
      for (const approvalId of [...open.keys()]) {
        answer(approvalId, { allowed: false, by: "the end of the program" });
        tui.dispatch({ type: "unasked", approvalId, atMs: Date.now() });
      }
    },
  };
}

/** Whose history it is. */
type HistoryPlace = { dataDir: string; projectDir: string };

const MOST_KEPT = 500;
const MOST_CHARS = 20_000;

/** What was typed in this project before, the oldest first; nothing if it cannot be read. */
export async function loadHistory(of: HistoryPlace): Promise<string[]> {
  const path = findHistoryFile(of);
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.split("\n").filter(Boolean);
  const items = lines.flatMap(parseLine).slice(-MOST_KEPT);
  if (lines.length > 2 * MOST_KEPT) {
    const kept = items.map((item) => `${JSON.stringify(item)}\n`).join("");
    await replaceFile(path, kept, 0o600).catch(() => {});
  }
  return items;
}

/** Adds what was typed, in a file that only its owner can read. */
export async function rememberInput(of: HistoryPlace, text: string): Promise<void> {
  if (text.length > MOST_CHARS) return;
  const path = findHistoryFile(of);
  await mkdir(join(of.dataDir, "history"), { recursive: true, mode: 0o700 });
  await appendFile(path, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}

function findHistoryFile({ dataDir, projectDir }: HistoryPlace): string {
  const name = createHash("sha256").update(projectDir).digest("hex").slice(0, 16);
  return join(dataDir, "history", `${name}.jsonl`);
}

function parseLine(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}

const MOST_FILES = 20_000;
const MOST_BYTES = 8_000_000;
const LIST_MS = 10_000;
/** The listing of `glob`: ignore files honoured, hidden files and links passed over, nobody's configuration. */
const ARGS = [
  "--files",
  "--no-config",
  "--no-messages",
  "--no-require-git",
  "--no-ignore-global",
  "--null",
  "--sort=path",
  "--glob=!**/node_modules",
  "--glob=!**/.git",
  "--",
  ".",
];

/** Names of the project's files that may be mentioned, without those that the settings deny to every agent. */
export async function listProjectFiles({ projectDir, settings, places }: OpenProject): Promise<string[]> {
  const layer = {
    name: "settings",
    ask: [],
    deny: parseRules(settings.permissions.deny, "permissions.deny", places.homeDir),
  };
  const mayRead = (relative: string) => {
    const target = {
      kind: "path",
      path: join(projectDir, relative),
      root: "project",
      relative,
      mode: "read",
    } as const;
    return decide([layer], { tool: "read", groups: ["filesystem"], targets: [target] }).verdict !== "deny";
  };
  const names = await filesBelow(projectDir);
  return names.filter((name) => !/\p{Cc}|\s/u.test(name) && mayRead(name)).slice(0, MOST_FILES);
}

/** What ripgrep lists; of very many or after a long time, what it has listed until then. */
async function filesBelow(root: string): Promise<string[]> {
  const { rgPath } = await import("@vscode/ripgrep");
  const limits = { timeout: LIST_MS, maxBuffer: MOST_BYTES, killSignal: "SIGKILL" } as const;
  const listed = await promisify(execFile)(rgPath, ARGS, { cwd: root, env: {}, ...limits }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout?: string }) => stdout ?? "",
  );
  return listed
    .split("\0")
    .map((name) => name.replace(/^\.[/\\]/, "").replaceAll("\\", "/"))
    .filter(Boolean);
}
