import type { Command } from "commander";
import type { Cli } from "../program.ts";
import type { SessionsOptions } from "../trace/list-sessions.ts";
import { wholeNumber } from "./numbers.ts";

/** Registers `retinue sessions`. */
export function registerSessions(program: Command, cli: Cli): void {
  program
    .command("sessions")
    .description("list recorded sessions, the latest first")
    .option("--limit <n>", "at most this many", wholeNumber, 20)
    .option("--search <word>", "only those with this in title, project or id")
    .action(async (_options: unknown, command: Command) => {
      const { listSessions } = await import("../trace/list-sessions.ts");
      await listSessions(command.optsWithGlobals<SessionsOptions>(), cli.terminal);
    });
}
