import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { settleAll, settleEnded } from "@retinue/core/plan/plan-result";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { showUtc } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { withRecord } from "../open-record.ts";
import { sayMore } from "../options.ts";
import { type Cli, changeOptions, printResult, type Terminal } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import { drawPlan } from "../work/draw-plan.ts";
import { readTask } from "../work/run-options.ts";
import { chooseRuntimeOptions } from "../work/run-task.ts";
import { findNamedPlan, openPlanProject, PLAN_ID, registerPlanRun } from "./plan-run.ts";

/** Declares `retinue plan` with everything below it. */
export default function registerPlan(plan: CliCommand): void {
  plan
    .description("plan a goal, look at the plan, change it, approve it and have it carried out")
    .usage('"goal" | list | show | edit | approve | run')
    .helpCommand(false)
    .examples(
      'retinue plan "Find where the scheduler limits concurrency and review the last commit"',
      "retinue plan list",
    );
  registerPlanRun(plan);
  plan
    .command("list")
    .description("list plans, the last changed first")
    .shares("limit")
    .examples("retinue plan list --limit 5")
    .performs(listPlans);
  plan
    .command("show")
    .description("show a plan, and what became of it")
    .argument("<id>", PLAN_ID)
    .examples("retinue plan show last")
    .performs(showPlan);
  plan
    .command("edit")
    .description("change a plan in $VISUAL or $EDITOR, or by a file; it is checked and then a draft again")
    .argument("<id>", PLAN_ID)
    .option("--file <path>", "take the plan from this JSON file; `-` for stdin")
    .examples("retinue plan edit last", "retinue plan edit last --file plan.json")
    .performs(editPlan);
  plan
    .command("approve")
    .description("approve a plan, so that it can be run")
    .argument("<id>", PLAN_ID)
    .examples("retinue plan approve last")
    .performs(approvePlan);
}

type PlanListOptions = { limit: number };

async function listPlans(cli: Cli<PlanListOptions>): Promise<void> {
  const { limit } = cli.options;
  const found = await withRecord(cli, async (record) =>
    // One more tells whether there are more.
    settleAll(record, (await record.listPlans({ limit: limit + 1 })).plans),
  );
  const plans = found?.slice(0, limit) ?? [];
  if (found && found.length > limit) cli.tell(sayMore(limit));
  printResult(cli, { value: plans, text: () => drawPlans(plans) });
}

function drawPlans(plans: readonly ExecutionPlan[]): string[] {
  if (plans.length === 0) return ['no plans yet; make one with: retinue plan "goal"'];
  const rows = plans.map((plan) => [
    plan.id,
    showUtc(plan.updatedAtMs),
    plan.status,
    String(plan.steps.length),
    cutToLine(plan.project, 40),
    cutToLine(plan.goal, 60),
  ]);
  return drawTable([["PLAN", "CHANGED (UTC)", "STATUS", "STEPS", "PROJECT", "GOAL"], ...rows]);
}

async function showPlan(id: string, cli: Cli): Promise<void> {
  const named = await findNamedPlan(id, cli);
  const plan = (await withRecord(cli, (record) => settleEnded(record, named))) ?? named;
  printResult(cli, { value: plan, text: () => drawPlan(plan) });
}

type PlanEditOptions = { file?: string };

/** `retinue plan edit`: takes a changed plan from a file or an editor, checks it and stores it as a new version. */
async function editPlan(id: string, cli: Cli<PlanEditOptions>): Promise<void> {
  const plan = await findNamedPlan(id, cli);
  if (cli.options.file !== undefined) {
    const text = await readPlanText(cli.options.file, cli);
    return saveEdited(plan, parseDraft(text, cli.options.file), cli);
  }
  const editor = findEditor(cli);
  const draft = JSON.stringify(
    { goal: plan.goal, summary: plan.summary, risks: plan.risks ?? [], steps: plan.steps },
    null,
    2,
  );
  const folder = await mkdtemp(join(tmpdir(), "retinue-plan-"));
  const file = join(folder, `${plan.id}.json`);
  await writeFile(file, `${draft}\n`, { mode: 0o600 });
  await openEditor(file, editor, cli);
  const text = await readFile(file, "utf8");
  if (text.trim() === draft) cli.tell("nothing was changed");
  else {
    await Promise.resolve()
      .then(() => saveEdited(plan, parseDraft(text, file), cli))
      .catch((thrown: unknown) => {
        cli.tell(`your text is kept: put it right, then: retinue plan edit ${plan.id} --file ${file}`);
        throw thrown;
      });
  }
  await rm(folder, { recursive: true, force: true });
}

async function approvePlan(id: string, cli: Cli): Promise<void> {
  const plan = await findNamedPlan(id, cli);
  await withPlans(plan, cli, async ({ plans }) => {
    const approved = await plans.approve(plan.id);
    printResult(cli, { value: approved, text: () => `${approved.id} is approved` });
    if (!cli.options.json) cli.tell(`hint: carry it out with: retinue plan run ${approved.id}`);
  });
}

function saveEdited(plan: ExecutionPlan, draft: unknown, cli: Cli): Promise<void> {
  return withPlans(plan, cli, async ({ plans }) => {
    const edited = await plans.edit(plan.id, draft);
    printResult(cli, { value: edited, text: () => drawPlan(edited) });
  });
}

async function withPlans(
  plan: ExecutionPlan,
  cli: Cli,
  work: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const quiet = { print: true, outputFormat: "text", allowedTools: [], disallowedTools: [] } as const;
  const silent = changeOptions(cli, quiet);
  const project = await openPlanProject(plan, silent);
  const runtime = createBuiltInRuntime(chooseRuntimeOptions(project, silent));
  try {
    await work(runtime);
  } finally {
    await runtime.close();
  }
}

async function readPlanText(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") return readTask(undefined, terminal);
  const path = resolve(terminal.cwd, file);
  return readFile(path, "utf8").catch((thrown: unknown) => {
    throw new RetinueError("input", `cannot read ${path}: ${messageOf(thrown)}`, "name a file with --file");
  });
}

function parseDraft(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new RetinueError("input", `${file} is not JSON: ${messageOf(thrown)}`, "correct it and try again");
  }
}

function findEditor({ env }: Terminal): string {
  const editor = env.VISUAL || env.EDITOR;
  if (editor) return editor;
  const message = "there is no $VISUAL or $EDITOR to change the plan with";
  throw new RetinueError("usage", message, "set one, or use --file");
}

/** Opens the person's own editor, which may be a command with arguments, and waits until it is closed. */
async function openEditor(file: string, editor: string, terminal: Terminal): Promise<void> {
  // An editor for terminals would wait for keys that never come; one that is a script needs none.
  const keys = terminal.stdin.isTTY ? "inherit" : "ignore";
  const stdio = [keys, "inherit", "inherit"] as const;
  const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: [...stdio], env: terminal.env });
  const code = await new Promise<number | null>((done, failed) =>
    child.once("error", failed).once("close", done),
  );
  if (code !== 0)
    throw new RetinueError("failed", `the editor '${editor}' ended with ${code}; nothing was changed`);
}
