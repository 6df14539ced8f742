import type { MomentList } from "../../../../../../src/schema/api/inspect.ts";

/** When a model or tool call began and ended, in milliseconds from the start of the trace, and what it took. */
export type Moment = {
  runId: string;
  /** Null of a model call. */
  tool: string | null;
  startMs: number;
  /** Null while it is open. */
  endMs: number | null;
  tokens: number;
  costUsd: number | null;
};

/** The calls that a page tells of. */
export function momentsOf(page: MomentList, originMs: number): Moment[] {
  return page.run.map((run, index) => {
    const tool = page.tool[index] ?? null;
    const endedAtMs = page.endedAtMs[index] ?? null;
    const startMs = Math.max(0, (page.startedAtMs[index] ?? originMs) - originMs);
    return {
      runId: page.runIds[run] ?? "",
      tool: tool === null ? null : (page.tools[tool] ?? "?"),
      startMs,
      endMs: endedAtMs === null ? null : Math.max(startMs, endedAtMs - originMs),
      tokens: page.tokens[index] ?? 0,
      costUsd: page.costUsd[index] ?? null,
    };
  });
}

/** Whether a call only waits for runs that others do. */
export function onlyWaits(tool: string): boolean {
  return tool.startsWith("delegate") || tool === "collect_results";
}
