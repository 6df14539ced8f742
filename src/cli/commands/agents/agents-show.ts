import type { Command } from "commander";
import type { CommonOptions } from "../../open-project.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue agents show`. */
export function registerAgentsShow(agents: Command, cli: Cli): void {
  agents
    .command("show")
    .description("show one agent in full")
    .argument("<name>", "its name or an alias")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { showAgent } = await import("../../agents/show-agent.ts");
      await showAgent(name, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
