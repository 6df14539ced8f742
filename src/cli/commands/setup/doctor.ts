import type { Command } from "commander";
import type { DoctorOptions } from "../../doctor/doctor.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue doctor`. */
export function registerDoctor(program: Command, cli: Cli): void {
  program
    .command("doctor")
    .description(
      "look whether everything is in place, and how to mend what is not; exits with 1 if there are problems",
    )
    .option("--offline", "ask no provider and no server")
    .action(async (_options: unknown, command: Command) => {
      const { doctor } = await import("../../doctor/doctor.ts");
      cli.exitCode = await doctor(command.optsWithGlobals<DoctorOptions>(), cli.terminal);
    });
}
