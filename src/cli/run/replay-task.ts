import { builtInTools } from "../../runtime/project/built-in-tools.ts";
import { type ReplayReport, replaySession } from "../../runtime/replay/replay-session.ts";
import { type CommonOptions, openSoundProject } from "../open-project.ts";
import { plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { findSession, noSessions } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";

/** `retinue replay`: exit code 0 if the session comes out as recorded, 1 if it does not. */
export async function replayTask(id: string, options: CommonOptions, terminal: Terminal): Promise<number> {
  const report = await withRecord(terminal, async (store) => {
    const session = findSession(store, id, options, terminal);
    const project = await openSoundProject({ ...options, cwd: session.project }, terminal);
    const { registry: agents, settings } = project;
    return replaySession(
      { agents, settings, tools: builtInTools, env: terminal.env },
      store,
      session.session_id,
    );
  });
  if (!report) throw noSessions(id);
  if (options.json) terminal.print(JSON.stringify(report, null, 2));
  else for (const line of describe(report)) terminal.print(line);
  return report.identical ? 0 : 1;
}

function describe({ sessionId, runs, modelCalls, toolCalls, divergence }: ReplayReport): string[] {
  const counts = `${runs} runs, ${modelCalls} model calls and ${toolCalls} tool calls from the record, none made`;
  if (!divergence) return [`identical: ${sessionId}, ${counts}`];
  const { run, turn, what, recorded, now } = divergence;
  return [
    `different: ${sessionId}, ${counts}`,
    `first at ${run}${turn > 0 ? `, turn ${turn}` : ""}: ${what}`,
    `  recorded: ${plainText(recorded)}`,
    `  now:      ${plainText(now)}`,
  ];
}
