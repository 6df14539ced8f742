import fc from "fast-check";
import { expect, test } from "vitest";
import type { Record, RowQuery } from "../record.ts";
import { beginSession, closeRow, makeOpening, openRow, type Stage } from "./contract-stage.ts";

/** Writes two runs with a model call and a tool call each, and a run of another session; gives their ids by name. */
async function writeRuns(record: Record) {
  await beginSession(record);
  await beginSession(record, "ses_2");
  const root = await openRow(record, { requestContent: "r".repeat(600), startedAtMs: 1_000 });
  const turn = await openRow(record, { parentId: root, type: "continuation", requestContent: "t".repeat(9) });
  const call = await openRow(record, {
    ...{ parentId: turn, type: "tool_call", metadata: { tool: "read" }, startedAtMs: 3_000 },
  });
  await closeRow(record, call, { responseContent: "c".repeat(9), completedAtMs: 4_000 });
  const child = await openRow(record, { parentId: turn, type: "delegation", runId: "run_2" });
  const below = await openRow(record, { parentId: child, type: "continuation", runId: "run_2" });
  await closeRow(record, below, { promptTokens: 3, completionTokens: 4, costUsd: 0.5 });
  await closeRow(record, child, { responseContent: "done" });
  const apart = await openRow(record, { sessionId: "ses_2", runId: "run_3" });
  return { root, turn, call, child, below, apart };
}

/** What the record promises of reading rows. */
export function describeRowReading(stage: Stage): void {
  const idsOf = async (query: RowQuery) => (await stage.record.readRows(query)).map(({ id }) => id);

  test("rows are read by session, by runs, by both and by parent, in the order they opened", async () => {
    const { root, turn, call, child, below, apart } = await writeRuns(stage.record);
    expect(await idsOf({ sessionId: "ses_1" })).toEqual([root, turn, call, child, below]);
    expect(await idsOf({ sessionId: "ses_2" })).toEqual([apart]);
    expect(await idsOf({ sessionId: "ses_none" })).toEqual([]);
    expect(await idsOf({ runIds: ["run_2", "run_1"] })).toEqual([root, turn, call, child, below]);
    expect(await idsOf({ sessionId: "ses_1", runIds: ["run_2", "run_3"] })).toEqual([child, below]);
    expect(await idsOf({ sessionId: "ses_1", runIds: [] })).toEqual([]);
    expect(await idsOf({ parentId: turn })).toEqual([call, child]);
    expect(await idsOf({ parentId: call })).toEqual([]);
  });

  test("in each form rows can be only runs or only steps, after a seq, so many, and with their long texts cut", async () => {
    const { record } = stage;
    const { root, turn, call, child, below } = await writeRuns(record);
    const forms: [RowQuery, number[], number[]][] = [
      [{ sessionId: "ses_1" }, [root, child], [turn, call, below]],
      [{ runIds: ["run_1", "run_2"] }, [root, child], [turn, call, below]],
      [{ sessionId: "ses_1", runIds: ["run_1"] }, [root], [turn, call]],
      [{ parentId: turn }, [child], [call]],
    ];
    for (const [query, runs, steps] of forms) {
      expect(await idsOf({ ...query, kind: "runs" })).toEqual(runs);
      expect(await idsOf({ ...query, kind: "steps" })).toEqual(steps);
      expect(await idsOf({ ...query, kind: "steps", limit: 1 })).toEqual(steps.slice(0, 1));
      const all = await record.readRows(query);
      const seq = all[0]?.opened_seq ?? 0;
      expect(await idsOf({ ...query, after: seq })).toEqual(all.slice(1).map(({ id }) => id));
      expect(await idsOf({ ...query, after: seq, limit: 1 })).toEqual(all.slice(1, 2).map(({ id }) => id));
      const cut = await record.readRows({ ...query, chars: 4 });
      expect(cut).toEqual(
        all.map((row) => ({
          ...row,
          request_content: row.request_content?.slice(0, 4) ?? null,
          response_content: row.response_content?.slice(0, 4) ?? null,
        })),
      );
    }
  });

  test("the outline has each run with the run above it, without its answer and with its task cut", async () => {
    const { record } = stage;
    const { root, child } = await writeRuns(record);
    const outline = await record.readOutline({ sessionId: "ses_1" });
    expect(outline).toMatchObject([
      { id: root, parent_run_id: null, request_content: "r".repeat(500) },
      { id: child, parent_run_id: "run_1", status: "completed", response_content: null },
    ]);
    expect(await record.readOutline({ sessionId: "ses_1", after: 1 })).toEqual(outline.slice(1));
    expect(await record.readOutline({ sessionId: "ses_1", limit: 1 })).toEqual(outline.slice(0, 1));
    expect(await record.readOutline({ sessionId: "ses_none" })).toEqual([]);
  });

  test("the log can be read in pages without gap or repetition", async () => {
    const { record } = stage;
    await beginSession(record);
    const first = await record.reserveRowIds(12);
    for (let id = first; id < first + 12; id++)
      void record.write({ kind: "row.open", id, row: makeOpening() });
    for (let id = first + 11; id >= first; id--) void closeRow(record, id);
    await record.committed();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), async (limit) => {
        const seqs: number[] = [];
        for (;;) {
          const page = await record.readLog({ sessionId: "ses_1", after: seqs.at(-1) ?? 0, limit });
          if (page.length === 0) break;
          expect(page.length).toBeLessThanOrEqual(limit);
          seqs.push(...page.map(({ seq }) => seq));
        }
        expect(seqs).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
      }),
    );
    const [opened, closed] = (await record.readLog({ sessionId: "ses_1", after: 11 })).slice(0, 2);
    expect(opened).toMatchObject({ seq: 12, kind: "opened", row: { id: first + 11, closed_seq: 13 } });
    expect(closed).toMatchObject({ seq: 13, kind: "closed", row: { id: first + 11 } });
  });

  test("moments tell when calls began and ended and what they took", async () => {
    const { record } = stage;
    await writeRuns(record);
    const moments = await record.readMoments({ sessionId: "ses_1" });
    const none = { tokens: 0, costUsd: null };
    expect(moments).toEqual([
      { seq: 2, runId: "run_1", tool: null, startedAt: "1970-01-01T00:00:01.000Z", endedAt: null, ...none },
      {
        ...{ seq: 3, runId: "run_1", tool: "read", ...none },
        ...{ startedAt: "1970-01-01T00:00:03.000Z", endedAt: "1970-01-01T00:00:04.000Z" },
      },
      {
        ...{ seq: 6, runId: "run_2", tool: null, tokens: 7, costUsd: 0.5 },
        ...{ startedAt: "1970-01-01T00:00:01.000Z", endedAt: "1970-01-01T00:00:02.000Z" },
      },
    ]);
    expect(await record.readMoments({ sessionId: "ses_1", after: 2, limit: 1 })).toEqual(moments.slice(1, 2));
  });

  test("the last seq and the number of calls are those of the one session", async () => {
    const { record } = stage;
    await writeRuns(record);
    expect(await record.readLastSeq("ses_1")).toBe(8);
    expect(await record.readLastSeq("ses_2")).toBe(1);
    expect(await record.readLastSeq("ses_none")).toBe(0);
    expect(await record.countSteps("ses_1")).toEqual({ turns: 2, calls: 1 });
    expect(await record.countSteps("ses_2")).toEqual({ turns: 0, calls: 0 });
  });

  test("runs and acts are found by how their id begins, six at most, one of exactly this id alone", async () => {
    const { record } = stage;
    await writeRuns(record);
    await record.write({
      kind: "change.open",
      change: {
        ...{ changeId: "chg_1", sessionId: "ses_1", runId: "und_1", messageId: null, root: "/p", path: "a" },
        ...{ source: "undo", before: null, done: true },
      },
    });
    const found = { sessionId: "ses_1", kind: "run" };
    expect(await record.findRuns("run_1")).toEqual([{ ...found, id: "run_1" }]);
    expect(await record.findRuns("run_")).toEqual([
      { ...found, id: "run_1" },
      { ...found, id: "run_2" },
      { ...found, id: "run_3", sessionId: "ses_2" },
    ]);
    expect(await record.findRuns("un")).toEqual([{ ...found, id: "und_1", kind: "act" }]);
    for (const prefix of ["", "%", "run%", "x"]) expect(await record.findRuns(prefix)).toEqual([]);
    for (const tail of ["0", "1", "2", "3"]) await openRow(record, { runId: `run_1${tail}` });
    expect(await record.findRuns("run_1")).toEqual([{ ...found, id: "run_1" }]);
    expect(await record.findRuns("run")).toHaveLength(6);
  });
}
