import { Argument, type Command } from "commander";
import type { Shell } from "../../completion/print-completion.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue completion`. */
export function registerCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .description("print a script that makes your shell complete commands, flags, agents and sessions")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell: Shell) => {
      const { printCompletion } = await import("../../completion/print-completion.ts");
      printCompletion(shell, program, cli.terminal);
    });
}
