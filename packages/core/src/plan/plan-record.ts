import { readTree } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import { isClosed, metadataOf, resultOfRow, subtreeOf } from "../run/read-row.ts";
import type { Agent } from "../schema/agent.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";

/** What leading a plan needs from outside. */
export type PlanningPorts = {
  readonly record: Record;
  readonly sessionId: string;
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** The agent in whose name steps are delegated. */
  readonly agent: string;
  /** Agents that it may delegate to now. */
  agents(): readonly Agent[];
  escapeText(text: string): string;
  now(): number;
};

/** A call that the host made in a run it leads: the answer, and the runs that came of it, by attempt. */
export type MadeCall = { text: string; runs: MessageNode[] };

/** The root run of a session and the calls it has made, by their ids. */
export type PlanRecord = { root: MessageNode | null; calls: ReadonlyMap<string, MadeCall> };

/** Reads what a session's root run has asked for so far. */
export async function readPlanRecord(record: Record, sessionId: string): Promise<PlanRecord> {
  const root = (await readTree(record, sessionId))[0] ?? null;
  const calls = new Map<string, MadeCall>();
  const callOf = (id: string | null): MadeCall => {
    const known = calls.get(id ?? "") ?? { text: "", runs: [] };
    calls.set(id ?? "", known);
    return known;
  };
  for (const row of root?.children.flatMap((turn) => turn.children) ?? []) {
    const call = callOf(row.call_id);
    if (row.request_type === "delegation") call.runs.push(row);
    if (row.request_type !== "tool_call") continue;
    call.text = row.response_content ?? "";
    call.runs.push(...row.children.filter((below) => below.request_type === "delegation"));
  }
  return { root, calls };
}

/** The last attempt at a call, or at one of its tasks. */
export function findLastRun(call: MadeCall | undefined, taskId?: string): MessageNode | undefined {
  return call?.runs.findLast((row) => metadataOf(row).taskId === taskId);
}

/** A run's result, if it has ended. */
export function endedResult(row: MessageNode | undefined): RunResult | undefined {
  return row && isClosed(row) ? resultOfRow(row) : undefined;
}

/** The whole of what a run said last; its result may hold only the beginning and the end of a long text. */
export function lastWords(row: MessageNode): string {
  const turns = row.children.filter(
    (turn) => turn.request_type === "continuation" && metadataOf(turn).purpose !== "summary",
  );
  return turns.findLast((turn) => turn.response_content)?.response_content ?? row.response_content ?? "";
}

/** The results of all runs in a subtree, as far as they have ended. */
export function resultsBelow(rows: readonly MessageNode[]): RunResult[] {
  return rows
    .flatMap((row) => [...subtreeOf(row)])
    .filter((row) => row.request_type === "delegation" && isClosed(row))
    .sort((one, other) => (one.closed_seq ?? 0) - (other.closed_seq ?? 0))
    .map(resultOfRow);
}

/** Why a task of a batch did not become a run, as its caller was told. */
export function refusalOf({ text }: MadeCall, taskId: string): string | undefined {
  const blocks = text.matchAll(
    /<subagent_result [^>]*task_id="([^"]*)"[^>]*>\n([\s\S]*?)\n<\/subagent_result>/g,
  );
  const body = [...blocks].find(([, id]) => id === taskId)?.[2];
  return body && /^\[measured\]\n(?:.*\n)*?error: \w+(?: \(recoverable\))?: (.*)$/m.exec(body)?.[1];
}
