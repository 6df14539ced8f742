import { type Command, Option } from "commander";
import type { CheckOptions } from "../agent-files/check-agents.ts";
import type { ImportOptions } from "../agent-files/import-agents.ts";
import type { NewAgentOptions } from "../agent-files/new-agent.ts";
import type { ExplainOptions } from "../agent-files/show-agents.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Cli } from "../terminal.ts";
import { collectValue, listExamples, VENDORS } from "./options.ts";

/** Registers `retinue agents` with everything below it. */
export function registerAgents(program: Command, cli: Cli): void {
  const agents = program
    .command("agents")
    .summary("list, show, check, explain, make and import agents")
    .description("the agents of this project")
    .helpCommand(false)
    .addHelpText("after", listExamples("retinue agents list", "retinue agents explain coder --parent main"));
  registerAgentsList(agents, cli);
  registerAgentsShow(agents, cli);
  registerAgentsCheck(agents, cli);
  registerAgentsExplain(agents, cli);
  registerAgentsMake(agents, cli);
}

/** Registers `retinue agents list`. */
function registerAgentsList(agents: Command, cli: Cli): void {
  agents
    .command("list")
    .description("list every usable agent, and what was shadowed or disabled")
    .addHelpText("after", listExamples("retinue agents list", "retinue agents list --json -C ../other"))
    .action(async (_options: unknown, command: Command) => {
      const { listAgents } = await import("../agent-files/show-agents.ts");
      await listAgents(command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}

/** Registers `retinue agents show`. */
function registerAgentsShow(agents: Command, cli: Cli): void {
  agents
    .command("show")
    .description("show one agent in full")
    .argument("<name>", "its name or an alias")
    .addHelpText("after", listExamples("retinue agents show reviewer"))
    .action(async (name: string, _options: unknown, command: Command) => {
      const { showAgent } = await import("../agent-files/show-agents.ts");
      await showAgent(name, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}

/** Registers `retinue agents check`. */
function registerAgentsCheck(agents: Command, cli: Cli): void {
  agents
    .command("check")
    .description("list every problem of agent files and settings; exits with 1 if there are errors")
    .argument("[files...]", "only these files")
    .option("--fix", "rewrite what can be repaired, and nothing else")
    .addHelpText(
      "after",
      listExamples("retinue agents check", "retinue agents check --fix .claude/agents/scout.md"),
    )
    .action(async (files: string[], _options: unknown, command: Command) => {
      const { checkAgents } = await import("../agent-files/check-agents.ts");
      cli.exitCode = await checkAgents(files, command.optsWithGlobals<CheckOptions>(), cli.terminal);
    });
}

/** Registers `retinue agents explain`. */
function registerAgentsExplain(agents: Command, cli: Cli): void {
  agents
    .command("explain")
    .description("say for each tool whether an agent may use it, and who decides that")
    .argument("<agent>", "its name or an alias")
    .option("--parent <agent>", "who delegates to it; several make a chain, root first", collectValue, [])
    .addHelpText(
      "after",
      listExamples(
        "retinue agents explain tester",
        "retinue agents explain tester --parent main --parent coder",
      ),
    )
    .action(async (name: string, _options: unknown, command: Command) => {
      const { explainAgent } = await import("../agent-files/show-agents.ts");
      await explainAgent(name, command.optsWithGlobals<ExplainOptions>(), cli.terminal);
    });
}

/** Registers `retinue agents new` and `import`. */
function registerAgentsMake(agents: Command, cli: Cli): void {
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
    .addHelpText(
      "after",
      listExamples(
        "retinue agents new release-notes",
        'retinue agents new scout --description "Finds things." --tools "read, grep"',
      ),
    )
    .action(async (name: string, _options: unknown, command: Command) => {
      const { makeAgent } = await import("../agent-files/new-agent.ts");
      await makeAgent(name, command.optsWithGlobals<NewAgentOptions>(), cli.terminal);
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
    .addHelpText(
      "after",
      listExamples(
        "retinue agents import --from claude --dry-run",
        "retinue agents import ../other/.claude/agents",
      ),
    )
    .action(async (path: string | undefined, _options: unknown, command: Command) => {
      const { importAgents } = await import("../agent-files/import-agents.ts");
      cli.exitCode = await importAgents(path, command.optsWithGlobals<ImportOptions>(), cli.terminal);
    });
}
