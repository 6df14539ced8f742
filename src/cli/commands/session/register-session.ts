import type { Command } from "commander";
import type { Cli } from "../../program.ts";
import { registerApprove } from "./approve.ts";
import { registerCancel } from "./cancel.ts";
import { registerSpawn } from "./spawn.ts";

/** Registers the commands that begin, answer and end work of sessions besides `run` and `resume`. */
export function registerSession(program: Command, cli: Cli): void {
  registerSpawn(program, cli);
  registerApprove(program, cli);
  registerCancel(program, cli);
}
