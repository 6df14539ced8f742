import { relative } from "node:path";
import type { RunResult } from "../schema/result.ts";
import {
  addUpSubtree,
  countTests,
  describeFailedTests,
  describeFaults,
  type FileFigures,
  hasChanges,
  lastRuns,
  listFiles,
} from "../schema/subtree.ts";
import { cutAt } from "../tools/truncate.ts";
import type { Ending } from "./outcome.ts";
import { MAX_SUMMARY_CHARS, parseAnswer, parseReport, type Report } from "./parse-report.ts";
import type { Run } from "./run.ts";

/** The structured result: the model's words, and the host's measurements. */
export function buildResult(run: Run, ending: Ending): RunResult {
  const { account } = run;
  const report = run.host.redactor.redactJson(parseReport(ending.text));
  const partial = ending.partial ?? false;
  const success = ending.status === "completed" && !partial;
  const said = report.summary || run.host.redactor.redact(ending.error?.message ?? "");
  const files = run.host.redactor.redactJson(changedFiles(run));
  const last = lastRuns([...run.tests.values()]);
  const isObserver = !hasChanges(files) && onlyLooks(run);
  const tests = isObserver ? last.map((one) => ({ ...one, observed: true as const })) : last;
  const failedTests = describeFailedTests(tests);
  const own = {
    ...files,
    tests,
    tool_calls_used: run.toolCalls,
    tools_used: [...run.toolsUsed],
  };
  return {
    run_id: run.runId,
    session_id: run.session.id,
    agent: run.agent.name,
    model: run.model.id,
    status: ending.status,
    success,
    summary: failedTests === null ? said : cutAt(`${failedTests}. ${said}`, MAX_SUMMARY_CHARS),
    details: ending.text,
    ...dataOf(run, ending, report),
    ...own,
    ...countTests(tests),
    warnings: [
      ...run.warnings,
      ...(failedTests === null ? [] : [failedTests]),
      ...describeFaults(tests),
      ...report.warnings,
    ],
    suggestions: report.suggestions,
    iteration_count: run.turn,
    duration_ms: Math.round(run.host.clock.monotonicMs() - run.startedMs),
    subtree: addUpSubtree(own, []),
    context_size: run.contextChars,
    tokens: { self: run.tokens, subtree: account.tokensSpent },
    cost_usd: {
      self: run.costUsd,
      subtree: run.subtreePriced && run.costUsd !== null ? account.costSpent : null,
    },
    deliverables: ending.verdicts ?? [],
    partial,
    ...(ending.bailout && { bailout_reason: ending.bailout }),
    ...(ending.error && {
      error: { ...ending.error, message: run.host.redactor.redact(ending.error.message) },
    }),
    tainted: run.tainted,
    private_data: run.privateData,
    attempt: run.attempt,
  };
}

function dataOf(
  run: Run,
  { data, context, text }: Ending,
  report: Report,
): Pick<RunResult, "data" | "context"> {
  if (data) return { data, ...(context && { context }) };
  if (run.deliverables.some((one) => "answer" in one)) {
    const answer = parseAnswer(text);
    if (answer.ok) return { data: answer.value };
  }
  return report.data === undefined ? {} : { data: report.data };
}

const WRITERS = ["write", "edit"];

/** Whether an agent was given some tools, and none that writes files: a reviewer, a debugger. Tests that fail are what it looks for. */
function onlyLooks({ agent, tools }: Run): boolean {
  const isBound = agent.tools !== undefined || agent.disallowedTools.length > 0;
  return isBound && !WRITERS.some((name) => tools.has(name));
}

function changedFiles(run: Run): FileFigures {
  const named = [...run.changes].map(([path, kind]) => {
    const inProject = relative(run.projectDir, path);
    return [inProject.startsWith("..") ? path : inProject, kind] as const;
  });
  return listFiles(named);
}
