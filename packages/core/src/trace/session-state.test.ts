import { expect, test } from "vitest";
import type { Approval, SessionRow } from "../schema/record.ts";
import { sessionState } from "./session-state.ts";

const row = (status: SessionRow["status"]): SessionRow => ({
  session_id: "ses_1",
  title: "t",
  project: "/p",
  workspace: "/w",
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  status,
  metadata_json: null,
});
const waiting: Approval = {
  approvalId: "apr_1",
  sessionId: "ses_1",
  runId: "run_1",
  callId: "call_1",
  tool: "send",
  inputHash: "h",
  request: {
    input: {},
    presented: undefined,
    risk: "high",
    reason: "x",
    chain: [],
    targets: [],
    tainted: false,
    mustConfirm: false,
  },
  requestedAtMs: 1,
  answer: null,
};

test.each([
  ["completed", "process 1", [waiting], "completed"],
  ["cancelled", null, [waiting], "cancelled"],
  ["running", "process 1", [waiting], "running"],
  ["running", null, [waiting], "waiting"],
  ["running", null, [], "interrupted"],
] as const)("a session whose row says %s, held by %s, is %s", async (status, holder, questions, state) => {
  const record = { findHolder: async () => holder, listApprovals: async () => [...questions] };
  expect(await sessionState(record, row(status))).toBe(state);
});
