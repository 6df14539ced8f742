import { Argument, type Command } from "commander";
import type { Shell } from "../completion/shell-scripts.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue completion`. */
export function registerCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .summary("complete commands in your shell")
    .description("print a script that makes your shell complete commands, flags, agents and sessions")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      listExamples(
        "source <(retinue completion bash)",
        "retinue completion fish > ~/.config/fish/completions/retinue.fish",
      ),
    )
    .action(async (shell: Shell) => {
      const { printCompletion } = await import("../completion/shell-scripts.ts");
      printCompletion(shell, program, cli.terminal);
    });
}
