import { builtInTools } from "@retinue/builtin/built-in-tools";
import { type ReplayReport, replaySession } from "@retinue/core/replay/replay-session";
import { stripControls } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { openSoundProject } from "../open-project.ts";
import { withSession } from "../open-record.ts";
import { SESSION_ID } from "../options.ts";
import { type Cli, changeOptions, printResult } from "../terminal.ts";

/** Declares `retinue replay`. */
export default function registerReplay(command: CliCommand): void {
  command
    .description(
      "run a recorded session again from its record, without models or tools, and show the first difference",
    )
    .argument("<id>", SESSION_ID)
    .examples("retinue replay last")
    .performs(replayTask);
}

/** `retinue replay`: exit code 0 if the session comes out as recorded, 1 if it does not. */
async function replayTask(id: string, cli: Cli): Promise<number> {
  const report = await withSession(id, cli, async (record, session) => {
    const project = await openSoundProject(changeOptions(cli, { cwd: session.project }));
    const { registry: agents, settings } = project;
    return replaySession({ agents, settings, tools: builtInTools, env: cli.env }, record, session.session_id);
  });
  printResult(cli, { value: report, text: () => describeReport(report) });
  return report.identical ? 0 : 1;
}

function describeReport({ sessionId, runs, modelCalls, toolCalls, divergence }: ReplayReport): string[] {
  const counts = `${runs} runs, ${modelCalls} model calls and ${toolCalls} tool calls from the record, none made`;
  if (!divergence) return [`identical: ${sessionId}, ${counts}`];
  const { run, turn, what, recorded, now } = divergence;
  return [
    `different: ${sessionId}, ${counts}`,
    `first at ${run}${turn > 0 ? `, turn ${turn}` : ""}: ${what}`,
    `  recorded: ${stripControls(recorded)}`,
    `  now:      ${stripControls(now)}`,
  ];
}
