import type { StepView } from "@retinue/core/schema/api/session";
import { expect, test } from "vitest";
import { openedRow, stepAt } from "./run-at.ts";

const call: StepView = {
  kind: "call",
  messageId: 3,
  runId: "run_a",
  status: "failed",
  startedAtMs: 1_000,
  endedAtMs: 2_000,
  durationMs: 1_000,
  error: "it did not work",
  openedSeq: 5,
  closedSeq: 6,
  isCut: true,
  callId: "c",
  tool: "shell",
  outcome: "error",
  input: "{}",
  output: "what it said",
  approvedBy: "ada",
};

test("a call is absent before it began, under way until it ended, and complete afterwards", () => {
  expect(stepAt(call, 999)).toBeUndefined();
  const underWay = stepAt(call, 1_999);
  expect(underWay).toMatchObject({ outcome: "running", status: "running", error: null, input: "{}" });
  expect(JSON.stringify(underWay)).not.toMatch(/what it said|ada|did not work/);
  expect(underWay?.isCut).toBe(false);
  expect(stepAt(call, 2_000)).toBe(call);
});

test("a call that was interrupted later is shown as under way", () => {
  const open: StepView = { ...call, endedAtMs: null, outcome: "interrupted" };
  expect(stepAt(open, 1_500)).toMatchObject({ outcome: "running" });
});

test("the row of a run that has not ended contains nothing of its end", () => {
  const row = {
    id: 1,
    request_content: "do it",
    response_content: "done",
    status: "completed",
    opened_seq: 1,
  };
  expect(openedRow(row)).toEqual({ id: 1, request_content: "do it", opened_seq: 1 });
});
