import type { Command } from "commander";
import type { CheckOptions } from "../../agents/check-agents.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue agents check`. */
export function registerAgentsCheck(agents: Command, cli: Cli): void {
  agents
    .command("check")
    .description("list every problem of agent files and settings; exits with 1 if there are errors")
    .argument("[files...]", "only these files")
    .option("--fix", "rewrite what can be repaired, and nothing else")
    .action(async (files: string[], _options: unknown, command: Command) => {
      const { checkAgents } = await import("../../agents/check-agents.ts");
      cli.exitCode = await checkAgents(files, command.optsWithGlobals<CheckOptions>(), cli.terminal);
    });
}
