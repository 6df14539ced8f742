import type { Command } from "commander";
import type { Cli } from "../../program.ts";
import { registerCompletion } from "./completion.ts";
import { registerConfig } from "./config.ts";
import { registerDemo } from "./demo.ts";
import { registerDoctor } from "./doctor.ts";
import { registerInit } from "./init.ts";
import { registerServe } from "./serve.ts";

/** Registers the commands that set Retinue up: `serve`, `init`, `demo`, `doctor`, `config` and `completion`. */
export function registerSetup(program: Command, cli: Cli): void {
  registerServe(program, cli);
  registerInit(program, cli);
  registerDemo(program, cli);
  registerDoctor(program, cli);
  registerConfig(program, cli);
  registerCompletion(program, cli);
}
