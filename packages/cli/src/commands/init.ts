import type { Command } from "commander";
import type { InitOptions } from "../setup/init.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue init`. */
export function registerInit(program: Command, cli: Cli): void {
  program
    .command("init")
    .summary("make this folder a project")
    .description(
      "make this folder a project: settings, an example agent, and a look at agents that are there already",
    )
    .option("--dry-run", "only say what would be made")
    .option("-y, --yes", "do not ask")
    .option("--example", "make the example agent even if the project has agents")
    .option("--no-example", "make no example agent")
    .addHelpText("after", listExamples("retinue init", "retinue init --dry-run"))
    .action(async (_options: unknown, command: Command) => {
      const { initProject } = await import("../setup/init.ts");
      await initProject(command.optsWithGlobals<InitOptions>(), cli.terminal);
    });
}
