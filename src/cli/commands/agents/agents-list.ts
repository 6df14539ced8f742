import type { Command } from "commander";
import type { CommonOptions } from "../../open-project.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue agents list`. */
export function registerAgentsList(agents: Command, cli: Cli): void {
  agents
    .command("list")
    .description("list every usable agent, and what was shadowed or disabled")
    .action(async (_options: unknown, command: Command) => {
      const { listAgents } = await import("../../agents/list-agents.ts");
      await listAgents(command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
