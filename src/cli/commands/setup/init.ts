import type { Command } from "commander";
import type { InitOptions } from "../../init/init.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue init`. */
export function registerInit(program: Command, cli: Cli): void {
  program
    .command("init")
    .description(
      "make this folder a project: settings, an example agent, and a look at agents that are there already",
    )
    .option("--dry-run", "only say what would be made")
    .option("-y, --yes", "do not ask")
    .option("--example", "make the example agent even if the project has agents")
    .option("--no-example", "make no example agent")
    .action(async (_options: unknown, command: Command) => {
      const { init } = await import("../../init/init.ts");
      await init(command.optsWithGlobals<InitOptions>(), cli.terminal);
    });
}
