import { type Command, Option } from "commander";
import type { ImportOptions } from "../../agents/import-agents.ts";
import type { NewAgentOptions } from "../../agents/new-agent.ts";
import type { Cli } from "../../program.ts";

const VENDORS = ["claude", "opencode", "copilot", "gemini"];

/** Registers `retinue agents new` and `import`. */
export function registerAgentsMake(agents: Command, cli: Cli): void {
  agents
    .command("new")
    .description("write a new agent file, checked before it is written; asks for what no flag says")
    .argument("<name>", "small letters, digits and -, such as code-reviewer")
    .option("--description <text>", "what it is for: others delegate to it by this")
    .option("--tools <list>", "what it may use, such as `read, write(test/**)`; `*` for all it is granted")
    .option("--model <model>", "an alias or provider/model-id; its parent's if absent")
    .option("--subagents <list>", "whom it may delegate to")
    .option("--prompt <text>", "its instructions")
    .option("--global", "among your own agents instead of the project's")
    .option("--dry-run", "only print the file")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { newAgent } = await import("../../agents/new-agent.ts");
      await newAgent(name, command.optsWithGlobals<NewAgentOptions>(), cli.terminal);
    });
  agents
    .command("import")
    .description("copy other programs' agents in Retinue's own format, after showing what changes")
    .argument("[path]", "an agent file, or a folder of them")
    .addOption(
      new Option("--from <program>", "all agents of this program, or the format of the path").choices(
        VENDORS,
      ),
    )
    .option("--global", "among your own agents instead of the project's")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only show what would change")
    .action(async (path: string | undefined, _options: unknown, command: Command) => {
      const { importAgents } = await import("../../agents/import-agents.ts");
      cli.exitCode = await importAgents(path, command.optsWithGlobals<ImportOptions>(), cli.terminal);
    });
}
