import type { RetinueEvent } from "../../schema/event.ts";
import type { RunResult } from "../../schema/result.ts";
import { countOf, showCost, showDuration } from "../measures.ts";

/** What a task took, gathered from its events. */
export type Account = {
  take(event: RetinueEvent): void;
  /**
   * `3 agents · 12 tool calls · 4,210 tokens · $0.02 · 2 files changed · 8.1s · trace ses_x`, in shorter words where that
   * is wider than the screen.
   */
  line(results: readonly RunResult[], columns?: number): string;
};

/** Opens an empty account. A retry is the same agent once more; files count once, whoever changed them. */
export function createAccount(): Account {
  const files = new Set<string>();
  const runs = new Set<string>();
  const counts = { retries: 0, calls: 0 };
  let firstMs = Number.POSITIVE_INFINITY;
  let lastMs = 0;
  return {
    take(event) {
      firstMs = Math.min(firstMs, event.atMs);
      lastMs = Math.max(lastMs, event.atMs);
      if (event.type === "run.started" && !runs.has(event.runId)) {
        runs.add(event.runId);
        if (event.attempt > 0) counts.retries++;
      }
      if (event.type === "call.ended") counts.calls++;
      if (event.type === "run.ended")
        for (const list of [
          event.result.files_created,
          event.result.files_modified,
          event.result.files_deleted,
        ])
          for (const file of list) files.add(file);
    },
    line(results, columns = Number.POSITIVE_INFINITY) {
      const tokens = results.reduce((sum, result) => sum + result.tokens.subtree, 0);
      const session = results[0]?.session_id;
      const say = (call: string, token: string, changed: string) =>
        [
          countOf(runs.size - counts.retries, "agent"),
          countOf(counts.calls, call),
          countOf(tokens, token),
          showCost(costOf(results)),
          showTests(results),
          files.size > 0 ? `${countOf(files.size, "file")}${changed}` : "",
          showDuration(Math.max(0, lastMs - firstMs)),
          session ? `trace ${session}` : "",
        ]
          .filter(Boolean)
          .join(" · ");
      const line = say("tool call", "token", " changed");
      return [...line].length < columns ? line : say("call", "token", "");
    },
  };
}

/** `14 tests, 2 failed`, of the whole tree. */
function showTests(results: readonly RunResult[]): string {
  const run = results.reduce((sum, { subtree }) => sum + (subtree.tests_run ?? 0), 0);
  const failed = run - results.reduce((sum, { subtree }) => sum + (subtree.tests_passed ?? 0), 0);
  if (run === 0) return "";
  return `${countOf(run, "test")}${failed > 0 ? `, ${failed} failed` : ""}`;
}

/** One unknown price makes the sum unknown. */
function costOf(results: readonly RunResult[]): number | null {
  let sum = 0;
  for (const { cost_usd: cost } of results) {
    if (cost.subtree === null) return null;
    sum += cost.subtree;
  }
  return sum;
}
