import type { Approver } from "@retinue/core/host/approvals";
import type { Listener } from "@retinue/core/host/event-bus";
import type { RetinueEvent } from "@retinue/core/schema/event";
import type { RunResult } from "@retinue/core/schema/result";
import { showCost, showCount, showDuration } from "@retinue/core/show/measures";
import type { Cli, Terminal } from "../terminal.ts";
import { chooseFormat, type RunOptions } from "../work/run-options.ts";
import type { LiveView } from "./live-view.ts";
import { createNotices, createProgress } from "./show-progress.ts";
import { isInForeground } from "./stage.ts";

/** What a person sees on stderr while a task runs. */
export type TaskView = {
  /** To write with while the view is open. */
  readonly terminal: Terminal;
  take: Listener;
  /** The approver, with the terminal for itself while it asks. */
  asking(approver: Approver): Approver;
  /** Ends the view, so that results can be printed. */
  close(): void;
  /** Says in one line what the task took, if anything but the result is shown. */
  tellTally(results: readonly RunResult[]): void;
};

/** Opens what the options and the terminal call for: a live tree, a line for each event, or notices alone. */
export async function openTaskView(cli: Cli<RunOptions>): Promise<TaskView> {
  const format = chooseFormat(cli.options);
  const isQuiet = cli.options.print || format === "stream-json";
  const isText = !isQuiet && format === "text";
  const live = isText ? await openLive(cli) : undefined;
  const shown = live ? { ...cli, tell: live.tell } : cli;
  const notices = createNotices(shown);
  const progress = live || isQuiet ? undefined : createProgress(cli, { endsWithError: isText });
  const tally = isText ? createTaskTally() : undefined;
  let isAsked = false;
  return {
    terminal: shown,
    take(event) {
      tally?.take(event);
      live?.take(event);
      // Questions are put by the approver, if there is one.
      if (event.type !== "approval.requested" || !isAsked) notices(event);
      progress?.(event);
    },
    asking(approver) {
      isAsked = true;
      return live ? (request, signal) => live.aside(() => approver(request, signal)) : approver;
    },
    close: () => live?.close(),
    tellTally(results) {
      if (tally) cli.tell(tally.line(results, cli.screen?.size().columns));
    },
  };
}

async function openLive(terminal: Terminal): Promise<LiveView | undefined> {
  const { screen, env } = terminal;
  if (!screen || env.RETINUE_LINEAR === "1" || !(await isInForeground())) return undefined;
  const { openLiveView } = await import("./live-view.ts");
  return openLiveView(terminal, screen);
}

/**
 * What a task took, gathered from its events. A retry is the same agent again; a file counts once, however often it was changed.
 */
export function createTaskTally() {
  const files = new Set<string>();
  const runs = new Set<string>();
  const counts = { retries: 0, calls: 0 };
  let firstMs = Number.POSITIVE_INFINITY;
  let lastMs = 0;
  return {
    take(event: RetinueEvent): void {
      firstMs = Math.min(firstMs, event.atMs);
      lastMs = Math.max(lastMs, event.atMs);
      if (event.type === "run.started" && !runs.has(event.runId)) {
        runs.add(event.runId);
        if (event.attempt > 0) counts.retries++;
      }
      if (event.type === "call.ended") counts.calls++;
      if (event.type !== "run.ended") return;
      const { files_created, files_modified, files_deleted } = event.result;
      for (const file of [...files_created, ...files_modified, ...files_deleted]) files.add(file);
    },
    /**
     * `3 agents · 12 tool calls · 4,210 tokens · $0.02 · 2 files changed · 8.1s · trace ses_x`, in shorter words where that
     * is wider than the screen.
     */
    line(results: readonly RunResult[], columns = Number.POSITIVE_INFINITY): string {
      const tokens = results.reduce((sum, result) => sum + result.tokens.subtree, 0);
      const session = results[0]?.session_id;
      const say = (call: string, token: string, changed: string) =>
        [
          showCount(runs.size - counts.retries, "agent"),
          showCount(counts.calls, call),
          showCount(tokens, token),
          showCost(sumCosts(results)),
          showTests(results),
          files.size > 0 ? `${showCount(files.size, "file")}${changed}` : "",
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
  return `${showCount(run, "test")}${failed > 0 ? `, ${failed} failed` : ""}`;
}

/** One unknown price makes the sum unknown. */
function sumCosts(results: readonly RunResult[]): number | null {
  let sum = 0;
  for (const { cost_usd: cost } of results) {
    if (cost.subtree === null) return null;
    sum += cost.subtree;
  }
  return sum;
}
