import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo, nextCalls } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import { readTestRun } from "../failures/read-test-run.ts";
import { reportTestRun } from "../failures/report-test-run.ts";
import { queryOf } from "./search-terms.ts";

const WRITES =
  /^(?:please\s+)?(?:write|add|create|extend|fix|repair|update|generate|improve|implement|make)\b(?!.*\bpass\b)/i;
const FILTER =
  /\btests?\s+(?:named|called|titled)\s+[`"“']([^`"”'\n]{2,200})[`"”']|[`"“]([^`"”\n]{2,200})[`"”]/i;

const MAX_FAULT = 2_000;

/** The tester: runs the tests that a task names, or all, and reports what came of them. */
export const tester: Procedure = {
  agents: ["tester"],
  next(situation) {
    const task = taskText(situation.task);
    if (WRITES.test(task.trim()))
      return {
        cannot: needsModel(
          `write tests (“${task.slice(0, 120)}”)`,
          "run the tests there are and report on them",
        ),
      };
    return runTests(testCall(task), situation);
  },
};

/** Runs tests and reports them; also for others who are asked whether tests pass. */
export function runTests(call: OfflineCall, situation: Situation): Move {
  if (!situation.tools.includes("test"))
    return { cannot: needsModel("run tests without the tool `test`", "run them where it has that tool") };
  const move = nextCalls(situation, [() => [call]]);
  if (move) return move;
  const past = answerTo(situation.calls, call);
  if (!past) return { say: "**Summary**: The tests were not run: a limit came first." };
  const run = readTestRun(past.result);
  const nothing = run.counts?.run === 0 && run.failures.length === 0;
  if (!run.counts || (past.failed && nothing))
    return { cannot: `the tests did not run: ${past.result.trim().slice(0, MAX_FAULT)}` };
  return { say: reportTestRun(run) };
}

/** The call that runs what a task names: a file or folder, tests of a name, or everything. */
export function testCall(task: string): OfflineCall {
  const [path] = queryOf(task).paths;
  const [, named, quoted] = FILTER.exec(task) ?? [];
  const filter = named ?? quoted;
  return { tool: "test", input: { ...(path && { path }), ...(filter && filter !== path && { filter }) } };
}
