import { type Command, Option } from "commander";
import type { Cli } from "../terminal.ts";
import type { PlanRunOptions } from "../work/run-plan.ts";
import type { PlanEditOptions, PlanListOptions } from "../work/stored-plans.ts";
import { addShowing, listExamples, parseAmount, parseCount, parseWholeNumber } from "./options.ts";

const ID = "a plan's id or the beginning of it; `last` for this project's last plan";

/** Registers `retinue plan` with everything below it. */
export function registerPlan(program: Command, cli: Cli): void {
  const plan = program
    .command("plan")
    .summary("plan a goal, then have the plan carried out")
    .description("plan a goal, look at the plan, change it, approve it and have it carried out")
    .usage('"goal" | list | show | edit | approve | run')
    .helpCommand(false)
    .addHelpText(
      "after",
      listExamples(
        'retinue plan "Find where the scheduler limits concurrency and review the last commit"',
        "retinue plan list",
      ),
    );
  registerMake(plan, cli);
  registerRun(plan, cli);
  plan
    .command("list")
    .description("list plans, the last changed first")
    .option("--limit <n>", "at most this many", parseWholeNumber, 20)
    .addHelpText("after", listExamples("retinue plan list --limit 5"))
    .action(async (_options: unknown, command: Command) => {
      const { listPlans } = await import("../work/stored-plans.ts");
      await listPlans(command.optsWithGlobals<PlanListOptions>(), cli.terminal);
    });
  plan
    .command("show")
    .description("show a plan, and what became of it")
    .argument("<id>", ID)
    .addHelpText("after", listExamples("retinue plan show last"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { showPlan } = await import("../work/stored-plans.ts");
      await showPlan(id, command.optsWithGlobals(), cli.terminal);
    });
  plan
    .command("edit")
    .description("change a plan in $VISUAL or $EDITOR, or by a file; it is checked and then a draft again")
    .argument("<id>", ID)
    .option("--file <path>", "take the plan from this JSON file; `-` for stdin")
    .addHelpText("after", listExamples("retinue plan edit last", "retinue plan edit last --file plan.json"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { editPlan } = await import("../work/stored-plans.ts");
      await editPlan(id, command.optsWithGlobals<PlanEditOptions>(), cli.terminal);
    });
  plan
    .command("approve")
    .description("approve a plan, so that it can be run")
    .argument("<id>", ID)
    .addHelpText("after", listExamples("retinue plan approve last"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { approvePlan } = await import("../work/stored-plans.ts");
      await approvePlan(id, command.optsWithGlobals(), cli.terminal);
    });
}

function registerMake(plan: Command, cli: Cli): void {
  const make = plan
    .command("make", { isDefault: true })
    .description("make a plan for a goal, store it and print it; nothing is carried out without --approve")
    .argument("[goal]", "the goal; without one it is read from stdin")
    .option("--agent <name>", "the agent in whose name steps are delegated; `main` by default")
    .option("--max-steps <n>", "at most this many steps", parseWholeNumber);
  addExecution(make, "approve the plan unseen and carry it out at once")
    .addHelpText(
      "after",
      listExamples(
        'retinue plan "Add a health check" --max-steps 5',
        'retinue plan --approve "Review the last commit"',
      ),
    )
    .action(async (goal: string | undefined, _options: unknown, command: Command) => {
      const { makePlan } = await import("../work/run-plan.ts");
      cli.exitCode = await makePlan(goal, command.optsWithGlobals<PlanRunOptions>(), cli.terminal);
    });
}

function registerRun(plan: Command, cli: Cli): void {
  const run = plan
    .command("run")
    .description("carry out an approved plan; what an earlier attempt has done is not done again")
    .argument("<id>", ID);
  addExecution(run, "approve it as well")
    .addHelpText("after", listExamples("retinue plan run last", "retinue plan run last --on-failure stop"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { runPlan } = await import("../work/run-plan.ts");
      cli.exitCode = await runPlan(id, command.optsWithGlobals<PlanRunOptions>(), cli.terminal);
    });
}

function addExecution(command: Command, approve: string): Command {
  return addShowing(command)
    .option("--approve", approve)
    .option("-m, --model <model>", "an alias or provider/model-id for agents that inherit theirs")
    .option(
      "--max-budget-usd <amount>",
      "at most this much for planning, and for carrying it out",
      parseAmount,
    )
    .option("--max-depth <n>", "how deep agents may delegate", parseCount)
    .option("--max-agents <n>", "how many runs there may be in all", parseWholeNumber)
    .option("--max-concurrent <n>", "how many steps at once", parseWholeNumber)
    .addOption(
      new Option("--on-failure <policy>", "what happens to steps that do not need one that failed").choices([
        "continue",
        "stop",
      ]),
    )
    .option("--no-replan", "do not look for another way when a step fails")
    .option("--no-review", "do not have changes reviewed at the end");
}
