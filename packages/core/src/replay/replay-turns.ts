import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { Streamed } from "../run/model/stream-reply.ts";
import { isClosed, metadataOf, replyOfRow } from "../run/read-row.ts";
import type { Run } from "../run/run.ts";
import type { MessageNode } from "../schema/record.ts";
import type { BailoutReason, ErrorType, RunError } from "../schema/result.ts";
import { type Purpose, purposeOf, type RecordedRun } from "./recorded-run.ts";
import type { RecordedSession } from "./recorded-session.ts";

/** What is known of a model call that is played again. */
export type RecordedReply =
  /** `again`: it was made once more for the same turn. */
  | { kind: "streamed"; streamed: Streamed; modelId: string; again: boolean }
  /** It was never made, because the budget had no room for it. */
  | { kind: "unaffordable"; resource: "tokens" | "cost" }
  /** It was never made, for another reason. */
  | { kind: "failed"; error: RunError }
  /** The run was ended here from outside, or its record ends here; it has been interrupted now too. */
  | { kind: "interrupted" };

/** Ends a run of the replay where nothing is left to play. */
export function endHere(run: Run): { kind: "interrupted" } {
  run.interrupt({ status: "cancelled", bailout: "cancelled", message: "the record ends here" });
  return { kind: "interrupted" };
}

/** Ends a run before a turn if it was ended there from outside; returns the limit that time set there. */
export function stopBeforeTurn(run: Run, recorded: RecordedRun | undefined): BailoutReason | null {
  if (!recorded || recorded.diverged) {
    endHere(run);
    return null;
  }
  const { node } = recorded;
  const next = recorded.next();
  const late = recorded.limitReached() === "deadline" ? "deadline" : null;
  if (next) return purposeOf(next) === "wrap_up" ? late : null;
  if (!isClosed(node)) endHere(run);
  const outside = recorded.endedOutside();
  if (outside && node.iteration_count <= run.turn) run.interrupt(outside);
  return late;
}

/** The recorded reply to a model call, if the model would be told what it was told then. */
export function replyTo(session: RecordedSession, run: Run, purpose: Purpose): RecordedReply {
  const recorded = session.of(run);
  if (!recorded || recorded.diverged) return endHere(run);
  const { row, lost, skipped } = recorded.take(run.turn, purpose);
  if (!row) return noReply(session, run, recorded, purpose);
  recorded.position = row.opened_seq;
  if (purpose !== "summary") compareMessages(session, run, { told: [...lost, row], skipped });
  if (recorded.diverged || !isClosed(row)) return endHere(run);
  const modelId = row.model_id ?? run.model.id;
  if (row.status === "completed") {
    const reply = replyOfRow(row);
    if (purpose === "turn") run.steering.push(...recorded.steering());
    return { kind: "streamed", streamed: { kind: "reply", reply, chars: 0 }, modelId, again: false };
  }
  // A call in place of this one, by another model, may have been too dear.
  const tooDear = purpose === "turn" && wasUnaffordable(run, recorded, purpose);
  const again = tooDear || recorded.hasAnother(run.turn, purpose);
  const outside = again || recorded.next() ? null : recorded.endedOutside();
  if (outside) {
    run.brokenOff = readBrokenOff(row);
    run.interrupt(outside);
    return { kind: "interrupted" };
  }
  return failureOf(row, recorded, { modelId, again });
}

function failureOf(
  row: MessageNode,
  { node }: RecordedRun,
  about: { modelId: string; again: boolean },
): RecordedReply {
  const type = (metadataOf(row).errorType as ErrorType | undefined) ?? "bad_response";
  const error = { type, message: row.error_message ?? type, recoverable: false };
  const said = readBrokenOff(row);
  const watchdog = node.bailout_reason === "first_token_timeout" || node.bailout_reason === "idle_timeout";
  const bailout = watchdog && !about.again ? { bailout: node.bailout_reason as BailoutReason } : {};
  // After an overflow the run makes room itself before it calls again.
  const again = about.again && type !== "context_overflow";
  return {
    kind: "streamed",
    streamed: { kind: "failed", error, began: false, chars: 0, said, ...bailout },
    modelId: about.modelId,
    again,
  };
}

/** What a model had written when its reply broke off. */
function readBrokenOff(row: MessageNode): string {
  return String(metadataOf(row).said ?? "");
}

/** A call that left no row: it could not be paid, the run was ended before it, or it is one that was never wanted. */
function noReply(session: RecordedSession, run: Run, recorded: RecordedRun, purpose: Purpose): RecordedReply {
  const { node, result } = recorded;
  const isLast = recorded.next() === null;
  if (isLast && !isClosed(node)) return endHere(run);
  const outside = isLast ? recorded.endedOutside() : null;
  if (outside) {
    run.interrupt(outside);
    return { kind: "interrupted" };
  }
  if (wasUnaffordable(run, recorded, purpose)) {
    const cost = recorded.limitReached() === "max_cost" || result?.error?.message.includes("cost budget");
    return { kind: "unaffordable", resource: cost ? "cost" : "tokens" };
  }
  if (isLast && purpose === "turn" && result?.error && node.iteration_count === run.turn)
    return { kind: "failed", error: result.error };
  const what = purpose === "turn" ? "one turn more" : purpose === "wrap_up" ? "a last report" : "a summary";
  session.differs(run, what, "no such model call", "one is made");
  return endHere(run);
}

function wasUnaffordable(run: Run, recorded: RecordedRun, purpose: Purpose): boolean {
  const next = recorded.next();
  if (purpose === "summary") return recorded.wasLimited;
  if (purpose === "wrap_up") return recorded.node.bailout_reason === run.wrapUpReason;
  if (next && purposeOf(next) !== "wrap_up") return false;
  const reason = recorded.limitReached();
  return reason === "max_tokens" || reason === "max_cost" || recorded.result?.error?.type === "budget";
}

/** Holds what the host and people have said since the last turn against what was recorded. */
function compareMessages(
  session: RecordedSession,
  run: Run,
  { told, skipped }: { told: readonly MessageNode[]; skipped: readonly MessageNode[] },
): void {
  const history = historyIn(session, told);
  if (history === undefined && !run.historyReplaced) {
    const before = told.flatMap((row) => (metadataOf(row).before as string[] | undefined) ?? []).join("\n\n");
    const now = run.unrecorded.join("\n\n");
    if (!session.same(before, now)) session.differs(run, "what the model is told", before, now);
    return;
  }
  const now = run.historyReplaced ? JSON.stringify(run.history) : "not condensed";
  if (history !== undefined && session.same(history, now)) return;
  // A crash may have made a run condense twice; only the second summary went into its conversation.
  if (history !== undefined && skipped.some((row) => purposeOf(row) === "summary"))
    run.replaceHistory(JSON.parse(history) as LanguageModelV4Message[]);
  else session.differs(run, "the condensed conversation", history ?? "not condensed", now);
}

/** The whole conversation, where a row keeps it. */
export function historyIn(session: RecordedSession, rows: readonly MessageNode[]): string | undefined {
  return session.text(rows.flatMap((row) => metadataOf(row).history ?? []).at(-1));
}
