import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { CallResult } from "../run/calls/dispatch.ts";
import type { Guards } from "../run/guards.ts";
import { pushReply, pushResults } from "../run/history.ts";
import { type Run, UNMEASURED } from "../run/run.ts";
import type { Resumption } from "../run/run-spec.ts";
import { countRepeats } from "../run/turns/repetition.ts";
import type { MessageNode } from "../schema/record.ts";
import type { BailoutReason } from "../schema/result.ts";
import { costOfRow, isClosed, metadataOf, replyOfRow, runningIn, tokensOf, turnsOf } from "./read-row.ts";
import { restoreCall } from "./restore-call.ts";

/** What the record is asked for while a run is rebuilt. */
export type RestorePorts = {
  text(id: string): string | undefined;
  guards: Pick<Guards, "escapeText" | "isRepeating">;
};

/**
 * Puts a run back to where its rows end: history, counters, taint, files, and what to do next. A run that had not
 * reached its first turn begins anew. `whole` says that nothing is left to do for the last turn.
 */
export function restoreRun(run: Run, node: MessageNode, ports: RestorePorts, whole = false): void {
  restoreKnowledge(run, metadataOf(node));
  for (const row of node.children) if (row.request_type === "continuation") restoreSpending(run, row);
  const turns = turnsOf(node);
  if (turns.length === 0) return;
  let next: Resumption = { kind: "turn" };
  const said: string[] = [];
  for (const [index, row] of turns.entries()) {
    const metadata = metadataOf(row);
    restoreMessages(run, metadata, ports);
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
    next = answered ? afterReply(run, row, place, ports) : beforeReply(metadata);
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

function restoreMessages(run: Run, metadata: Metadata, ports: RestorePorts): void {
  const history = typeof metadata.history === "string" ? ports.text(metadata.history) : undefined;
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
  ports: RestorePorts,
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
  const repeating = countRepeats(run, reply.calls, ports.guards);
  const answered = new Map<string, CallResult>();
  const running = new Map((following ? runningIn(following) : []).map((one) => [one.callId, one]));
  const place = { answered, running, isLatest, escapeText: ports.guards.escapeText };
  const calls = reply.calls.map((call) => restoreCall(run, row, call, place));
  if (isLatest) return { kind: "calls", calls, answered, repeating };
  pushResults(run, [...answered.values()]);
  return { kind: "turn" };
}
