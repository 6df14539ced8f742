import type { RetinueEvent } from "@retinue/core/schema/event";
import { expect, test } from "vitest";
import { failed, started } from "../../../../test/fixtures/run-events.ts";
import { createNotices, createProgress } from "./show-progress.ts";

const AT = { sessionId: "ses_1", atMs: 0, runId: "main" };
const error = { type: "overloaded", message: "too busy", recoverable: true } as const;
const wrong: RetinueEvent = {
  ...AT,
  type: "turn.ended",
  turn: 1,
  messageId: 1,
  text: "",
  calls: [],
  usage: null,
  costUsd: null,
  error,
};

function told(events: readonly RetinueEvent[], endsWithError: boolean): string {
  const lines: string[] = [];
  const progress = createProgress({ tell: (text) => lines.push(text) }, { endsWithError });
  for (const event of events) progress(event);
  return lines.join("\n");
}

test("a failure is reported once: when the run ends, or by what is printed after it", () => {
  const events = [started("main"), wrong, failed("main", "too busy")];
  expect(told(events, false).match(/too busy/g)).toHaveLength(1);
  expect(told(events, true)).not.toContain("too busy");
});

test("a failed model call is reported while the run waits to repeat it", () => {
  const waits: RetinueEvent = { ...AT, type: "run.waiting", on: "provider" };
  expect(told([started("main"), wrong, waits], true)).toContain(
    "❌ error main: a model call failed: too busy",
  );
});

test("a run that ends with a different failure than its last model call reports both", () => {
  const text = told([started("main"), wrong, failed("main", "no budget")], false);
  expect(text).toContain("too busy");
  expect(text).toContain("no budget");
});

test("a tool name that a model made up cannot steer the terminal", () => {
  const tool = "bash\u001b[2J\u009b31m";
  const call = { ...AT, callId: "c", tool };
  const text = told(
    [
      started("main", null, { model: "m\u001b[31m" }),
      { ...call, type: "call.started", messageId: 2, input: {} },
      { ...call, type: "call.ended", outcome: "error", durationMs: 1, summary: "no such tool" },
    ] as RetinueEvent[],
    false,
  );
  expect(text).toContain("main calls bash {}");
  expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
});

test("a question shows no escape codes", () => {
  const lines: string[] = [];
  createNotices({ tell: (text) => lines.push(text) })({
    ...AT,
    type: "approval.requested",
    approvalId: "apr_1",
    tool: "mcp\u001b[2J",
    input: {},
    chain: ["main", "x\u001b[31m"],
    reason: "because",
  });
  expect(lines).toEqual(["⏸ main > x asks to use mcp: because"]);
});
