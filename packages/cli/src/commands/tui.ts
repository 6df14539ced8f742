import type { CliCommand } from "../cli-command.ts";
import { startTui } from "../tui/start-tui.ts";

/** Declares `retinue tui`, which is also what `retinue` alone does on a terminal. */
export default function registerTui(command: CliCommand): void {
  command
    .description("talk with agents on the whole screen; `retinue` alone does the same")
    .shares("agent", "model", "permissionMode")
    .option("-c, --continue", "go on in the newest session of this project")
    .option("-r, --resume <id>", "go on in this session: its id or the beginning of it")
    .option("--linear", "line by line, without redrawing; RETINUE_LINEAR=1 does the same")
    .option("--screen-reader", "the same as --linear")
    .examples(
      "retinue",
      "retinue tui --agent coder -m anthropic/claude-sonnet-4-5",
      "retinue tui --continue",
      "retinue tui --linear",
    )
    .performs(startTui);
}
