import { type Command, Option } from "commander";
import type { ApproveOptions } from "../../approve/approve-call.ts";
import type { Cli } from "../../program.ts";
import { addOutcome, addShowing } from "../run.ts";

/** Registers `retinue approve`. */
export function registerApprove(program: Command, cli: Cli): void {
  const command = program
    .command("approve")
    .description("list the calls that wait for a person's word, or answer one and go on with its session")
    .argument("[id]", "an approval's id or a unique beginning of it; without it, all that wait are listed")
    .addOption(new Option("--yes", "allow it without being asked").conflicts("deny"))
    .option("--deny", "deny it; the agent goes on without")
    .option("--note <text>", "words for the agent that asked")
    .option("--later", "only record the answer; the session goes on with `retinue resume`");
  addOutcome(addShowing(command))
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, _options: unknown, approved: Command) => {
      const options = approved.optsWithGlobals<ApproveOptions>();
      if (id === undefined) {
        const { listWaiting } = await import("../../approve/list-waiting.ts");
        await listWaiting(options, cli.terminal);
        return;
      }
      const { approveCall } = await import("../../approve/approve-call.ts");
      cli.exitCode = await approveCall(id, options, cli.terminal);
    });
}

const EXAMPLES = `
Examples:
  retinue approve
  retinue approve apr_abc --yes
  retinue approve apr_abc --deny --note "not on a Friday"`;
