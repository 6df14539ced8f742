import { afterEach, beforeEach, expect, test } from "vitest";
import { writeSession } from "../../../../test/fixtures/recorded-session.ts";
import { createStore, type Store } from "../record/create-store.ts";
import { walkRuns } from "../show/walk-runs.ts";
import { exportLines, loadExport } from "./load-export.ts";
import { loadOutline, loadTrace } from "./load-trace.ts";

let store: Store;
beforeEach(async () => {
  store = createStore({ path: ":memory:" });
  await writeSession(store, {
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
afterEach(() => store.shutdown());

test("an outline tells the same of every run as the whole, and the rest once it is filled", () => {
  const whole = loadTrace(store, store.findSession("ses_1"), 0);
  const { trace, fill } = loadOutline(store, store.findSession("ses_1"), 0);
  expect(trace.totals).toEqual(whole.totals);
  expect([...walkRuns(trace.runs)].every(({ turns }) => turns.length === 0)).toBe(true);
  fill(walkRuns(trace.runs));
  fill(walkRuns(trace.runs));
  // Only what a run answered in full stays unread.
  for (const run of walkRuns(whole.runs)) if (run.result) run.result.text = "";
  expect(trace).toEqual(whole);
});

test("a session that nobody holds is interrupted, and running while somebody does", async () => {
  await writeSession(store, {
    sessionId: "ses_2",
    title: "open",
    status: "running",
    runs: [{ agent: "main", task: "open", from: 0 }],
  });
  const state = () => loadTrace(store, store.findSession("ses_2")).session.state;
  expect(state()).toBe("interrupted");
  const release = store.takeLease("ses_2");
  expect(state()).toBe("running");
  release();
  store.addApproval({
    approvalId: "apr_1",
    sessionId: "ses_2",
    runId: "run_ses_2_0",
    callId: "c",
    tool: "shell",
    inputHash: "h",
    request: { reason: "asked" },
    requestedAtMs: 1,
  });
  expect(state()).toBe("waiting");
  expect(loadOutline(store, store.findSession("ses_2")).trace.runs[0]?.approvals).toHaveLength(1);
});

test("an export holds every row and every text that rows name", async () => {
  const prompt = store.savePrompt("You are main.");
  const id = store.open({
    sessionId: "ses_1",
    parentId: null,
    runId: "run_x",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1,
    systemPromptId: prompt,
    metadata: { snapshot: store.savePrompt("{}") },
  });
  store.close(id, "ses_1", { status: "completed", completedAtMs: 2, durationMs: 1 });
  await store.committed();
  const all = loadExport(store, store.findSession("ses_1"));
  expect(all.messages).toEqual(store.messages("ses_1"));
  expect(Object.values(all.prompts).sort()).toEqual(["You are main.", "{}"]);
  const lines = [...exportLines(all)].map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ kind: "session", format: 1, session_id: "ses_1" });
  expect(lines.filter(({ kind }) => kind === "message")).toHaveLength(all.messages.length);
});
