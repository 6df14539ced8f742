import { requireAgent } from "../../../agents/registry.ts";
import type { PermissionMode } from "../../../runtime/approvals.ts";
import { RetinueError } from "../../../schema/error.ts";
import { findOwn } from "../../../schema/find-own.ts";
import { countOf, showCost } from "../../measures.ts";
import { plainLine, table } from "../../plain-text.ts";
import type { RunNode } from "../../tree/run-node.ts";
import type { RunTree } from "../../tree/run-tree.ts";
import { SLASH_COMMANDS } from "../state/slash-commands.ts";
import { isBusy } from "../tui-state.ts";
import { answerParked, listParked } from "./answer-parked.ts";
import { captureCommand } from "./capture-command.ts";
import type { Desk } from "./engine.ts";
import { makePlan, runPlan } from "./plan-command.ts";
import { resumeSession } from "./resume-session.ts";

const MODES: readonly PermissionMode[] = ["default", "acceptEdits", "plan", "bypassPermissions"];

const MOST_ABOUT = 50;
const MOST_RUNS = 100;

/** Does what a slash command says. Throws what the person is to be told. */
export async function performCommand(desk: Desk, name: string, rest: string): Promise<void> {
  const command = findOwn(COMMANDS, name);
  if (command) return command(desk, rest);
  const names = SLASH_COMMANDS.map((each) => `/${each.name}`).join(" ");
  throw new RetinueError("input", `there is no command /${name}; there are: ${names}`);
}

const COMMANDS: Readonly<Record<string, (desk: Desk, rest: string) => Promise<void> | void>> = {
  agents: (desk) => desk.output(listAgents(desk)),
  doctor: async (desk) => desk.output(await captureCommand(desk, ["doctor"])),
  spawn,
  runs: ({ tui, output }) => output(listRuns(tui.tree)),
  plan: (desk, rest) => (/^run\b/.test(rest) ? runPlan(desk, rest.slice(3).trim()) : makePlan(desk, rest)),
  cost: (desk) => desk.output(describeCost(desk)),
  model: chooseModel,
  permissions: choosePermissions,
  approve: (desk, rest) => (rest === "" ? desk.output(listParked(desk)) : answerParked(desk, rest)),
  stop,
  resume: resumeSession,
  export: exportSession,
  help: (desk) => desk.output(helpText()),
  clear(desk) {
    refuseWhileBusy(desk);
    desk.tui.dispatch({ type: "session", sessionId: null, entries: [] });
  },
};

function listAgents({ project }: Desk): string {
  const rows = project.registry
    .list()
    .map(({ name, description }) => [name, plainLine(description, MOST_ABOUT)]);
  return rows.length === 0 ? "no agents yet" : table(rows).join("\n");
}

async function spawn(desk: Desk, rest: string): Promise<void> {
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
  const rows: string[][] = [];
  const add = (nodes: readonly RunNode[]) => {
    for (const node of nodes) {
      rows.push([node.runId, node.status, `${"  ".repeat(node.depth)}${node.agent}`, node.task.slice(0, 60)]);
      add(node.children);
    }
  };
  add(roots);
  if (rows.length === 0) return "nothing has run yet";
  const shown = rows.slice(-MOST_RUNS);
  const left = roots.reduce((sum, { below }) => sum + 1 + below.runs, 0) - shown.length;
  const sessionId = roots.at(-1)?.sessionId ?? "last";
  const note = `${countOf(left, "earlier run")} left out; see all of a session with: retinue trace ${sessionId} --ids --limit 0`;
  return [...(left > 0 ? [note] : []), ...table(shown)].join("\n");
}

function describeCost({ tui }: Desk): string {
  const { spent } = tui.snapshot().state;
  const roots = tui.tree.roots;
  const byAgent = new Map<string, { runs: number; tokens: number; costUsd: number | null }>();
  const add = (node: RunNode): void => {
    const own = ownShare(node);
    const sum = byAgent.get(node.agent) ?? { runs: 0, tokens: 0, costUsd: 0 };
    byAgent.set(node.agent, {
      runs: sum.runs + 1,
      tokens: sum.tokens + own.tokens,
      costUsd: sum.costUsd === null || own.costUsd === null ? null : sum.costUsd + own.costUsd,
    });
    node.children.forEach(add);
  };
  roots.forEach(add);
  const rows = [...byAgent].map(([agent, { runs, tokens, costUsd }]) => [
    agent,
    countOf(runs, "run"),
    countOf(tokens, "token"),
    showCost(costUsd),
  ]);
  const total = `${countOf(spent.tasks, "task")} ended · ${countOf(spent.tokens, "token")} · ${showCost(spent.costUsd)}`;
  return [total, ...(rows.length > 0 ? ["", ...table(rows)] : [])].join("\n");
}

/** What a run used without those below it. */
function ownShare(node: RunNode): { tokens: number; costUsd: number | null } {
  const below = node.children.reduce((sum, child) => sum + child.tokens, 0);
  const costs = node.children.map((child) => child.costUsd);
  const known = node.costUsd !== null && costs.every((cost) => cost !== null);
  const costBelow = costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  return {
    tokens: Math.max(0, node.tokens - below),
    costUsd: known ? Math.max(0, (node.costUsd ?? 0) - costBelow) : null,
  };
}

function chooseModel(desk: Desk, rest: string): void {
  if (rest === "") {
    desk.say(`model: ${desk.tui.snapshot().state.facts.model || "what each agent names"}`);
    return;
  }
  desk.model = rest === "default" ? undefined : rest;
  desk.tui.dispatch({ type: "facts", facts: { model: desk.model ?? "" } });
  desk.say(`the next prompt goes to ${desk.model ?? "the default model"}`);
}

async function choosePermissions(desk: Desk, rest: string): Promise<void> {
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
    return desk.output([...lines, "", `change with: /permissions ${MODES.join("|")}`].join("\n"));
  }
  const mode = MODES.find((each) => each.toLowerCase() === rest.toLowerCase());
  if (!mode) throw new RetinueError("input", `there is no mode '${rest}'; there are: ${MODES.join(", ")}`);
  refuseWhileBusy(desk);
  await desk.reopen(mode);
  desk.say(`asks are now answered by mode ${mode}`);
}

function stop(desk: Desk, rest: string): void {
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

async function exportSession(desk: Desk, rest: string): Promise<void> {
  const { sessionId } = desk.tui.snapshot().state;
  if (sessionId === null) throw new RetinueError("input", "there is no session yet");
  const file = rest || `${sessionId}.md`;
  await desk.runtime.store.committed();
  const said = await captureCommand(desk, ["export", sessionId, "-o", file]);
  desk.output(said || `saved as ${file}`);
}

function refuseWhileBusy({ tui }: Desk): void {
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
  return [...table([...commands, ["", ""], ...keys])].join("\n");
}
