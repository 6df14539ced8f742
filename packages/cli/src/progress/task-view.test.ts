import type { RetinueEvent } from "@retinue/core/schema/event";
import { expect, test } from "vitest";
import { ended, resultOf, started } from "../../../../test/fixtures/run-events.ts";
import { createTaskTally } from "./task-view.ts";

const call = (callId: string): RetinueEvent => ({
  sessionId: "ses_1",
  atMs: 5,
  type: "call.ended",
  runId: "a",
  callId,
  messageId: 1,
  tool: "read",
  outcome: "ok",
  summary: "",
  durationMs: 1,
});

test("the tally is one line; a retry does not count as another agent, and a file counts once", () => {
  const tally = createTaskTally();
  const events = [
    started("a"),
    started("b", "a"),
    started("b2", "a", { attempt: 1 }),
    call("1"),
    call("2"),
    ended("b", { files_created: ["x.ts"] }),
    ended("b2", { files_modified: ["x.ts", "y.ts"] }),
    ended("a", {}, 8_100),
  ];
  for (const event of events) tally.take(event);
  const result = {
    ...resultOf("a"),
    tokens: { self: 15, subtree: 4_210 },
    cost_usd: { self: 0.01, subtree: 0.02 },
  };
  const tested = { ...result, subtree: { ...result.subtree, tests_run: 14, tests_passed: 12 } };
  expect(tally.line([tested])).toContain(" · 14 tests, 2 failed · 2 files changed");
  expect(tally.line([result])).toBe(
    "2 agents · 2 tool calls · 4,210 tokens · $0.02 · 2 files changed · 8.1s · trace ses_1",
  );
  expect(tally.line([result], 80)).toBe(
    "2 agents · 2 calls · 4,210 tokens · $0.02 · 2 files · 8.1s · trace ses_1",
  );
});

test("one unknown price makes the cost unknown, and no results at all is not an error", () => {
  const tally = createTaskTally();
  const unknown = { ...resultOf("a"), cost_usd: { self: null, subtree: null } };
  expect(tally.line([resultOf("b"), unknown])).toContain("$?");
  expect(tally.line([])).toBe("0 agents · 0 tool calls · 0 tokens · $0 · 0ms");
});
