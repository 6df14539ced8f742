import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { ExecutionPlan } from "../../schema/plan.ts";
import type { CommonOptions } from "../open-project.ts";
import { readTask } from "../run/read-task.ts";
import type { RunOptions } from "../run/run-options.ts";
import { runtimeOptions } from "../run/run-task.ts";
import type { Terminal } from "../terminal.ts";
import { drawPlan } from "./draw-plan.ts";
import { planNamed, projectOf } from "./plan-session.ts";

/** Options of `retinue plan edit`. */
export type EditOptions = CommonOptions & { file?: string };

/** `retinue plan edit`: takes a changed plan from a file or an editor, checks it and stores it as a new version. */
export async function editPlan(id: string, options: EditOptions, terminal: Terminal): Promise<void> {
  const plan = await planNamed(id, options, terminal);
  if (options.file !== undefined) {
    const text = await readGiven(options.file, terminal);
    return save(plan, parse(text, options.file), options, terminal);
  }
  const editor = editorOf(terminal);
  const draft = JSON.stringify(
    { goal: plan.goal, summary: plan.summary, risks: plan.risks ?? [], steps: plan.steps },
    null,
    2,
  );
  const folder = await mkdtemp(join(tmpdir(), "retinue-plan-"));
  const file = join(folder, `${plan.id}.json`);
  await writeFile(file, `${draft}\n`, { mode: 0o600 });
  await edit(file, editor, terminal);
  const text = await readFile(file, "utf8");
  if (text.trim() === draft) terminal.tell("nothing was changed");
  else {
    await Promise.resolve()
      .then(() => save(plan, parse(text, file), options, terminal))
      .catch((thrown: unknown) => {
        terminal.tell(`your text is kept: put it right, then: retinue plan edit ${plan.id} --file ${file}`);
        throw thrown;
      });
  }
  await rm(folder, { recursive: true, force: true });
}

/** `retinue plan approve`. */
export async function approvePlan(id: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const plan = await planNamed(id, options, terminal);
  await withPlans(plan, options, terminal, async ({ plans }) => {
    const approved = plans.approve(plan.id);
    terminal.print(options.json ? JSON.stringify(approved, null, 2) : `${approved.id} is approved`);
    if (!options.json) terminal.tell(`hint: carry it out with: retinue plan run ${approved.id}`);
  });
}

function save(
  plan: ExecutionPlan,
  draft: unknown,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  return withPlans(plan, options, terminal, async ({ plans }) => {
    const edited = await plans.edit(plan.id, draft);
    terminal.print(options.json ? JSON.stringify(edited, null, 2) : drawPlan(edited).join("\n"));
  });
}

async function withPlans(
  plan: ExecutionPlan,
  options: CommonOptions,
  terminal: Terminal,
  work: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const silent: RunOptions = {
    ...options,
    print: true,
    outputFormat: "text",
    allowedTools: [],
    disallowedTools: [],
  };
  const project = await projectOf(plan, silent, terminal);
  const runtime = createRuntime(runtimeOptions(project, silent, terminal));
  try {
    await work(runtime);
  } finally {
    await runtime.close();
  }
}

async function readGiven(file: string, terminal: Terminal): Promise<string> {
  if (file === "-") return readTask(undefined, terminal);
  const path = resolve(terminal.cwd, file);
  return readFile(path, "utf8").catch((thrown: unknown) => {
    throw new RetinueError("input", `cannot read ${path}: ${messageOf(thrown)}`, "name a file with --file");
  });
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new RetinueError("input", `${file} is not JSON: ${messageOf(thrown)}`, "correct it and try again");
  }
}

function editorOf({ env }: Terminal): string {
  const editor = env.VISUAL || env.EDITOR;
  if (editor) return editor;
  const message = "there is no $VISUAL or $EDITOR to change the plan with";
  throw new RetinueError("usage", message, "set one, or use --file");
}

/** Opens the person's own editor, which may be a command with arguments, and waits until it is closed. */
async function edit(file: string, editor: string, terminal: Terminal): Promise<void> {
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
