import type { Command } from "commander";
import type { Cli } from "../program.ts";
import type { TraceOptions } from "../trace/trace-session.ts";

/** Registers `retinue trace`. */
export function registerTrace(program: Command, cli: Cli): void {
  program
    .command("trace")
    .description("draw the tree of runs of a session")
    .argument("<id>", "a session's id or the beginning of it; `last` for the newest")
    .option("--calls", "show every tool call")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { traceSession } = await import("../trace/trace-session.ts");
      await traceSession(id, command.optsWithGlobals<TraceOptions>(), cli.terminal);
    });
}
