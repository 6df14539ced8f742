import type { Command } from "commander";
import type { Cli } from "../../program.ts";
import { registerCompletion } from "./completion.ts";
import { registerConfig } from "./config.ts";
import { registerDemo } from "./demo.ts";
import { registerDoctor } from "./doctor.ts";
import { registerInit } from "./init.ts";

/** Registers the commands that set Retinue up: `doctor`, `init`, `demo`, `config` and `completion`. */
export function registerSetup(program: Command, cli: Cli): void {
  registerInit(program, cli);
  registerDemo(program, cli);
  registerDoctor(program, cli);
  registerConfig(program, cli);
  registerCompletion(program, cli);
}
