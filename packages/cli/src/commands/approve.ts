import { type Command, Option } from "commander";
import type { Cli } from "../terminal.ts";
import type { ApproveOptions } from "../work/approve-call.ts";
import { addOutcome, addShowing, listExamples } from "./options.ts";

/** Registers `retinue approve`. */
export function registerApprove(program: Command, cli: Cli): void {
  const command = program
    .command("approve")
    .summary("answer what agents ask for")
    .description("list the calls that wait for approval, or answer one and go on with its session")
    .argument("[id]", "an approval's id or a unique beginning of it; without it, all that wait are listed")
    .addOption(new Option("--yes", "allow it without being asked").conflicts("deny"))
    .option("--deny", "deny it; the agent goes on without")
    .option("--note <text>", "words for the agent that asked")
    .option("--later", "only record the answer; the session goes on with `retinue resume`");
  addOutcome(addShowing(command))
    .addHelpText(
      "after",
      listExamples(
        "retinue approve",
        "retinue approve apr_abc --yes",
        'retinue approve apr_abc --deny --note "not on a Friday"',
      ),
    )
    .action(async (id: string | undefined, _options: unknown, approved: Command) => {
      const options = approved.optsWithGlobals<ApproveOptions>();
      if (id === undefined) {
        const { listWaiting } = await import("../work/list-waiting.ts");
        await listWaiting(options, cli.terminal);
        return;
      }
      const { approveCall } = await import("../work/approve-call.ts");
      cli.exitCode = await approveCall(id, options, cli.terminal);
    });
}
