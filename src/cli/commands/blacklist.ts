import { Argument, type Command } from "commander";
import type { CommonOptions } from "../open-project.ts";
import type { Cli } from "../program.ts";

/** Registers `retinue blacklist`. */
export function registerBlacklist(program: Command, cli: Cli): void {
  program
    .command("blacklist")
    .description("show and edit the domains that crawls leave out, in every session")
    .addArgument(
      new Argument("[action]", "what to do").choices(["list", "add", "remove", "clear"]).default("list"),
    )
    .argument("[domains...]", "example.org or an address of it")
    .action(async (action: string, domains: string[], _options: unknown, command: Command) => {
      const { editBlacklist } = await import("../blacklist/edit-blacklist.ts");
      editBlacklist(action, domains, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
