import type { Command } from "commander";
import type { ExplainOptions } from "../../agents/explain-agent.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue agents explain`. */
export function registerAgentsExplain(agents: Command, cli: Cli): void {
  agents
    .command("explain")
    .description("say for each tool whether an agent may use it, and who decides that")
    .argument("<agent>", "its name or an alias")
    .option("--parent <agent>", "who delegates to it; several make a chain, root first", append, [])
    .action(async (name: string, _options: unknown, command: Command) => {
      const { explainAgent } = await import("../../agents/explain-agent.ts");
      await explainAgent(name, command.optsWithGlobals<ExplainOptions>(), cli.terminal);
    });
}

function append(value: string, previous: string[]): string[] {
  return [...previous, value];
}
