import type { Effects } from "../run/calls/record-call.ts";
import type { CallResult, ToolCall } from "../run/model/reply.ts";
import { isClosed, metadataOf } from "../run/read-row.ts";
import type { Run } from "../run/run.ts";
import type { MessageNode } from "../schema/record.ts";
import type { Target } from "../schema/rights.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RecordedSession } from "./recorded-session.ts";

/** How far a call came by the present rules: not admitted, admitted, or, if it starts runs, answered. */
export type CallNow =
  | { kind: "refused"; outcome: "error" | "denied"; text: string }
  | { kind: "admitted" }
  | { kind: "answered"; outcome: "ok" | "error"; text: string };

/** The answer that a call had. */
export type RecordedAnswer = Pick<CallResult, "text" | "outcome"> &
  Pick<Effects, "public" | "shown"> & { tainted: boolean };

/** What was found out of a call beforehand: whom it reaches, and why a person was asked; null if nobody was. */
type RecordedOutside = { reached: readonly Target[]; asked: string | null };

/** A call that is played again. */
type Replayed = { call: ToolCall; now: CallNow; isIncomplete: boolean };

/** The recorded answer to a call, if it would get as far now as it got then; null where the record has none. */
export function answerTo(session: RecordedSession, run: Run, replayed: Replayed): RecordedAnswer | null {
  const recorded = session.of(run);
  if (!recorded || recorded.diverged) return null;
  const { call, now } = replayed;
  const row = recorded.callRow(call.callId);
  const differs = (then: string, today: string) =>
    session.differs(run, `the call of ${call.tool}`, then, today);
  if (!row) {
    const begun = recorded.hasChildOf(call.callId);
    if (begun && now.kind === "refused") differs("answered by a run", `${now.outcome}: ${now.text}`);
    else if (!begun && !recorded.wasCutShort) differs("it was not made", call.input);
    return null;
  }
  if (!isClosed(row)) return null;
  const then = answerOf(row);
  if (!mayLead(now, then, row)) differs(`${then.outcome}: ${then.text}`, shown(now));
  else if (
    now.kind === "answered" &&
    isCertain(recorded, row, replayed) &&
    !session.same(then.text, now.text)
  )
    differs(then.text, now.text);
  return then;
}

/** What the outside said of a call before it was made. */
export function outsideOf(row: MessageNode): RecordedOutside | "unknown" | undefined {
  const { reached, approvedBy, outcome } = metadataOf(row) as Beforehand;
  if (reached === undefined) return undefined;
  if (reached === null) return "unknown";
  const wasRefused = outcome === "denied" && ASKED.test(row.response_content ?? "");
  const targets = reached.map((address) => ({ kind: "recipient" as const, address }));
  return { reached: targets, asked: approvedBy || wasRefused ? "as recorded" : null };
}

type Beforehand = { reached?: readonly string[] | null; approvedBy?: string; outcome?: string };

/** How a call is refused that a person was asked about. */
const ASKED = /^'[\w-]+' needs approval \(/;

function answerOf(row: MessageNode): RecordedAnswer {
  const { outcome, tainted, ...more } = metadataOf(row) as Partial<RecordedAnswer>;
  return {
    text: row.response_content ?? "",
    outcome: outcome ?? "error",
    tainted: tainted === true,
    ...(more.public && { public: true }),
    ...(more.shown && { shown: more.shown }),
  };
}

/** A right that a person took away while the run was under way, or with the flags of the process that went on with it. */
const TAKEN_AWAY =
  /^(?:permission denied: |\{"error":\{"type":"not_allowed","message":")(?:revoked|session): /;

/** Whether a call that came so far now can be one that was answered like that. */
function mayLead(now: CallNow, then: RecordedAnswer, row: MessageNode): boolean {
  if (now.kind !== "refused") return then.outcome !== "denied" || TAKEN_AWAY.test(then.text);
  if (then.outcome === "denied") return true;
  // An input that held a secret is not recorded whole, and need not be valid as it is.
  return now.outcome === "error" && (then.outcome === "error" || metadataOf(row).redacted === true);
}

/** Whether the answer follows from the record alone, not also from which of several calls or children was faster. */
function isCertain(recorded: RecordedRun, row: MessageNode, { call, isIncomplete }: Replayed): boolean {
  const turn = recorded.turns.find((each) => each.children.includes(row));
  const others = turn?.children.filter((each) => each.call_id !== call.callId && startsRuns(each)) ?? [];
  const wasStopped = recorded.wasCutShort && recorded.next() === null;
  const wasBegun = !row.response_content?.startsWith('{"error":');
  return others.length === 0 && !wasStopped && !(isIncomplete && wasBegun);
}

function startsRuns(row: MessageNode): boolean {
  return row.request_type === "delegation" || metadataOf(row).children !== undefined;
}

function shown(now: CallNow): string {
  return now.kind === "refused" ? `${now.outcome}: ${now.text}` : "allowed";
}
