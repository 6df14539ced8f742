import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";
import { listSome } from "../schema/list-some.ts";
import type { Approval } from "../schema/record.ts";
import { selectLastNumber } from "./rows/last-number.ts";
import { decodeText, encodeText } from "./rows/lossless-text.ts";

/** A call by its exact arguments. */
type Call = Pick<Approval, "runId" | "callId" | "inputHash">;
/** Why a person must be asked beyond what the rules say. */
type Grounds = { tainted?: boolean; mustConfirm?: boolean };

/** Which questions are wanted. */
type ApprovalQuery = {
  sessionId?: string;
  /** Of this project; of those that wait, only in sessions that have not ended. */
  project?: string;
  /** Only those behind this one, by its id. */
  after?: string;
  limit?: number;
};

/** Calls that wait for a person, kept beyond the process that asked. Writes are on disk when they return. */
export type ApprovalTable = {
  /** Adds a question, unless this very call has been asked about before; gives the one that stands. */
  addApproval(asked: Omit<Approval, "answer">): Approval;
  /**
   * What was said to a call with exactly these arguments: to the call itself, or to an earlier one of its run for the whole
   * run; null if nobody has answered. Who said yes for the run before untrusted text had entered it did not know of that.
   */
  answerTo(call: Call & Grounds): Approval["answer"];
  /** The ids of a run's questions that nobody has answered. */
  openApprovalsOf(runId: string): string[];
  /** The one approval whose id begins with `prefix`; an error lists what was available. */
  findApproval(prefix: string): Approval;
  /** Questions in the order they were asked; `open` leaves out those that were answered. All, unless limited. */
  approvals(query?: ApprovalQuery & { open?: boolean }): Approval[];
  /** Questions that were answered, the last answer first, by order of writing and not by the clock. */
  answeredApprovals(query?: ApprovalQuery): Approval[];
  /**
   * How many wait for a person in a session, or in the open sessions of a project, and the position of the newest of
   * them. If both are as before, the same questions wait: a question is never asked again once it is gone.
   */
  countWaiting(query: Pick<ApprovalQuery, "sessionId" | "project">): { count: number; newest: number };
  /** Answers a question; false if somebody else has. */
  answerApproval(approvalId: string, answer: NonNullable<Approval["answer"]>): boolean;
};

const COLUMNS = "SELECT * FROM approvals";

/** Creates the table over a database that has the schema of the record. */
export function createApprovalTable(db: DatabaseSync): ApprovalTable {
  const { insert, update, byCall, forRun, openOf, byId, prefixed, list, waiting, answered, count } =
    statementsOf(db);
  const ofCall = ({ runId, callId, inputHash }: Call) => {
    const row = byCall.get(runId, callId, inputHash);
    return row && fromRow(row);
  };
  const valuesOf = ({ sessionId, project, after, limit = -1 }: ApprovalQuery) =>
    [sessionId ?? null, project === undefined ? null : encodeText(project), after ?? null, limit] as const;
  const approvals: ApprovalTable["approvals"] = ({ open = false, ...query } = {}) =>
    (open ? waiting : list).all(...valuesOf(query)).map(fromRow);
  return {
    approvals,
    answeredApprovals: (query = {}) => answered.all(...valuesOf(query)).map(fromRow),
    countWaiting({ sessionId, project }) {
      const row = count.get(sessionId ?? null, project === undefined ? null : encodeText(project));
      return { count: Number(row?.waiting ?? 0), newest: Number(row?.newest ?? 0) };
    },
    openApprovalsOf: (runId) => openOf.all(runId).map((row) => String(row.approval_id)),
    answerTo(call) {
      const own = ofCall(call)?.answer;
      if (own) return own;
      const given = forRun.all(call.runId, call.inputHash).map(fromRow);
      return given.find(({ request }) => wasAskedSo(request, call))?.answer ?? null;
    },
    addApproval(asked) {
      const { approvalId, sessionId, runId, callId, tool, inputHash } = asked;
      const request = encodeText(JSON.stringify(asked.request));
      const values = [approvalId, sessionId, runId, callId, encodeText(tool), inputHash, request] as const;
      insert.run(...values, asked.requestedAtMs);
      return ofCall(asked) ?? { ...asked, answer: null };
    },
    findApproval(prefix) {
      const exact = byId.get(prefix);
      if (exact) return fromRow(exact);
      const found = prefix === "" ? [] : prefixed.all(prefix).map(fromRow);
      if (found.length === 1 && found[0]) return found[0];
      throw notFound(prefix, found, approvals({ open: true, limit: 6 }));
    },
    answerApproval(approvalId, { allowed, by, note, scope, atMs }) {
      const kept = note === undefined ? null : encodeText(note);
      const values = [allowed ? 1 : 0, encodeText(by), kept, atMs, scope ?? null] as const;
      return update.run(approvalId, ...values).changes === 1;
    },
  };
}

function wasAskedSo(request: Approval["request"], { tainted, mustConfirm }: Grounds): boolean {
  return (!tainted || request.tainted === true) && (!mustConfirm || request.mustConfirm === true);
}

function statementsOf(db: DatabaseSync) {
  const isWanted = (more = "") => `(?1 IS NULL OR session_id = ?1) AND
    (?2 IS NULL OR session_id IN (SELECT session_id FROM sessions WHERE project = ?2${more}))`;
  const inOrder = `(?3 IS NULL OR position > (SELECT position FROM approvals WHERE approval_id = ?3))
    ORDER BY position LIMIT ?4`;
  const isWaiting = `answered_at IS NULL AND ${isWanted(" AND status = 'running'")}`;
  return {
    insert: db.prepare(
      `INSERT INTO approvals (approval_id, session_id, run_id, call_id, tool, input_hash, request_json, requested_at, position)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${selectLastNumber("approvals", "position")} + 1) ON CONFLICT (run_id, call_id, input_hash) DO NOTHING`,
    ),
    update: db.prepare(
      `UPDATE approvals SET allowed = ?2, answered_by = ?3, note = ?4, answered_at = ?5, scope = ?6,
        answer_position = ${selectLastNumber("approvals", "answer_position")} + 1
        WHERE approval_id = ?1 AND answered_at IS NULL`,
    ),
    byCall: db.prepare(`${COLUMNS} WHERE run_id = ? AND call_id = ? AND input_hash = ?`),
    forRun: db.prepare(`${COLUMNS} WHERE run_id = ? AND input_hash = ? AND allowed = 1 AND scope = 'run'`),
    openOf: db.prepare("SELECT approval_id FROM approvals WHERE run_id = ? AND answered_at IS NULL"),
    byId: db.prepare(`${COLUMNS} WHERE approval_id = ?`),
    prefixed: db.prepare(`${COLUMNS} WHERE substr(approval_id, 1, length(?1)) = ?1 LIMIT 6`),
    list: db.prepare(`${COLUMNS} WHERE ${isWanted()} AND ${inOrder}`),
    waiting: db.prepare(`${COLUMNS} WHERE ${isWaiting} AND ${inOrder}`),
    count: db.prepare(
      `SELECT count(*) AS waiting, max(position) AS newest FROM approvals WHERE ${isWaiting}`,
    ),
    answered: db.prepare(`${COLUMNS} WHERE answered_at IS NOT NULL AND ${isWanted()} AND (?3 IS NULL OR
      answer_position < (SELECT answer_position FROM approvals WHERE approval_id = ?3))
      ORDER BY answer_position DESC LIMIT ?4`),
  };
}

function fromRow(row: Record<string, SQLOutputValue>): Approval {
  const text = (name: string) => decodeText(String(row[name]));
  const answer =
    row.answered_at === null
      ? null
      : {
          allowed: row.allowed === 1,
          by: text("answered_by"),
          ...(row.note !== null && { note: text("note") }),
          ...(row.scope !== null && { scope: row.scope === "run" ? ("run" as const) : ("once" as const) }),
          atMs: Number(row.answered_at),
        };
  return {
    approvalId: String(row.approval_id),
    sessionId: String(row.session_id),
    runId: String(row.run_id),
    callId: String(row.call_id),
    tool: text("tool"),
    inputHash: String(row.input_hash),
    request: JSON.parse(text("request_json")) as Approval["request"],
    requestedAtMs: Number(row.requested_at),
    answer,
  };
}

function notFound(prefix: string, found: readonly Approval[], open: readonly Approval[]): RetinueError {
  const ids = listSome((found.length > 0 ? found : open).map(({ approvalId }) => approvalId));
  if (found.length > 0)
    return new RetinueError("input", `'${prefix}' fits several approvals: ${ids}`, "give more of the id");
  const rest = ids === "" ? "nothing waits for one" : `waiting: ${ids}`;
  return new RetinueError("input", `no approval '${prefix}'; ${rest}`, "list them with: retinue approve");
}
