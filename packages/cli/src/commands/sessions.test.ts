import type { SessionSummary } from "@retinue/core/schema/inspect/session-summary";
import { expect, test } from "vitest";
import { measureWidth } from "../text-layout.ts";
import { createCanvas } from "../tree/canvas.ts";
import { drawSessions, showWhen } from "./sessions.ts";

const NOW = Date.parse("2026-03-10T12:00:00Z");

function session(fields: Partial<SessionSummary> = {}): SessionSummary {
  return {
    session_id: "ses_abcdefghijkl",
    title: "find the cause of the crash and fix it",
    project: "/home/ada/shop",
    workspace: "/w",
    created_at: "2026-03-10T10:00:00Z",
    updated_at: "2026-03-10T10:00:00Z",
    status: "completed",
    metadata_json: null,
    state: "completed",
    agent: "main",
    runs: 1_204,
    agents: 3,
    depth: 2,
    tokens: 5,
    cost_usd: null,
    duration_ms: 61_000,
    ...fields,
  };
}
const draw = (sessions: SessionSummary[], width = 120) =>
  drawSessions(sessions, { nowMs: NOW, canvas: createCanvas({ width }) });

test("a list shows each session with its figures and how to look closer", () => {
  expect(draw([session()])).toEqual([
    "SESSION           STARTED  STATUS        RUNS   TIME   COST  PROJECT  TASK",
    "ses_abcdefghijkl  2h ago   ✅ completed  1,204  1m01s  $?    shop     find the cause of the crash and fix it",
    "",
    "look closer: retinue trace ses_abcdefghijkl",
  ]);
});

test("a session that no process works on says how to continue it", () => {
  const text = draw([
    session({ status: "running", state: "interrupted", session_id: "ses_i" }),
    session({ status: "running", state: "waiting" }),
    session({ status: "running", state: "running" }),
  ]).join("\n");
  expect(text).toMatch(/⏸ interrupted/);
  expect(text).toMatch(/⏸ waiting/);
  expect(text).toMatch(/⏳ running/);
  expect(text).toContain("retinue resume ses_i");
  expect(text).toContain("retinue approve");
});

test("columns give way on a narrow screen, the task last, and no line is wider", () => {
  const [heading, ...lines] = draw([session({ title: "日本語 ".repeat(40) })], 62);
  expect(heading).toMatch(/^SESSION +STARTED +STATUS +(COST +)?TASK$/);
  for (const line of lines) expect(measureWidth(line)).toBeLessThanOrEqual(62);
});

test("a match that the list would not show is below its line, without escape codes", () => {
  const found = { agent: "scout", in: "answer" as const, excerpt: "…the \u001b[31mneedle\n is here" };
  expect(draw([session({ found })])[2]).toBe("  answer of scout: …the needle is here");
});

test.each([
  ["2026-03-10T11:59:30Z", "just now"],
  ["2026-03-10T11:15:00Z", "45m ago"],
  ["2026-03-09T12:00:00Z", "1d ago"],
  ["2026-03-01T08:00:00Z", "2026-03-01 08:00"],
  ["2026-03-11T08:00:00Z", "2026-03-11 08:00"],
  ["nonsense", "?"],
])("%s is %s", (iso, words) => {
  expect(showWhen(iso, NOW)).toBe(words);
});
