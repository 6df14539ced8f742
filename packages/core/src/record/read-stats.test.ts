import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { MessageClosing, MessageOpening } from "../schema/record.ts";
import { createStore, type Store } from "./create-store.ts";

let folder: string;
let path: string;
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retinue-stats-"));
  path = join(folder, "retinue.sqlite");
  store = createStore({ path, now: () => 5_000, onNotice: (notice) => expect.fail(notice.message) });
  for (const [sessionId, project] of [
    ["ses_1", "/project/a"],
    ["ses_2", "/project/b"],
  ] as const) {
    store.startSession({ sessionId, title: "A title", project, workspace: "/workspace" });
  }
});

afterEach(async () => {
  await store.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

type Ran = Partial<MessageOpening> & {
  /** Absent: it never ended. */
  end?: Partial<MessageClosing>;
  calls?: readonly Partial<MessageClosing & { modelId: string }>[];
};
let runs = 0;
const NO_WORK = { files: 0, testsRun: null, testsPassed: null, toolCalls: 0 };

/** Records one run with its model calls, and returns its row. */
function ran({ end, calls = [], ...more }: Ran): number {
  const head = {
    sessionId: "ses_1",
    agentRole: "coder",
    modelId: "a/x",
    depth: 0,
    startedAtMs: 1_000,
    runId: `run_${++runs}`,
    ...more,
  };
  const { sessionId } = head;
  const id = store.open({ parentId: null, type: "prompt", ...head });
  for (const { modelId = head.modelId, ...call } of calls) {
    const turn = store.open({ ...head, metadata: {}, modelId, parentId: id, type: "continuation" });
    store.close(turn, sessionId, {
      status: "completed",
      completedAtMs: 2_000,
      durationMs: 1,
      promptTokens: 10,
      completionTokens: 5,
      totalTokens: 15,
      ...call,
    });
  }
  if (end) store.close(id, sessionId, { status: "completed", completedAtMs: 2_000, durationMs: 100, ...end });
  return id;
}

/** Six runs: three successes, a partial one, a time-out and a failure. */
function sixRuns(more: Ran = {}): void {
  for (const durationMs of [500, 100, 400]) ran({ end: { durationMs }, ...more });
  ran({
    end: { durationMs: 300, bailoutReason: "max_iterations", metadata: { result: { partial: true } } },
    ...more,
  });
  ran({ end: { durationMs: 900, status: "timeout", bailoutReason: "timeout" }, ...more });
  ran({ end: { durationMs: 200, status: "failed" }, metadata: { attempt: 1 }, ...more });
}

test("runs are counted by how they ended, with rate, interval and exact percentiles", async () => {
  sixRuns();
  ran({});
  await store.committed();
  const { groups, total } = store.stats();
  expect(groups).toEqual([{ role: "coder", model: "a/x", ...total }]);
  expect(total).toMatchObject({
    runs: 7,
    open: 1,
    successes: 3,
    partials: 1,
    failures: { failed: 1, timeout: 1 },
    durationMs: { p50: 300, p95: 900 },
    retries: 1,
    bailouts: { max_iterations: 1, timeout: 1 },
  });
  expect(total.success).toEqual({
    rate: 0.5,
    low: expect.closeTo(0.1876, 4),
    high: expect.closeTo(0.8124, 4),
    n: 6,
  });
});

test("with fewer than five ended runs there are counts, but neither a rate nor percentiles", async () => {
  for (let index = 0; index < 4; index++) ran({ end: {} });
  ran({});
  await store.committed();
  expect(store.stats().total).toMatchObject({ runs: 5, successes: 4, success: null, durationMs: null });
  ran({ end: {} });
  await store.committed();
  expect(store.stats().total).toMatchObject({ success: { rate: 1, n: 5 }, durationMs: { p50: 100 } });
});

test("tokens and cost are those of a run's own model calls, and failed runs count for the cost of a success", async () => {
  const parent = ran({
    agentRole: "main",
    calls: [{ costUsd: 0.5 }],
    end: { totalTokens: 999, costUsd: 99 },
  });
  ran({ type: "delegation", parentId: parent, calls: [{ costUsd: 0.25 }, { costUsd: 0.25 }], end: {} });
  ran({ type: "delegation", parentId: parent, calls: [{ costUsd: 1 }], end: { status: "failed" } });
  await store.committed();
  const { groups, total } = store.stats({ by: "role" });
  expect(groups).toMatchObject([
    {
      role: "coder",
      runs: 2,
      tokens: { input: 30, output: 15, total: 45 },
      costUsd: 1.5,
      costPerSuccessUsd: 1.5,
    },
    { role: "main", runs: 1, tokens: { total: 15 }, costUsd: 0.5, costPerSuccessUsd: 0.5 },
  ]);
  expect(total).toMatchObject({ runs: 3, tokens: { total: 60 }, costUsd: 2, costPerSuccessUsd: 1 });
});

test("one call without a price makes the cost unknown, and the model that was called is named", async () => {
  ran({ calls: [{ costUsd: 0.5 }, { costUsd: null, modelId: "b/fallback" }], end: {} });
  ran({ agentRole: "main", calls: [{ costUsd: 0.5 }], end: {} });
  await store.committed();
  const { groups, total } = store.stats({ by: "role" });
  const unknown = { costUsd: null, costPerSuccessUsd: null, unpricedModels: ["b/fallback"] };
  expect(groups).toMatchObject([
    { role: "coder", ...unknown },
    { role: "main", costUsd: 0.5, unpricedModels: [] },
  ]);
  expect(total).toMatchObject(unknown);
});

test("a model call that never ended neither counts nor hides the cost of the others", async () => {
  const id = ran({ calls: [{ costUsd: 0.5 }] });
  store.open({
    sessionId: "ses_1",
    parentId: id,
    runId: "run_open",
    type: "continuation",
    agentRole: "coder",
    depth: 0,
    startedAtMs: 1,
    modelId: "a/x",
  });
  await store.committed();
  expect(store.stats().total).toMatchObject({ runs: 1, open: 1, costUsd: 0.5, tokens: { total: 15 } });
});

test("without a success there is no cost of one", async () => {
  ran({ calls: [{ costUsd: 0.5 }], end: { status: "failed" } });
  await store.committed();
  expect(store.stats().total).toMatchObject({ costUsd: 0.5, costPerSuccessUsd: null });
});

test("groups are by role, by model or by both, the largest first", async () => {
  ran({ end: {} });
  ran({ end: {}, modelId: "b/y" });
  ran({ end: {}, modelId: "b/y", agentRole: "main" });
  await store.committed();
  const names = (by: "role" | "model" | "both") =>
    store.stats({ by }).groups.map(({ role, model, runs: count }) => [role, model, count]);
  expect(names("role")).toEqual([
    ["coder", undefined, 2],
    ["main", undefined, 1],
  ]);
  expect(names("model")).toEqual([
    [undefined, "b/y", 2],
    [undefined, "a/x", 1],
  ]);
  expect(names("both")).toEqual([
    ["coder", "a/x", 1],
    ["coder", "b/y", 1],
    ["main", "b/y", 1],
  ]);
});

test("each filter leaves out runs and their model calls alike", async () => {
  const calls = [{ costUsd: 0.5 }];
  ran({ end: {}, calls });
  ran({ end: {}, calls, sessionId: "ses_2" });
  ran({ end: {}, calls, agentRole: "main" });
  ran({ end: {}, calls, modelId: "b/y" });
  ran({ end: {}, calls, startedAtMs: 9_000 });
  await store.committed();
  const figures = (query: Parameters<Store["stats"]>[0]) => {
    const { total } = store.stats(query);
    expect(total.tokens.total).toBe(total.runs * 15);
    return total.runs;
  };
  expect(figures({})).toBe(5);
  expect(figures({ sessionId: "ses_2" })).toBe(1);
  expect(figures({ project: "/project/b" })).toBe(1);
  expect(figures({ project: "/project" })).toBe(0);
  expect(figures({ agent: "main" })).toBe(1);
  expect(figures({ model: "b/y" })).toBe(1);
  expect(figures({ sinceMs: 9_000 })).toBe(1);
  expect(figures({ sinceMs: 9_001 })).toBe(0);
  expect(figures({ agent: "coder", model: "a/x", project: "/project/a", sinceMs: 0 })).toBe(2);
  expect(figures({ agent: "' OR 1=1 --" })).toBe(0);
});

test("rows of other programs, with odd names, metadata and numbers, are counted and break nothing", async () => {
  ran({ agentRole: "lone \ud800", modelId: "__proto__", end: { bailoutReason: "__proto__" } });
  await store.committed();
  using db = new DatabaseSync(path);
  const insert = db.prepare(
    `INSERT INTO messages (session_id, started_at, completed_at, request_type, status, duration_ms, metadata_json)
      VALUES ('ses_1', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z', 'prompt', ?, ?, ?)`,
  );
  insert.run("completed", 2n ** 62n, "{ not json");
  insert.run("completed", null, '"text"');
  insert.run("exploded", 1, '{"attempt": 99999999999999999999, "result": []}');
  insert.run(null, null, null);
  const { groups, total } = store.stats();
  expect(groups.map(({ role, model, runs: count }) => [role, model, count])).toEqual([
    [null, null, 4],
    ["lone \ud800", "__proto__", 1],
  ]);
  expect(Object.entries(total.bailouts)).toEqual([["__proto__", 1]]);
  expect(total).toMatchObject({ successes: 3, open: 1, failures: { exploded: 1 }, retries: 1, costUsd: 0 });
  expect(store.stats({ agent: "lone \ud800" }).total.runs).toBe(1);
});

test("a run that was cancelled is neither a success nor a failure, however many there are", async () => {
  sixRuns();
  for (let count = 0; count < 4; count++) ran({ end: { status: "cancelled", bailoutReason: "cancelled" } });
  await store.committed();
  const { total } = store.stats();
  expect(total).toMatchObject({ runs: 10, successes: 3, cancelled: 4, failures: { failed: 1, timeout: 1 } });
  expect(total.success).toMatchObject({ rate: 0.5, n: 6 });
});

test("files, tests and calls are summed as the runs' own and with what is below, each run once", async () => {
  const figures = (files: string[], tests: number) => ({
    files_created: files,
    files_modified: [],
    tests_run: tests,
    tests_passed: tests - 1,
    tool_calls_used: 1,
  });
  const result = {
    ...figures(["a"], 1),
    subtree: figures(["a", "b"], 4),
    tokens: { subtree: 30 },
    cost_usd: { subtree: 2 },
  };
  const below = {
    ...figures(["b"], 3),
    subtree: figures(["b"], 3),
    tokens: { subtree: 10 },
    cost_usd: { subtree: 1 },
  };
  ran({ runId: "top", end: { metadata: { result } } });
  ran({ runId: "under", metadata: { parentRun: "top" }, end: { metadata: { result: below } } });
  await store.committed();
  const { total } = store.stats();
  expect(total.work).toEqual({ files: 2, testsRun: 4, testsPassed: 2, toolCalls: 2 });
  expect(total.subtree).toEqual({
    files: 2,
    testsRun: 4,
    testsPassed: 3,
    toolCalls: 1,
    tokens: 30,
    costUsd: 2,
  });
});

test("nothing recorded gives figures of nothing", () => {
  expect(store.stats()).toEqual({
    groups: [],
    total: {
      runs: 0,
      open: 0,
      successes: 0,
      partials: 0,
      cancelled: 0,
      failures: {},
      success: null,
      durationMs: null,
      tokens: { input: 0, output: 0, total: 0 },
      costUsd: 0,
      work: NO_WORK,
      subtree: { ...NO_WORK, tokens: 0, costUsd: 0 },
      costPerSuccessUsd: null,
      unpricedModels: [],
      retries: 0,
      bailouts: {},
    },
  });
});

test("days count what began on them; a run that was cut short, failed or is open is no success", async () => {
  const day = 86_400_000;
  ran({ end: {} });
  ran({ end: { metadata: { result: { partial: true } } } });
  ran({ end: { metadata: { result: { partial: false } } } });
  ran({ end: { status: "failed" } });
  ran({ startedAtMs: day + 1_000, end: {} });
  ran({ startedAtMs: day + 1_000 });
  await store.committed();
  expect(store.statsByDay().map(({ day: date, runs: count, successes }) => [date, count, successes])).toEqual(
    [
      ["1970-01-01", 4, 2],
      ["1970-01-02", 2, 1],
    ],
  );
});
