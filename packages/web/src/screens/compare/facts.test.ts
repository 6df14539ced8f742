import type { SessionCard } from "@retinue/core/schema/api/session";
import type { Trace, TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { expect, test } from "vitest";
import { makeTraceRun } from "../../../../../test/fixtures/trace-run.ts";
import { deliverableRow, figureRows, fileRow, gatherFacts, showDifference, splitFiles } from "./facts.ts";

function makeTrace(id: string, run: TraceRun, totals: Partial<Trace["totals"]> = {}): Trace {
  const session = { id, title: id, project: "/shop", workspace: `/data/${id}`, createdAt: "", updatedAt: "" };
  return {
    format: 1,
    session: { ...session, status: "completed", state: "completed" },
    endMs: 100,
    totals: {
      ...{ runs: 2, agents: 2, depth: 1, atOnce: 2, turns: 4, calls: 3, statuses: { completed: 2 } },
      ...{ tokens: 4_000, costUsd: 0.02, activeMs: 9_000 },
      ...totals,
    },
    gaps: [],
    runs: [run],
  };
}

const CARD = { state: "completed", asks: 0 } as SessionCard;
const approval = (allowed: boolean) => ({
  approvalId: "apr_1",
  callId: "call_1",
  tool: "write",
  reason: "",
  askedAt: "",
  allowed,
  answeredAt: null,
  by: "person",
  note: null,
});
const a = gatherFacts(
  makeTrace(
    "ses_a",
    makeTraceRun(
      "main",
      { files: ["src/a.ts", "/data/ses_a/report.html", "/shop/notes.md"], model: "small" },
      [
        makeTraceRun("coder", { model: "large", approvals: [approval(true), approval(false)] }),
        makeTraceRun("tester", { model: "large" }),
      ],
    ),
  ),
  CARD,
  5_000,
);
const b = gatherFacts(
  makeTrace(
    "ses_b",
    makeTraceRun("main", {
      files: ["/data/ses_b/report.html", "src/b.ts"],
      deliverables: [{ deliverable: "report.html", ok: true, reason: "", files: [] }],
    }),
    { costUsd: null, tokens: 5_000, statuses: { failed: 1, timeout: 1 } },
  ),
  CARD,
  0,
);

test("figures are side by side with their difference, and an unknown cost stays unknown", () => {
  const rows = new Map(figureRows(a, b).map((row) => [row.name, [row.a, row.b, row.difference]]));
  expect(rows.get("Tokens")).toEqual(["4.0k", "5.0k", "+1.0k (+25 %)"]);
  expect(rows.get("Cost")).toEqual(["$0.02", "unknown", "unknown"]);
  expect(rows.get("Runs that failed")).toEqual(["0", "2", "+2"]);
  expect(rows.get("Of these denied")).toEqual(["1", "0", "−1 (−100 %)"]);
  expect(rows.get("Turns")).toEqual(["4", "4", "same"]);
  expect(rows.has("Runs stopped")).toBe(false);
});

test("files are compared by where they are below the project or each session's own workspace", () => {
  expect(splitFiles(a, b)).toEqual({
    onlyA: ["notes.md", "src/a.ts"],
    onlyB: ["src/b.ts"],
    both: ["report.html"],
  });
  expect(fileRow(a, b)).toMatchObject({ a: "3 files", b: "2 files", difference: "2 only in A, 1 only in B" });
  expect(fileRow(a, a).difference).toBe("same");
});

test("deliverables and models are listed, the most used model first", () => {
  expect(deliverableRow(a, b)).toMatchObject({
    a: "none asked for",
    b: "1 of 1 there",
    difference: "differs",
  });
  expect(a.models).toEqual(["large", "small"]);
});

test("only a running session's time has grown since it was read", () => {
  expect(a.activeMs).toBe(9_000);
  const running = { ...CARD, state: "running" } as SessionCard;
  const facts = gatherFacts(makeTrace("ses_c", makeTraceRun("main", {})), running, 5_000);
  expect(facts.activeMs).toBe(14_000);
});

test("a difference has its sign, its size and its share of the first figure", () => {
  expect(showDifference(5_000, 7_100, showShort)).toBe("+2.1k (+42 %)");
  expect(showDifference(8, 6)).toBe("−2 (−25 %)");
  expect(showDifference(3, 3)).toBe("same");
});

test("what is unknown on one side stays unknown, and is never taken for 0", () => {
  expect(showDifference(null, 0.5, showCost)).toBe("unknown");
  expect(showDifference(0.5, null, showCost)).toBe("unknown");
  expect(showDifference(null, null, showCost)).toBe("unknown");
});

test("misleading percentages are left out or replaced", () => {
  expect(showDifference(0, 4)).toBe("+4");
  expect(showDifference(10_000, 10_001)).toBe("+1 (under 1 %)");
  expect(showDifference(2, 60)).toBe("+58 (×30)");
});
