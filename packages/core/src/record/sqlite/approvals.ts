import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import { listSome } from "../../schema/list-some.ts";
import type { Approval } from "../../schema/record.ts";
import { decodeText, encodeText } from "../lossless-text.ts";
import type { ApprovalCall, ApprovalPort, ApprovalQuery } from "../record.ts";
import { selectLastNumber, storeText } from "./sql.ts";

const COLUMNS = "SELECT * FROM approvals";

/** Keeps calls that wait for a person. */
export function createApprovalTable(db: DatabaseSync): ApprovalPort {
  const { insert, update, byCall, forRun, byId, ofRun, prefixed, list, waiting, answered, count } =
    prepareStatements(db);
  function findByCall({ runId, callId, inputHash }: ApprovalCall): Approval | undefined {
    const row = byCall.get(runId, callId, inputHash);
    return row && readApproval(row);
  }
  function listSorted({ state, sessionId, project, runId, after, limit = -1 }: ApprovalQuery): Approval[] {
    // Most runs have asked nothing, and each is looked at when it ends.
    if (runId !== undefined && !ofRun.get(runId)) return [];
    const statement = state === "waiting" ? waiting : state === "answered" ? answered : list;
    return statement
      .all(sessionId ?? null, storeText(project), after ?? null, limit, runId ?? null)
      .map(readApproval);
  }
  return {
    listApprovals: async (query = {}) => listSorted(query),
    async countWaiting({ sessionId, project }) {
      const row = count.get(sessionId ?? null, storeText(project));
      return { count: Number(row?.waiting ?? 0), newest: Number(row?.newest ?? 0) };
    },
    async findAnswer(call) {
      const own = findByCall(call)?.answer;
      if (own) return own;
      const given = forRun.all(call.runId, call.inputHash).map(readApproval);
      return given.find(({ request }) => wasAskedSo(request, call))?.answer ?? null;
    },
    async addApproval(asked) {
      const { approvalId, sessionId, runId, callId, tool, inputHash } = asked;
      const request = encodeText(JSON.stringify(asked.request));
      const values = [approvalId, sessionId, runId, callId, encodeText(tool), inputHash, request] as const;
      insert.run(...values, asked.requestedAtMs);
      return findByCall(asked) ?? { ...asked, answer: null };
    },
    async findApproval(prefix) {
      const exact = byId.get(prefix);
      if (exact) return readApproval(exact);
      const found = prefix === "" ? [] : prefixed.all(prefix).map(readApproval);
      if (found.length === 1 && found[0]) return found[0];
      throw notFound(prefix, found, listSorted({ state: "waiting", limit: 6 }));
    },
    async answerApproval(approvalId, { allowed, by, note, scope, atMs }) {
      const values = [allowed ? 1 : 0, encodeText(by), storeText(note), atMs, scope ?? null] as const;
      return update.run(approvalId, ...values).changes === 1;
    },
  };
}

function wasAskedSo(request: Approval["request"], { tainted, mustConfirm }: ApprovalCall): boolean {
  return (!tainted || request.tainted === true) && (!mustConfirm || request.mustConfirm === true);
}

function prepareStatements(db: DatabaseSync) {
  const isOf = (more = "") => `(?1 IS NULL OR session_id = ?1) AND
    (?2 IS NULL OR session_id IN (SELECT session_id FROM sessions WHERE project = ?2${more}))`;
  const isWanted = (more = "") => `${isOf(more)} AND (?5 IS NULL OR run_id = ?5)`;
  const inOrder = `(?3 IS NULL OR position > (SELECT position FROM approvals WHERE approval_id = ?3))
    ORDER BY position LIMIT ?4`;
  const isOpen = " AND status = 'running'";
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
    byId: db.prepare(`${COLUMNS} WHERE approval_id = ?`),
    ofRun: db.prepare("SELECT 1 FROM approvals WHERE run_id = ? LIMIT 1"),
    prefixed: db.prepare(`${COLUMNS} WHERE substr(approval_id, 1, length(?1)) = ?1 LIMIT 6`),
    list: db.prepare(`${COLUMNS} WHERE ${isWanted()} AND ${inOrder}`),
    waiting: db.prepare(`${COLUMNS} WHERE answered_at IS NULL AND ${isWanted(isOpen)} AND ${inOrder}`),
    count: db.prepare(
      `SELECT count(*) AS waiting, max(position) AS newest FROM approvals WHERE answered_at IS NULL AND ${isOf(isOpen)}`,
    ),
    answered: db.prepare(`${COLUMNS} WHERE answered_at IS NOT NULL AND ${isWanted()} AND (?3 IS NULL OR
      answer_position < (SELECT answer_position FROM approvals WHERE approval_id = ?3))
      ORDER BY answer_position DESC LIMIT ?4`),
  };
}

function readApproval(row: Record<string, SQLOutputValue>): Approval {
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
