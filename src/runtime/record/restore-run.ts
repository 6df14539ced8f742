import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { CallResult } from "../../loop/calls/dispatch.ts";
import { pushReply, pushResults } from "../../loop/history.ts";
import type { ToolCall } from "../../loop/model/read-stream.ts";
import type { Resumption, Run } from "../../loop/run.ts";
import type { MessageNode } from "../../schema/record.ts";
import type { BailoutReason } from "../../schema/result.ts";
import { resultText, runningText } from "../delegation/result-text.ts";
import { isClosed, metadataOf, replyOfRow, resultOfRow, tokensOf } from "./read-row.ts";

/** Delegation under any of its names; its tools are made after the run is restored. */
const DELEGATING = new Set(["delegate", "delegate_to_agent", "Task"]);

/** What the record is asked for while a run is rebuilt. */
export type RestorePorts = { text(id: string): string | undefined; escapeText(text: string): string };

/** Puts a run back to where its rows end: history, counters, taint, files, and what to do next. */
export function restoreRun(run: Run, node: MessageNode, ports: RestorePorts): void {
  let next: Resumption = { kind: "turn" };
  run.tainted ||= metadataOf(node).tainted === true;
  const turns = node.children.filter((row) => row.request_type === "continuation");
  const latest = turns.findLast((row) => metadataOf(row).purpose !== "summary");
  for (const row of turns) {
    const metadata = metadataOf(row);
    run.tokens += tokensOf(row);
    if (isClosed(row))
      run.costUsd = row.cost_usd === null || run.costUsd === null ? null : run.costUsd + row.cost_usd;
    if (metadata.purpose === "summary") continue;
    restoreMessages(run, metadata, ports);
    const turn = Number(metadata.turn);
    const answered = isClosed(row) && row.status === "completed";
    run.turn = answered ? turn : turn - (metadata.purpose === undefined ? 1 : 0);
    run.turnMessageId = row.id;
    next = answered ? afterReply(run, row, row === latest, ports) : beforeReply(metadata);
  }
  run.unrecorded.length = 0;
  run.historyReplaced = false;
  run.resumption = next;
}

function restoreMessages(run: Run, metadata: Readonly<Record<string, unknown>>, ports: RestorePorts): void {
  const history = typeof metadata.history === "string" ? ports.text(metadata.history) : undefined;
  if (history !== undefined) run.replaceHistory(JSON.parse(history) as LanguageModelV4Message[]);
  for (const text of (metadata.before as string[] | undefined) ?? []) run.pushUser(text);
  if (Array.isArray(metadata.calls)) restoreCounts(run, metadata.calls as [string, number][]);
  if (typeof metadata.repairsLeft === "number") run.repairsLeft = metadata.repairsLeft;
  if (typeof metadata.emptyReplies === "number") run.emptyReplies = metadata.emptyReplies;
  if (Array.isArray(metadata.baseline)) run.baseline = new Map(metadata.baseline as [string, string][]);
}

/** Calls that were counted before this turn; those of the latest turn are counted from its reply. */
function restoreCounts(run: Run, counts: readonly (readonly [tool: string, count: number])[]): void {
  run.toolCounts.clear();
  run.toolCalls = 0;
  for (const [tool, count] of counts) {
    run.toolCounts.set(tool, count);
    run.toolCalls += count;
  }
}

function beforeReply(metadata: Readonly<Record<string, unknown>>): Resumption {
  if (metadata.purpose !== "wrap_up") return { kind: "turn" };
  return { kind: "wrap_up", reason: metadata.reason as BailoutReason, text: null };
}

function afterReply(run: Run, row: MessageNode, isLatest: boolean, ports: RestorePorts): Resumption {
  const reply = replyOfRow(row);
  const metadata = metadataOf(row);
  if (metadata.purpose === "wrap_up")
    return { kind: "wrap_up", reason: metadata.reason as BailoutReason, text: reply.text };
  pushReply(run, reply);
  run.measured = { tokens: row.total_tokens ?? 0, bytes: run.contextBytes };
  if (reply.calls.length === 0) return { kind: "answer", reply };
  const answered = new Map<string, CallResult>();
  const calls = reply.calls.map((call) => restoreCall(run, row, call, { answered, isLatest }, ports));
  if (answered.size < calls.length) return { kind: "calls", calls, answered };
  pushResults(run, [...answered.values()]);
  return { kind: "turn" };
}

/** Counts a call and what it did; its answer goes into `answered` if the record has one. */
function restoreCall(
  run: Run,
  turn: MessageNode,
  call: ToolCall,
  { answered, isLatest }: { answered: Map<string, CallResult>; isLatest: boolean },
  ports: RestorePorts,
): ToolCall {
  run.callIds.add(call.callId);
  const tool = run.spec.tools.get(call.tool)?.name ?? (DELEGATING.has(call.tool) ? "delegate" : undefined);
  if (tool !== undefined) {
    run.toolCalls++;
    run.toolCounts.set(tool, (run.toolCounts.get(tool) ?? 0) + 1);
  }
  const rows = turn.children.filter((child) => child.call_id === call.callId);
  const own = rows.find((row) => row.request_type === "tool_call");
  const child = rows.findLast((row) => row.request_type === "delegation");
  if (own && isClosed(own)) answered.set(call.callId, answerOfRow(run, own, call));
  else if (!own && child && !isLatest && !isClosed(child)) {
    const text = runningText(child.agent_role ?? "", child.run_id);
    answered.set(call.callId, { callId: call.callId, tool: call.tool, text, outcome: "ok" });
  } else if (!own && child && isClosed(child) && (!isLatest || child.status === "completed")) {
    const result = resultOfRow(child);
    run.tainted ||= result.tainted;
    const outcome = result.success ? "ok" : "error";
    answered.set(call.callId, {
      callId: call.callId,
      tool: call.tool,
      text: resultText(result, ports.escapeText),
      outcome,
    });
  }
  return { ...call, resumed: { rowId: own?.id ?? null } };
}

function answerOfRow(run: Run, row: MessageNode, call: ToolCall): CallResult {
  const { outcome, tainted, files, tests } = metadataOf(row);
  if (tainted) run.tainted = true;
  if (outcome !== "denied" && run.spec.tools.has(call.tool)) run.toolsUsed.add(call.tool);
  for (const [path, kind] of (files as [string, "created" | "modified"][] | undefined) ?? [])
    run.noteChange(path, kind);
  const counted = tests as { run: number; passed: number } | undefined;
  run.testsRun += counted?.run ?? 0;
  run.testsPassed += counted?.passed ?? 0;
  return {
    callId: call.callId,
    tool: call.tool,
    text: row.response_content ?? "",
    outcome: (outcome as CallResult["outcome"]) ?? "error",
  };
}
