import type { Command } from "commander";
import type { DoctorOptions } from "../doctor/doctor.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue doctor`. */
export function registerDoctor(program: Command, cli: Cli): void {
  program
    .command("doctor")
    .summary("see whether everything is in place")
    .description(
      "check that everything is in place, and say how to fix what is not; exits with 1 if there are problems",
    )
    .option("--offline", "ask no provider and no server")
    .addHelpText("after", listExamples("retinue doctor", "retinue doctor --offline --json"))
    .action(async (_options: unknown, command: Command) => {
      const { runDoctor } = await import("../doctor/doctor.ts");
      cli.exitCode = await runDoctor(command.optsWithGlobals<DoctorOptions>(), cli.terminal);
    });
}
