import { type Command, Option } from "commander";
import type { EditOptions } from "../plan/edit-plan.ts";
import type { PlanRunOptions } from "../plan/plan-session.ts";
import type { PlanListOptions } from "../plan/show-plan.ts";
import type { Cli } from "../program.ts";
import { amount, countNumber, wholeNumber } from "./numbers.ts";
import { addShowing } from "./run.ts";

const ID = "a plan's id or the beginning of it; `last` for this project's last plan";

/** Registers `retinue plan` with everything below it. */
export function registerPlan(program: Command, cli: Cli): void {
  const plan = program
    .command("plan")
    .description("plan a goal, look at the plan, change it, approve it and have it carried out")
    .usage('"goal" | list | show | edit | approve | run')
    .helpCommand(false);
  registerMake(plan, cli);
  registerRun(plan, cli);
  plan
    .command("list")
    .description("list plans, the last changed first")
    .option("--limit <n>", "at most this many", wholeNumber, 20)
    .action(async (_options: unknown, command: Command) => {
      const { listPlans } = await import("../plan/show-plan.ts");
      await listPlans(command.optsWithGlobals<PlanListOptions>(), cli.terminal);
    });
  plan
    .command("show")
    .description("show a plan, and what became of it")
    .argument("<id>", ID)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { showPlan } = await import("../plan/show-plan.ts");
      await showPlan(id, command.optsWithGlobals(), cli.terminal);
    });
  plan
    .command("edit")
    .description("change a plan in $VISUAL or $EDITOR, or by a file; it is checked and then a draft again")
    .argument("<id>", ID)
    .option("--file <path>", "take the plan from this JSON file; `-` for stdin")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { editPlan } = await import("../plan/edit-plan.ts");
      await editPlan(id, command.optsWithGlobals<EditOptions>(), cli.terminal);
    });
  plan
    .command("approve")
    .description("approve a plan, so that it can be run")
    .argument("<id>", ID)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { approvePlan } = await import("../plan/edit-plan.ts");
      await approvePlan(id, command.optsWithGlobals(), cli.terminal);
    });
}

function registerMake(plan: Command, cli: Cli): void {
  const make = plan
    .command("make", { isDefault: true })
    .description("make a plan for a goal, store it and print it; nothing is carried out without --approve")
    .argument("[goal]", "what is to be reached; without one it is read from stdin")
    .option("--agent <name>", "the agent in whose name steps are delegated; `main` by default")
    .option("--max-steps <n>", "at most this many steps", wholeNumber);
  addExecution(make, "approve the plan unseen and carry it out at once").action(
    async (goal: string | undefined, _options: unknown, command: Command) => {
      const { makePlan } = await import("../plan/make-plan.ts");
      cli.exitCode = await makePlan(goal, command.optsWithGlobals<PlanRunOptions>(), cli.terminal);
    },
  );
}

function registerRun(plan: Command, cli: Cli): void {
  const run = plan
    .command("run")
    .description("carry out an approved plan; what an earlier attempt has done is not done again")
    .argument("<id>", ID);
  addExecution(run, "approve it as well").action(async (id: string, _options: unknown, command: Command) => {
    const { runPlan } = await import("../plan/run-plan.ts");
    cli.exitCode = await runPlan(id, command.optsWithGlobals<PlanRunOptions>(), cli.terminal);
  });
}

function addExecution(command: Command, approve: string): Command {
  return addShowing(command)
    .option("--approve", approve)
    .option("-m, --model <model>", "an alias or provider/model-id for agents that inherit theirs")
    .option("--max-budget-usd <amount>", "at most this much for planning, and for carrying it out", amount)
    .option("--max-depth <n>", "how deep agents may delegate", countNumber)
    .option("--max-agents <n>", "how many runs there may be in all", wholeNumber)
    .option("--max-concurrent <n>", "how many steps at once", wholeNumber)
    .addOption(
      new Option("--on-failure <policy>", "what happens to steps that do not need one that failed").choices([
        "continue",
        "stop",
      ]),
    )
    .option("--no-replan", "do not look for another way when a step fails")
    .option("--no-review", "do not have changes reviewed at the end");
}
