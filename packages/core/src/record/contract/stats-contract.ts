import { expect, test } from "vitest";
import type { MessageClosing, MessageOpening } from "../../schema/record.ts";
import type { StatsQuery } from "../../schema/stats.ts";
import { beginSession, closeRow, openRow, type Stage } from "./contract-stage.ts";

type Ran = Partial<MessageOpening> & {
  /** Absent: it never ended. */
  end?: Partial<MessageClosing>;
  calls?: readonly Partial<MessageClosing & { modelId: string }>[];
};
const NO_WORK = { files: 0, testsRun: null, testsPassed: null, toolCalls: 0 };

/** What the record promises of figures over many runs. */
export function describeStats(stage: Stage): void {
  let runs = 0;
  /** Records one run with its model calls, and returns its row. */
  async function ran({ end, calls = [], ...more }: Ran): Promise<number> {
    const head = { sessionId: "ses_1", agentRole: "coder", modelId: "a/x", runId: `run_${++runs}`, ...more };
    const id = await openRow(stage.record, head);
    for (const { modelId = head.modelId, ...call } of calls) {
      const about = { ...head, metadata: {}, modelId, parentId: id, type: "continuation" } as const;
      const turn = await openRow(stage.record, about);
      const tokens = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
      await closeRow(stage.record, turn, { durationMs: 1, ...tokens, ...call }, head.sessionId);
    }
    if (end) await closeRow(stage.record, id, { durationMs: 100, ...end }, head.sessionId);
    return id;
  }
  async function begin(): Promise<void> {
    runs = 0;
    await beginSession(stage.record, "ses_1", { project: "/project/a" });
    await beginSession(stage.record, "ses_2", { project: "/project/b" });
  }
  const readTotal = async (query?: StatsQuery) => (await stage.record.readStats(query)).total;

  test("runs are counted by how they ended, with rate, interval and exact percentiles", async () => {
    await begin();
    for (const durationMs of [500, 100, 400]) await ran({ end: { durationMs } });
    await ran({
      end: { durationMs: 300, bailoutReason: "max_iterations", metadata: { result: { partial: true } } },
    });
    await ran({ end: { durationMs: 900, status: "timeout", bailoutReason: "timeout" } });
    await ran({ end: { durationMs: 200, status: "failed" }, metadata: { attempt: 1 } });
    await ran({});
    const { groups, total } = await stage.record.readStats();
    expect(groups).toEqual([{ role: "coder", model: "a/x", ...total }]);
    expect(total).toMatchObject({
      ...{ runs: 7, open: 1, successes: 3, partials: 1, retries: 1, cancelled: 0 },
      failures: { failed: 1, timeout: 1 },
      durationMs: { p50: 300, p95: 900 },
      bailouts: { max_iterations: 1, timeout: 1 },
      success: { rate: 0.5, low: expect.closeTo(0.1876, 4), high: expect.closeTo(0.8124, 4), n: 6 },
    });
    for (let count = 0; count < 4; count++)
      await ran({ end: { status: "cancelled", bailoutReason: "cancelled" } });
    expect(await readTotal()).toMatchObject({ runs: 11, cancelled: 4, success: { rate: 0.5, n: 6 } });
  });

  test("with fewer than five ended runs there are counts, but neither a rate nor percentiles", async () => {
    await begin();
    for (let index = 0; index < 4; index++) await ran({ end: {} });
    await ran({});
    expect(await readTotal()).toMatchObject({ runs: 5, successes: 4, success: null, durationMs: null });
    await ran({ end: {} });
    expect(await readTotal()).toMatchObject({ success: { rate: 1, n: 5 }, durationMs: { p50: 100 } });
  });

  test("tokens and cost are those of a run's own model calls, and failed runs count for the cost of a success", async () => {
    await begin();
    const end = { totalTokens: 999, costUsd: 99 };
    const parentId = await ran({ agentRole: "main", calls: [{ costUsd: 0.5 }], end });
    const below = { type: "delegation", parentId } as const;
    await ran({ ...below, calls: [{ costUsd: 0.25 }, { costUsd: 0.25 }], end: {} });
    await ran({ ...below, calls: [{ costUsd: 1 }], end: { status: "failed" } });
    const { groups, total } = await stage.record.readStats({ by: "role" });
    expect(groups).toMatchObject([
      {
        ...{ role: "coder", runs: 2, costUsd: 1.5, costPerSuccessUsd: 1.5 },
        tokens: { input: 30, output: 15, total: 45 },
      },
      { role: "main", runs: 1, tokens: { total: 15 }, costUsd: 0.5, costPerSuccessUsd: 0.5 },
    ]);
    expect(total).toMatchObject({ runs: 3, tokens: { total: 60 }, costUsd: 2, costPerSuccessUsd: 1 });
  });

  test("one call without a price makes the cost unknown and is named; one that never ended changes nothing", async () => {
    await begin();
    const calls = [{ costUsd: 0.5 }, { costUsd: null, modelId: "b/fallback" }];
    await ran({ calls, end: { status: "failed" } });
    const parentId = await ran({ agentRole: "main", calls: [{ costUsd: 0.5 }] });
    await openRow(stage.record, { parentId, runId: "run_2", type: "continuation", agentRole: "main" });
    const { groups, total } = await stage.record.readStats({ by: "role" });
    const unknown = { costUsd: null, costPerSuccessUsd: null, unpricedModels: ["b/fallback"] };
    expect(groups).toMatchObject([
      { role: "coder", ...unknown },
      { role: "main", runs: 1, open: 1, costUsd: 0.5, costPerSuccessUsd: null, unpricedModels: [] },
    ]);
    expect(total).toMatchObject(unknown);
  });

  test("groups are by role, by model or by both, the largest first", async () => {
    await begin();
    await ran({ end: {} });
    await ran({ end: {}, modelId: "b/y" });
    await ran({ end: {}, modelId: "b/y", agentRole: "main" });
    const names = async (by: "role" | "model" | "both") =>
      (await stage.record.readStats({ by })).groups.map(({ role, model, runs: count }) => [
        role,
        model,
        count,
      ]);
    expect(await names("role")).toEqual([
      ["coder", undefined, 2],
      ["main", undefined, 1],
    ]);
    expect(await names("model")).toEqual([
      [undefined, "b/y", 2],
      [undefined, "a/x", 1],
    ]);
    expect(await names("both")).toEqual([
      ["coder", "a/x", 1],
      ["coder", "b/y", 1],
      ["main", "b/y", 1],
    ]);
  });

  test("each filter leaves out runs and their model calls alike", async () => {
    await begin();
    const calls = [{ costUsd: 0.5 }];
    await ran({ end: {}, calls });
    await ran({ end: {}, calls, sessionId: "ses_2" });
    await ran({ end: {}, calls, agentRole: "main" });
    await ran({ end: {}, calls, modelId: "lone \ud800" });
    await ran({ end: {}, calls, startedAtMs: 9_000 });
    const count = async (query: StatsQuery) => {
      const total = await readTotal(query);
      expect(total.tokens.total).toBe(total.runs * 15);
      return total.runs;
    };
    expect(await count({})).toBe(5);
    expect(await count({ sessionId: "ses_2" })).toBe(1);
    expect(await count({ project: "/project/b" })).toBe(1);
    expect(await count({ project: "/project" })).toBe(0);
    expect(await count({ agent: "main" })).toBe(1);
    expect(await count({ model: "lone \ud800" })).toBe(1);
    expect(await count({ sinceMs: 9_000 })).toBe(1);
    expect(await count({ sinceMs: 9_001 })).toBe(0);
    expect(await count({ agent: "coder", model: "a/x", project: "/project/a", sinceMs: 0 })).toBe(2);
    expect(await count({ agent: "' OR 1=1 --" })).toBe(0);
  });

  test("files, tests and calls are summed as the runs' own and with what is below, each run once", async () => {
    await begin();
    const figures = (files: string[], tests: number) => ({
      ...{ files_created: files, files_modified: [], tests_run: tests, tests_passed: tests - 1 },
      tool_calls_used: 1,
    });
    const spent = (tokens: number, cost: number) => ({
      tokens: { subtree: tokens },
      cost_usd: { subtree: cost },
    });
    const result = { ...figures(["a"], 1), subtree: figures(["a", "b"], 4), ...spent(30, 2) };
    const below = { ...figures(["b"], 3), subtree: figures(["b"], 3), ...spent(10, 1) };
    await ran({ runId: "top", end: { metadata: { result } } });
    await ran({ runId: "under", metadata: { parentRun: "top" }, end: { metadata: { result: below } } });
    const total = await readTotal();
    expect(total.work).toEqual({ files: 2, testsRun: 4, testsPassed: 2, toolCalls: 2 });
    expect(total.subtree).toEqual({
      ...{ files: 2, testsRun: 4, testsPassed: 3, toolCalls: 1 },
      ...{ tokens: 30, costUsd: 2 },
    });
  });

  test("days count what began on them; a run that was cut short, failed or is open is no success", async () => {
    await begin();
    const day = 86_400_000;
    await ran({ end: { costUsd: 1, totalTokens: 2 } });
    await ran({ end: { metadata: { result: { partial: true } }, costUsd: 1 } });
    await ran({ end: { metadata: { result: { partial: false } }, costUsd: 1 } });
    await ran({ end: { status: "failed", costUsd: 1 } });
    await ran({ startedAtMs: day + 1_000, end: { costUsd: null } });
    await ran({ startedAtMs: day + 1_000 });
    expect((await stage.record.readStats()).days).toEqual([
      { day: "1970-01-01", runs: 4, successes: 2, costUsd: 4, tokens: 2 },
      { day: "1970-01-02", runs: 2, successes: 1, costUsd: null, tokens: 0 },
    ]);
  });

  test("nothing recorded gives figures of nothing", async () => {
    expect(await stage.record.readStats()).toEqual({
      groups: [],
      days: [],
      total: {
        ...{ runs: 0, open: 0, successes: 0, partials: 0, cancelled: 0, retries: 0 },
        ...{ failures: {}, bailouts: {}, success: null, durationMs: null },
        tokens: { input: 0, output: 0, total: 0 },
        ...{ costUsd: 0, costPerSuccessUsd: null, unpricedModels: [], work: NO_WORK },
        subtree: { ...NO_WORK, tokens: 0, costUsd: 0 },
      },
    });
  });

  test("figures read aside are those read on the spot", async () => {
    await begin();
    for (let index = 0; index < 50; index++) await ran({ end: { durationMs: index } });
    const query = { project: "/project/a" };
    const [aside, again] = await Promise.all([
      stage.record.readStats({ ...query, aside: true }),
      stage.record.readStats({ ...query, aside: true }),
    ]);
    expect(aside).toEqual(await stage.record.readStats(query));
    expect(again).toEqual(aside);
    expect(aside.total.runs).toBe(50);
  });
}
