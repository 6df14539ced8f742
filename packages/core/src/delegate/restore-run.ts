import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { pushReply, pushResults } from "../run/history.ts";
import type { CallResult, ToolCall } from "../run/model/reply.ts";
import type { Resumption } from "../run/outcome.ts";
import {
  costOfRow,
  isClosed,
  metadataOf,
  replyOfRow,
  resultOfRow,
  runningIn,
  tokensOf,
  turnsOf,
} from "../run/read-row.ts";
import { countRepeats } from "../run/repetition.ts";
import { type Run, UNMEASURED } from "../run/run.ts";
import type { OpenDelegation } from "../schema/delegation.ts";
import type { MessageNode } from "../schema/record.ts";
import type { BailoutReason, ChangeKind, SuiteTests } from "../schema/result.ts";
import { resultText, runningText } from "./result-text.ts";

/**
 * Puts a run back to where its rows end: history, counters, taint, files, and what to do next. A run that had not
 * reached its first turn begins anew. `whole` says that nothing is left to do for the last turn.
 */
export async function restoreRun(run: Run, node: MessageNode, whole = false): Promise<void> {
  restoreKnowledge(run, metadataOf(node));
  for (const row of node.children) if (row.request_type === "continuation") restoreSpending(run, row);
  const turns = turnsOf(node);
  if (turns.length === 0) return;
  let next: Resumption = { kind: "turn" };
  const said: string[] = [];
  for (const [index, row] of turns.entries()) {
    const metadata = metadataOf(row);
    await restoreMessages(run, metadata);
    restoreState(run, metadata);
    run.cutAnswer = said.slice(said.length - Number(metadata.cutAnswer ?? 0));
    restoreModel(run, row);
    const turn = Number(metadata.turn);
    const answered = isClosed(row) && row.status === "completed";
    run.turn = answered ? turn : turn - (metadata.purpose === undefined ? 1 : 0);
    run.turnMessageId = row.id;
    if (answered) said.push(row.response_content ?? "");
    const following = turns[index + 1];
    const place = { following, isLatest: !following && !whole };
    next = answered ? afterReply(run, row, place) : beforeReply(metadata);
  }
  run.unrecorded.length = 0;
  run.historyReplaced = false;
  run.resumption = next;
}

function restoreSpending(run: Run, row: MessageNode): void {
  const costUsd = costOfRow(row);
  run.tokens += tokensOf(row);
  run.costUsd = costUsd === null || run.costUsd === null ? null : run.costUsd + costUsd;
}

type Metadata = Readonly<Record<string, unknown>>;

async function restoreMessages(run: Run, metadata: Metadata): Promise<void> {
  const history =
    typeof metadata.history === "string" ? await run.host.record.readText(metadata.history) : undefined;
  if (history !== undefined) run.replaceHistory(JSON.parse(history) as LanguageModelV4Message[]);
  for (const text of (metadata.before as string[] | undefined) ?? []) run.pushUser(text);
}

function restoreKnowledge(run: Run, { tainted, privateData }: Metadata): void {
  run.tainted ||= tainted === true;
  run.privateData ||= privateData === true;
}

/** What each turn's row tells of the run besides its conversation; see `openTurn`. */
function restoreState(run: Run, metadata: Metadata): void {
  if (Array.isArray(metadata.calls)) restoreCounts(run, metadata.calls as [string, number][]);
  if (typeof metadata.repairsLeft === "number") run.repairsLeft = metadata.repairsLeft;
  run.emptyReplies = typeof metadata.emptyReplies === "number" ? metadata.emptyReplies : 0;
  if (Array.isArray(metadata.baseline)) run.baseline = new Map(metadata.baseline as [string, string][]);
  restoreKnowledge(run, metadata);
  run.sentBack ||= metadata.sentBack === true;
  run.compactedForOverflow ||= metadata.overflowed === true;
  run.warnings.push(...((metadata.warnings as string[] | undefined) ?? []));
  run.warningsRecorded = run.warnings.length;
}

/** The fallback that had taken over stays. */
function restoreModel(run: Run, row: MessageNode): void {
  const at = run.fallbacks.findIndex((fallback) => fallback.id === row.model_id);
  const taken = run.fallbacks[at];
  if (!taken || row.model_id === run.model.id) return;
  run.model = taken;
  run.fallbacks.splice(0, at + 1);
}

/** Calls that were counted before this turn; those of the latest turn are counted from their rows. */
function restoreCounts(run: Run, counts: readonly (readonly [tool: string, count: number])[]): void {
  run.toolCounts.clear();
  run.toolCalls = 0;
  for (const [tool, count] of counts) {
    run.toolCounts.set(tool, count);
    run.toolCalls += count;
  }
}

function beforeReply(metadata: Metadata): Resumption {
  if (metadata.purpose !== "wrap_up") return { kind: "turn" };
  return { kind: "wrap_up", reason: metadata.reason as BailoutReason, reply: null };
}

function afterReply(
  run: Run,
  row: MessageNode,
  { following, isLatest }: { following: MessageNode | undefined; isLatest: boolean },
): Resumption {
  const reply = replyOfRow(row);
  const metadata = metadataOf(row);
  if (metadata.purpose === "wrap_up")
    return { kind: "wrap_up", reason: metadata.reason as BailoutReason, reply };
  pushReply(run, reply);
  if (metadata.estimated === undefined)
    run.measured = { tokens: row.total_tokens ?? 0, bytes: run.contextBytes };
  else run.measured = UNMEASURED;
  if (reply.calls.length === 0) return { kind: "answer", reply };
  run.emptyReplies = 0;
  const repeating = countRepeats(run, reply.calls, run.host.guards);
  const answered = new Map<string, CallResult>();
  const running = new Map((following ? runningIn(following) : []).map((one) => [one.callId, one]));
  const place = { answered, running, isLatest, escapeText: run.host.guards.escapeText };
  const calls = reply.calls.map((call) => restoreCall(run, row, call, place));
  if (isLatest) return { kind: "calls", calls, answered, repeating };
  pushResults(run, [...answered.values()]);
  return { kind: "turn" };
}

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
  const tool = run.tools.get(call.tool)?.name;
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
  if (wasMade && run.tools.has(call.tool)) run.toolsUsed.add(call.tool);
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
      text: resultText(result, { escapeText, workspaceDir: run.workspaceDir }),
      outcome,
    };
  }
  if (isLatest) return null;
  return { callId, tool, text: "the answer to this call was not recorded", outcome: "error" };
}
