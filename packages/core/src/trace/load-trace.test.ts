import { afterEach, beforeEach, expect, test } from "vitest";
import { writeSession } from "../../../../test/fixtures/recorded-session.ts";
import type { Record } from "../record/record.ts";
import { createRecordJournal, recordText } from "../record/record-journal.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { walkRuns } from "../show/walk-runs.ts";
import { exportLines, loadExport } from "./load-export.ts";
import { loadOutline, loadTrace } from "./load-trace.ts";

let record: Record;
beforeEach(async () => {
  record = createSqliteRecord({ path: ":memory:" });
  await writeSession(record, {
    sessionId: "ses_1",
    title: "two parts",
    runs: [
      {
        agent: "main",
        task: "two parts",
        from: 0,
        to: 9_000,
        calls: [{ tool: "read", input: { path: "a" }, from: 500, to: 600 }],
        runs: [
          { agent: "a", task: "one", from: 1_000, to: 5_000 },
          { agent: "b", task: "two", from: 1_100, to: 6_000, status: "failed", error: "no" },
        ],
      },
    ],
  });
});
afterEach(() => record.close());

test("an outline tells the same of every run as the whole, and the rest once it is filled", async () => {
  const whole = await loadTrace(record, await record.findSession("ses_1"), 0);
  const { trace, fill } = await loadOutline(record, await record.findSession("ses_1"), 0);
  expect(trace.totals).toEqual(whole.totals);
  expect([...walkRuns(trace.runs)].every(({ turns }) => turns.length === 0)).toBe(true);
  await fill(walkRuns(trace.runs));
  await fill(walkRuns(trace.runs));
  // Only what a run answered in full stays unread.
  for (const run of walkRuns(whole.runs)) if (run.result) run.result.text = "";
  expect(trace).toEqual(whole);
});

test("a session that nobody holds is interrupted, and running while somebody does", async () => {
  await writeSession(record, {
    sessionId: "ses_2",
    title: "open",
    status: "running",
    runs: [{ agent: "main", task: "open", from: 0 }],
  });
  const state = async () => (await loadTrace(record, await record.findSession("ses_2"))).session.state;
  expect(await state()).toBe("interrupted");
  const release = await record.takeLease("ses_2");
  expect(await state()).toBe("running");
  await release();
  await record.addApproval({
    approvalId: "apr_1",
    sessionId: "ses_2",
    runId: "run_ses_2_0",
    callId: "c",
    tool: "shell",
    inputHash: "h",
    request: { reason: "asked" },
    requestedAtMs: 1,
  });
  expect(await state()).toBe("waiting");
  expect(
    (await loadOutline(record, await record.findSession("ses_2"))).trace.runs[0]?.approvals,
  ).toHaveLength(1);
});

test("an export holds every row and every text that rows name", async () => {
  const prompt = recordText(record, "You are main.");
  const journal = await createRecordJournal(record);
  const id = journal.open({
    sessionId: "ses_1",
    parentId: null,
    runId: "run_x",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1,
    systemPromptId: prompt,
    metadata: { snapshot: recordText(record, "{}") },
  });
  journal.close(id, "ses_1", { status: "completed", completedAtMs: 2, durationMs: 1 });
  await record.committed();
  const all = await loadExport(record, await record.findSession("ses_1"));
  expect(all.messages).toEqual(await record.readRows({ sessionId: "ses_1" }));
  expect(Object.values(all.prompts).sort()).toEqual(["You are main.", "{}"]);
  const lines = [...exportLines(all)].map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ kind: "session", format: 1, session_id: "ses_1" });
  expect(lines.filter(({ kind }) => kind === "message")).toHaveLength(all.messages.length);
});
