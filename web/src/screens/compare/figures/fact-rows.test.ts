import { expect, test } from "vitest";
import type { SessionCard } from "../../../../../src/schema/api/session.ts";
import type { Trace, TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { testRun } from "../../trace/test-run.ts";
import { deliverableRow, figureRows, fileRow, splitFiles } from "./fact-rows.ts";
import { factsOfSession } from "./facts-of-session.ts";

function traceOf(id: string, run: TraceRun, totals: Partial<Trace["totals"]> = {}): Trace {
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
const a = factsOfSession(
  traceOf(
    "ses_a",
    testRun("main", { files: ["src/a.ts", "/data/ses_a/report.html", "/shop/notes.md"], model: "small" }, [
      testRun("coder", { model: "large", approvals: [approval(true), approval(false)] }),
      testRun("tester", { model: "large" }),
    ]),
  ),
  CARD,
  5_000,
);
const b = factsOfSession(
  traceOf(
    "ses_b",
    testRun("main", {
      files: ["/data/ses_b/report.html", "src/b.ts"],
      deliverables: [{ deliverable: "report.html", ok: true, reason: "", files: [] }],
    }),
    { costUsd: null, tokens: 5_000, statuses: { failed: 1, timeout: 1 } },
  ),
  CARD,
  0,
);

test("figures stand beside each other with what is between them, and an unknown cost stays unknown", () => {
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

test("deliverables and models are told as they are, the most used model first", () => {
  expect(deliverableRow(a, b)).toMatchObject({
    a: "none asked for",
    b: "1 of 1 there",
    difference: "differs",
  });
  expect(a.models).toEqual(["large", "small"]);
});

test("only a session that is at work has worked on since it was read", () => {
  expect(a.activeMs).toBe(9_000);
  const running = { ...CARD, state: "running" } as SessionCard;
  const facts = factsOfSession(traceOf("ses_c", testRun("main", {})), running, 5_000);
  expect(facts.activeMs).toBe(14_000);
});
