import type { MessageNode, SessionRow } from "../../schema/record.ts";
import { countOf, showCost, statusLabel } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { drawTrace } from "./draw-trace.ts";
import { findSession, noSessions } from "./find-session.ts";
import { withRecord } from "./open-record.ts";

/** Options of `retinue trace`. */
export type TraceOptions = CommonOptions & { calls?: boolean };

/** `retinue trace`: the tree of runs, read from the database alone. */
export async function traceSession(id: string, options: TraceOptions, terminal: Terminal): Promise<void> {
  const found = await withRecord(terminal, (store) => {
    const session = findSession(store, id);
    return { session, tree: store.tree(session.session_id), runs: store.runs(session.session_id) };
  });
  if (!found) throw noSessions(id);
  const { session, tree, runs } = found;
  if (options.json) return terminal.print(JSON.stringify({ session, tree }, null, 2));
  terminal.print(
    [
      ...headOf(session, runs),
      "",
      ...drawTrace(tree, { calls: options.calls === true, nowMs: Date.now() }),
    ].join("\n"),
  );
}

function headOf(
  session: SessionRow,
  runs: readonly Pick<MessageNode, "cost_usd" | "total_tokens" | "completed_at">[],
): string[] {
  const ended = runs.filter((run) => run.completed_at !== null);
  const known = ended.every((run) => run.cost_usd !== null);
  const cost = known ? ended.reduce((sum, run) => sum + (run.cost_usd ?? 0), 0) : null;
  const tokens = ended.reduce((sum, run) => sum + (run.total_tokens ?? 0), 0);
  return [
    `${session.session_id}  ${statusLabel(session.status)}  ${plainLine(session.title, 80)}`,
    `${plainLine(session.project, 120)}  ${session.created_at}`,
    `${countOf(runs.length, "run")}, ${countOf(tokens, "token")}, ${showCost(cost)} in all`,
  ];
}
