import { requireAgent } from "@retinue/core/agents/registry";
import { reportOf } from "@retinue/core/plan/report-plan";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import { RetinueError } from "@retinue/core/schema/error";
import { findOwn } from "@retinue/core/schema/find-own";
import type { SessionRow } from "@retinue/core/schema/record";
import type { RunResult } from "@retinue/core/schema/result";
import { PERMISSION_MODES } from "@retinue/core/schema/rights";
import { showCost, showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { runOfRow } from "@retinue/core/trace/trace-row";
import type { OpenProject } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import type { RunNode, RunTree } from "../tree/run-tree.ts";
import { drawPlan } from "../work/draw-plan.ts";
import { findWaiting, listAskers, PERSON_HERE } from "../work/waiting.ts";
import { SLASH_COMMANDS } from "./complete-input.ts";
import type { Transcripts } from "./transcript.ts";
import type { Tui } from "./tui.ts";
import { isBusy, type TalkEntry, type TuiState } from "./tui-state.ts";

const MOST_ABOUT = 50;
const MOST_RUNS = 100;

/** What commands work with. */
export type CommandDesk = {
  readonly tui: Tui;
  readonly terminal: Terminal;
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

/** Does what a slash command says. Throws what the person must be told. */
export async function performCommand(desk: CommandDesk, name: string, rest: string): Promise<void> {
  const command = findOwn(COMMANDS, name);
  if (command) return command(desk, rest);
  const names = SLASH_COMMANDS.map((each) => `/${each.name}`).join(" ");
  throw new RetinueError("input", `there is no command /${name}; there are: ${names}`);
}

const COMMANDS: Readonly<Record<string, (desk: CommandDesk, rest: string) => Promise<void> | void>> = {
  agents: (desk) => desk.output(listAgents(desk)),
  doctor: showDoctor,
  spawn: spawnAgent,
  runs: ({ tui, output }) => output(listRuns(tui.tree)),
  plan: async (desk, rest) =>
    /^run\b/.test(rest) ? await carryOutPlan(desk, rest.slice(3).trim()) : await planGoal(desk, rest),
  cost: (desk) => desk.output(describeCost(desk)),
  model: chooseModel,
  permissions: choosePermissions,
  approve: async (desk, rest) =>
    rest === "" ? desk.output(await listParked(desk)) : await answerParked(desk, rest),
  stop: stopRuns,
  resume: resumeSession,
  export: saveSession,
  help: (desk) => desk.output(helpText()),
  clear(desk) {
    refuseWhileBusy(desk);
    desk.tui.dispatch({ type: "session", sessionId: null, entries: [] });
  },
};

function listAgents({ project }: CommandDesk): string {
  const rows = project.registry
    .list()
    .map(({ name, description }) => [name, cutToLine(description, MOST_ABOUT)]);
  return rows.length === 0 ? "no agents yet" : drawTable(rows).join("\n");
}

async function spawnAgent(desk: CommandDesk, rest: string): Promise<void> {
  const { runtime, model } = desk;
  const [, agent, task] = /^(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
  if (agent === undefined || task === undefined)
    throw new RetinueError("input", "say who and what: /spawn AGENT task");
  requireAgent(runtime.agents, agent);
  const { result } = await runtime.start({ agent, task, ...(model && { model }) });
  const report = await result;
  desk.reports.push(report);
  desk.say(`${desk.agent} is told of ${report.agent}'s report with your next prompt`);
}

/** The runs of this conversation; of many the last ones, and how to see the rest. */
export function listRuns({ roots }: Pick<RunTree, "roots">): string {
  const rows = roots
    .flatMap(listAll)
    .map(({ runId, status, depth, agent, task }) => [
      runId,
      status,
      "  ".repeat(depth) + agent,
      task.slice(0, 60),
    ]);
  if (rows.length === 0) return "nothing has run yet";
  const shown = rows.slice(-MOST_RUNS);
  const left = roots.reduce((sum, { below }) => sum + 1 + below.runs, 0) - shown.length;
  const sessionId = roots.at(-1)?.sessionId ?? "last";
  const note = `${showCount(left, "earlier run")} left out; see all of a session with: retinue trace ${sessionId} --ids --limit 0`;
  return [...(left > 0 ? [note] : []), ...drawTable(shown)].join("\n");
}

function listAll(node: RunNode): RunNode[] {
  return [node, ...node.children.flatMap(listAll)];
}

function describeCost({ tui }: CommandDesk): string {
  const { spent } = tui.snapshot().state;
  const roots = tui.tree.roots;
  const runs = roots.flatMap(listAll);
  const rows = [...Map.groupBy(runs, ({ agent }) => agent)].map(([agent, some]) => {
    const sum = (of: "tokens" | "usd" | "unpriced") => some.reduce((all, { own }) => all + own[of], 0);
    const cost = sum("unpriced") > 0 ? null : sum("usd");
    return [agent, showCount(some.length, "run"), showCount(sum("tokens"), "token"), showCost(cost)];
  });
  const total = `${showCount(spent.tasks, "task")} ended · ${showCount(spent.tokens, "token")} · ${showCost(spent.costUsd)}`;
  return [total, ...(rows.length > 0 ? ["", ...drawTable(rows)] : [])].join("\n");
}

function chooseModel(desk: CommandDesk, rest: string): void {
  if (rest === "") {
    desk.say(`model: ${desk.tui.snapshot().state.facts.model || "what each agent names"}`);
    return;
  }
  desk.model = rest === "default" ? undefined : rest;
  desk.tui.dispatch({ type: "facts", facts: { model: desk.model ?? "" } });
  desk.say(`the next prompt goes to ${desk.model ?? "the default model"}`);
}

async function choosePermissions(desk: CommandDesk, rest: string): Promise<void> {
  if (rest === "") {
    const { allow, ask, deny } = desk.project.settings.permissions;
    const list = (name: string, rules: readonly string[] | undefined) =>
      `${name.padEnd(6)} ${rules?.join(", ") || "-"}`;
    const lines = [
      `mode   ${desk.tui.snapshot().state.facts.mode}`,
      list("allow", allow),
      list("ask", ask),
      list("deny", deny),
    ];
    return desk.output([...lines, "", `change with: /permissions ${PERMISSION_MODES.join("|")}`].join("\n"));
  }
  const mode = PERMISSION_MODES.find((each) => each.toLowerCase() === rest.toLowerCase());
  if (!mode)
    throw new RetinueError("input", `there is no mode '${rest}'; there are: ${PERMISSION_MODES.join(", ")}`);
  refuseWhileBusy(desk);
  await desk.reopen(mode);
  desk.say(`asks are now answered by mode ${mode}`);
}

function stopRuns(desk: CommandDesk, rest: string): void {
  const { tui, runtime } = desk;
  const { alive } = tui.snapshot().state;
  const all = [...alive].filter(([id, run]) =>
    rest === "" ? run.isRoot : id.startsWith(rest) || run.agent === rest,
  );
  if (all.length === 0)
    throw new RetinueError("input", rest === "" ? "nothing runs" : `no run '${rest}'; see /runs`);
  for (const [id] of all) runtime.cancel(id);
  desk.say(`stopping ${all.map(([, run]) => run.agent).join(", ")}`);
}

async function showDoctor(desk: CommandDesk): Promise<void> {
  const { tellFindings } = await import("../commands/doctor.ts");
  desk.output(await captureOutput(desk, (captured) => tellFindings({ ...captured, options: {} })));
}

async function saveSession(desk: CommandDesk, rest: string): Promise<void> {
  const { sessionId } = desk.tui.snapshot().state;
  if (sessionId === null) throw new RetinueError("input", "there is no session yet");
  const file = rest || `${sessionId}.md`;
  await desk.runtime.record.committed();
  const { exportSession } = await import("../commands/export.ts");
  const said = await captureOutput(desk, (captured) =>
    exportSession(sessionId, { ...captured, options: { output: file } }),
  );
  desk.output(said || `saved as ${file}`);
}

function refuseWhileBusy({ tui }: CommandDesk): void {
  if (isBusy(tui.snapshot().state))
    throw new RetinueError("input", "something still runs; stop it with Esc, or wait for its end");
}

function helpText(): string {
  const commands = SLASH_COMMANDS.map(({ name, takes, does }) => [`/${name} ${takes}`.trim(), does]);
  const keys = [
    ["Enter", "send; while something runs, the message steers it"],
    ["Alt-Enter, Ctrl-J, \\ Enter", "new line"],
    ["Up, Down", "earlier inputs"],
    ["@", "mention a file"],
    ["Tab", "choose a run in the tree; Enter opens it, typing goes to it"],
    ["Ctrl-O", "transcript of a sub-agent; Esc back"],
    ["PgUp, PgDn", "scroll"],
    ["Esc", "stop what runs"],
    ["Ctrl-C", "stop everything; twice leaves"],
  ];
  return [...drawTable([...commands, ["", ""], ...keys])].join("\n");
}

/** `/plan goal`: makes a plan and shows it. */
async function planGoal(desk: CommandDesk, goal: string): Promise<void> {
  if (goal === "") throw new RetinueError("input", "say what the goal is: /plan goal");
  const { runtime, agent, model } = desk;
  const plan = await runtime.planForGoal(goal, { agent, ...(model && { model }) });
  desk.output(drawPlan(plan).join("\n"));
  desk.say(`carry it out with: /plan run`);
}

/** `/plan run [ID]`: approves a plan, by default the last, and carries it out. */
async function carryOutPlan(desk: CommandDesk, id: string): Promise<void> {
  const { runtime, model } = desk;
  const plan = id === "" ? (await runtime.plans.list(1))[0] : await runtime.plans.find(id);
  if (!plan) throw new RetinueError("input", "there is no plan yet; make one with: /plan goal");
  const result = await runtime.executePlan(await runtime.plans.approve(plan.id), { ...(model && { model }) });
  desk.output(reportOf(result).trimEnd());
}

const MOST_LISTED = 20;

/** What waits for an answer, here or in sessions of other processes; of many the oldest, and how to see the rest. */
export async function listParked({ runtime }: Pick<CommandDesk, "runtime">): Promise<string> {
  const waiting = await findWaiting(runtime.record);
  if (waiting.length === 0) return "nothing waits for an answer";
  const lines = waiting.slice(0, MOST_LISTED).map(({ approvalId, tool, sessionId, request }) => {
    const reason = cutToLine(String(request.reason ?? ""), 200);
    return `${approvalId}  ${listAskers({ request }).join(" › ")} asks for ${cutToLine(tool, 60)} in ${sessionId}\n  ${reason}`;
  });
  const more = waiting.length - MOST_LISTED;
  const rest = more > 0 ? [`and ${more} more; see them all with: retinue approve`] : [];
  return [...lines, ...rest, "", "/approve ID allows it, /approve ID no [why] denies it"].join("\n");
}

/** `/approve ID [no [why]]`: answers, and continues the session if nothing else in it waits. */
async function answerParked({ runtime, say }: CommandDesk, rest: string): Promise<void> {
  const [, id = "", no, note = ""] = /^(\S+)(?:\s+(no)\b\s*([\s\S]*))?$/.exec(rest) ?? [];
  if (id === "") throw new RetinueError("input", "say which: /approve ID, or /approve ID no why");
  const { approvalId, sessionId, tool } = await runtime.record.findApproval(id);
  const allowed = no === undefined;
  if (!(await runtime.answer(approvalId, { allowed, by: PERSON_HERE, ...(note !== "" && { note }) })))
    throw new RetinueError("input", `${approvalId} has been answered already`);
  say(`${allowed ? "allowed" : "denied"}: ${tool}`);
  // The process that has the session, this one or another, continues with the answer.
  if ((await runtime.record.findHolder(sessionId)) !== null) return;
  if ((await runtime.record.listApprovals({ sessionId, state: "waiting", limit: 1 })).length > 0) return;
  await (await runtime.resume(sessionId)).results;
}

/** `/resume [SESSION]`: continues an earlier session of this project; what a crash left open in it is finished first. */
async function resumeSession(desk: CommandDesk, id: string): Promise<void> {
  const { tui, runtime } = desk;
  if (isBusy(tui.snapshot().state))
    throw new RetinueError("input", "something still runs; stop it with Esc first");
  const session = await findEarlier(desk, id);
  tui.dispatch({ type: "session", sessionId: session.session_id, entries: await listEntries(desk, session) });
  desk.say(`in session ${session.session_id}`);
  if (session.status === "running") await (await runtime.resume(session.session_id)).results;
}

async function findEarlier({ runtime, tui, project }: CommandDesk, id: string): Promise<SessionRow> {
  const { record } = runtime;
  const now = tui.snapshot().state.sessionId;
  const found =
    id === "" || id === "last"
      ? (await record.listSessions({ project: project.projectDir, limit: 2 })).sessions.find(
          (each) => each.session_id !== now,
        )
      : await record.findSession(id);
  if (!found) throw new RetinueError("input", "there is no earlier session of this project");
  if (found.project !== project.projectDir)
    throw new RetinueError(
      "input",
      `session ${found.session_id} belongs to ${found.project}; start retinue there`,
    );
  return found;
}

/** What was asked and answered in a session so far. */
async function listEntries({ runtime }: CommandDesk, { session_id }: SessionRow): Promise<TalkEntry[]> {
  return (await runtime.record.readRows({ sessionId: session_id, kind: "runs" }))
    .filter(({ request_type }) => request_type === "prompt")
    .flatMap((row): TalkEntry[] => {
      // The row's task is what the person wrote, where the agent was told more.
      const { runId, agent, task, result } = runOfRow(row, null, 0);
      const asked: TalkEntry = { kind: "person", text: task };
      return result?.text
        ? [asked, { kind: "agent", runId, agent, text: result.text, streaming: false }]
        : [asked];
    });
}

/** What a command of the program says in this project; nobody is asked anything. */
async function captureOutput(
  { terminal, project }: CommandDesk,
  command: (captured: Terminal) => Promise<unknown>,
): Promise<string> {
  const lines: string[] = [];
  const take = (text: string) => void lines.push(text);
  await command({
    ...terminal,
    cwd: project.projectDir,
    interactive: false,
    hasScreen: false,
    columns: null,
    screen: undefined,
    print: take,
    tell: take,
    prompt: take,
  });
  return lines.join("\n").trimEnd();
}
