import { resultText, runningText } from "../delegate/result-text.ts";
import type { CallResult } from "../run/calls/dispatch.ts";
import type { ToolCall } from "../run/model/read-stream.ts";
import type { Run } from "../run/run.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type { MessageNode } from "../schema/record.ts";
import type { ChangeKind, SuiteTests } from "../schema/result.ts";
import { isClosed, metadataOf, resultOfRow } from "./read-row.ts";

/** Where a recorded call stands: its turn's answers so far, and what the next turn knew to be running. */
export type CallPlace = {
  answered: Map<string, CallResult>;
  running: ReadonlyMap<string, OpenDelegation>;
  /** Its turn is the last: what has no answer gets one now. */
  isLatest: boolean;
  escapeText(text: string): string;
};

/** Counts a call and what it did; its answer goes into `answered` if the record has one. */
export function restoreCall(run: Run, turn: MessageNode, call: ToolCall, place: CallPlace): ToolCall {
  run.callIds.add(call.callId);
  const rows = turn.children.filter((row) => row.call_id === call.callId);
  const own = rows.find((row) => row.request_type === "tool_call");
  const child = rows.findLast((row) => row.request_type === "delegation");
  const counted = own ? metadataOf(own).uncounted !== true : child !== undefined;
  if (counted) count(run, call);
  if (own && metadataOf(own).broughtUntrusted) run.tainted = true;
  const answer = own ? answerOfRow(run, own, call) : answerOfChild(run, child, call, place);
  if (answer) place.answered.set(call.callId, answer);
  return { ...call, resumed: { rowId: own?.id ?? null, counted } };
}

function count(run: Run, call: ToolCall): void {
  const tool = run.spec.tools.get(call.tool)?.name;
  if (tool === undefined) return;
  run.toolCalls++;
  run.toolCounts.set(tool, (run.toolCounts.get(tool) ?? 0) + 1);
}

function answerOfRow(run: Run, row: MessageNode, call: ToolCall): CallResult | null {
  if (!isClosed(row)) return null;
  const { outcome, tainted, public: isPublic, files, tests, over, uncounted } = metadataOf(row);
  if (tainted) run.tainted = true;
  if (over) run.overToolCalls = true;
  // A row that does not say so is not known to be public.
  if (outcome !== "denied" && uncounted !== true && isPublic !== true) run.privateData = true;
  const wasMade = outcome !== "denied" && outcome !== "cached" && uncounted !== true;
  if (wasMade && run.spec.tools.has(call.tool)) run.toolsUsed.add(call.tool);
  for (const [path, kind] of (files as [string, ChangeKind][] | undefined) ?? []) run.noteChange(path, kind);
  for (const one of testsIn(tests, call.tool)) run.noteTests(one);
  const kept = (outcome as CallResult["outcome"] | undefined) ?? "error";
  return { callId: call.callId, tool: call.tool, text: row.response_content ?? "", outcome: kept };
}

/** Tests that a call ran; records of earlier versions have one sum of them. */
function testsIn(tests: unknown, tool: string): readonly Omit<SuiteTests, "runs">[] {
  if (Array.isArray(tests)) return tests as Omit<SuiteTests, "runs">[];
  const sum = tests as { run: number; passed: number } | undefined;
  return sum ? [{ ...sum, suite: tool, at_ms: 0 }] : [];
}

/**
 * The answer to a delegation that wrote no row of its own. In the last turn one that did not succeed has none yet: its
 * policy may want another attempt.
 */
function answerOfChild(
  run: Run,
  child: MessageNode | undefined,
  { callId, tool }: ToolCall,
  { running, isLatest, escapeText }: CallPlace,
): CallResult | null {
  const told = running.get(callId);
  if (told) {
    const delegation = { ...told, task: child?.request_content ?? "" };
    return { callId, tool, text: runningText([delegation], { escapeText }), outcome: "ok" };
  }
  const isOver = child && isClosed(child) && (!isLatest || child.status === "completed");
  if (isOver) {
    const result = resultOfRow(child);
    run.tainted ||= result.tainted;
    run.privateData ||= result.private_data !== false;
    const outcome = result.status === "completed" ? "ok" : "error";
    return {
      callId,
      tool,
      text: resultText(result, { escapeText, workspaceDir: run.spec.workspaceDir }),
      outcome,
    };
  }
  if (isLatest) return null;
  return { callId, tool, text: "the answer to this call was not recorded", outcome: "error" };
}
