import type { RunView } from "@retinue/core/schema/api/session";
import type { LiveText } from "@retinue/core/schema/api/stream";
import { expect, test } from "vitest";
import { addUpRuns } from "./session-store.ts";

const run = (runId: string, fields: Partial<RunView>) =>
  ({ runId, endedAtMs: 1, status: "completed", tokens: 10, costUsd: 1, ...fields }) as RunView;
const live = { tokens: 7, costUsd: 2 } as LiveText;

test("a live run counts with what the stream says of it, an ended one with its record", () => {
  const runs = [run("a", {}), run("b", { endedAtMs: null, status: "running", tokens: 0, costUsd: null })];
  expect(addUpRuns(runs, () => live)).toEqual({ runs: 2, live: 1, failed: 0, tokens: 17, costUsd: 3 });
  expect(addUpRuns(runs, () => null)).toEqual({ runs: 2, live: 1, failed: 0, tokens: 10, costUsd: 1 });
});

test("one unknown cost makes the sum unknown, and failures and time-outs are counted", () => {
  const runs = [run("a", { status: "failed" }), run("b", { status: "timeout", costUsd: null }), run("c", {})];
  expect(addUpRuns(runs, () => null)).toEqual({ runs: 3, live: 0, failed: 2, tokens: 30, costUsd: null });
});
