import { type AnyTool, onlyReads, writesFiles } from "../../tools/tool.ts";
import { cutAt } from "../../tools/truncate.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import type { Run } from "../run.ts";
import { recordRefusal } from "./record-call.ts";

/**
 * Answers the calls of a turn so that each sees what those before it did: calls that only read run together, delegations
 * run together, and any other call runs alone, after all before it and before all behind it. Calls behind a change that
 * failed know of it: what lasts, such as a commit or a mail, is not made then.
 */
export async function answerCalls(
  run: Run,
  calls: readonly ToolCall[],
  one = (call: ToolCall): Promise<CallResult> => run.host.makeCall(run, call),
): Promise<CallResult[]> {
  const limit = run.host.guards.maxCallsPerTurn;
  const results: CallResult[] = [];
  let failed: string | undefined;
  for (const group of groupCalls(run, calls.slice(0, limit))) {
    const isStopped = run.interruption !== null && results.length > 0;
    const answer = isStopped ? async (call: ToolCall) => refuse(run, call, STOPPED) : one;
    if (failed !== undefined) for (const call of group) call.behind = failed;
    const answers = await Promise.all(group.map(answer));
    failed ??= describeFailed(run, answers);
    results.push(...answers);
  }
  const over = `only the first ${limit} calls of a turn are run; make this call again later if it is still needed`;
  return [...results, ...calls.slice(limit).map((call) => refuse(run, call, over))];
}

const STOPPED = "the run was stopped before this call began";

function refuse(run: Run, call: ToolCall, text: string): CallResult {
  recordRefusal(run, call, { outcome: "error", text, effects: { uncounted: true } });
  return { callId: call.callId, tool: call.tool, text, outcome: "error" };
}

const MAX_FAULT_CHARS = 200;

/** The first of these calls that should have changed a file and did not. */
function describeFailed(run: Run, answers: readonly CallResult[]): string | undefined {
  const failed = answers.find(({ tool, outcome }) => {
    const held = run.tools.get(tool);
    return held && writesFiles(held) && (outcome === "error" || outcome === "denied");
  });
  return failed && `'${failed.tool}' failed (${cutAt(failed.text.split("\n")[0] ?? "", MAX_FAULT_CHARS)})`;
}

/** Neighbouring calls that may run at the same time, in the order of the calls. */
function groupCalls(run: Run, calls: readonly ToolCall[]): ToolCall[][] {
  const groups: { kind: "read" | "delegation" | "other"; calls: ToolCall[] }[] = [];
  for (const call of calls) {
    const kind = classify(run.tools.get(call.tool));
    const last = groups.at(-1);
    if (last && last.kind === kind && kind !== "other") last.calls.push(call);
    else groups.push({ kind, calls: [call] });
  }
  return groups.map((group) => group.calls);
}

/** A tool that there is not changes nothing. */
function classify(tool: AnyTool | undefined): "read" | "delegation" | "other" {
  if (tool?.delegates) return "delegation";
  return !tool || onlyReads(tool) ? "read" : "other";
}
