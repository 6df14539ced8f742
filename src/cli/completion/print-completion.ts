import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { bashScript } from "./bash-script.ts";
import { commandTable } from "./command-table.ts";
import { fishScript } from "./fish-script.ts";
import { zshScript } from "./zsh-script.ts";

/** Shells that can complete. */
export type Shell = "bash" | "zsh" | "fish";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** `retinue completion`: prints the script for a shell, made from the commands there are. */
export function printCompletion(shell: Shell, program: Command, terminal: Terminal): void {
  terminal.print(SCRIPTS[shell](commandTable(program)));
}
