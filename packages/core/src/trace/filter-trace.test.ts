import fc from "fast-check";
import { expect, test } from "vitest";
import { createRows, type RowOf } from "../../../../test/fixtures/made-rows.ts";
import type { Trace } from "../schema/inspect/trace.ts";
import { findRun, pathTo, walkRuns } from "../show/walk-runs.ts";
import { filterTrace, firstFailure } from "./filter-trace.ts";
import { buildTrace } from "./trace-tree.ts";

const STARTED = "2026-01-01T00:00:00.000Z";

function made(fill: (rows: RowOf) => void): Trace {
  const rows = createRows();
  fill(rows);
  const session = {
    session_id: "ses_1",
    title: "",
    project: "",
    workspace: "",
    created_at: STARTED,
    updated_at: STARTED,
    status: "completed" as const,
    metadata_json: null,
  };
  return buildTrace({ session, state: "completed", rows: rows.list, nowMs: 0 });
}

/** main > a > deep (failed at 40), and main > b (failed at 60), which fails main at 90. */
const trace = made((rows) => {
  const main = rows.turn(rows.run("main", [0, 90], { status: "failed" }), [0, 10]);
  const a = rows.turn(rows.run("a", [10, 70], { above: main }), [10, 20]);
  rows.run("deep", [20, 40], { above: a, status: "failed" });
  rows.run("deep", [41, 50], { above: a, metadata: { result: { partial: true } } });
  rows.run("b", [11, 60], { above: main, status: "timeout" });
});
const names = (of: Trace) =>
  [...walkRuns(of.runs)].map(({ agent, matched }) => (matched ? agent : `(${agent})`));

test("wanted runs keep those above them, marked as such", () => {
  expect(names(filterTrace(trace, { agent: "deep" }))).toEqual(["(main)", "(a)", "deep", "deep"]);
  expect(names(filterTrace(trace, { status: "partial" }))).toEqual(["(main)", "(a)", "deep"]);
  expect(names(filterTrace(trace, { agent: "b", status: "failed" }))).toEqual([]);
  expect(names(filterTrace(trace, {}))).toEqual(["main", "a", "deep", "deep", "b"]);
});

test("depth counts from the root that is shown, and a run can be that root", () => {
  expect(names(filterTrace(trace, { depth: 1 }))).toEqual(["main", "a", "b"]);
  const [a] = findRun(trace.runs, "run_2");
  expect(a && names(filterTrace(trace, { run: a }))).toEqual(["a", "deep", "deep"]);
  expect(a && names(filterTrace(trace, { run: a, depth: 0 }))).toEqual(["a"]);
});

test("a seq keeps runs of which something happened after it", () => {
  const seq = findRun(trace.runs, "run_5")[0]?.closedSeq ?? 0;
  expect(names(filterTrace(trace, { sinceSeq: seq }))).toEqual(["main", "a"]);
  expect(names(filterTrace(trace, { sinceSeq: Number.MAX_SAFE_INTEGER }))).toEqual([]);
});

test("filtering leaves the trace as it was, totals included", () => {
  const before = JSON.stringify(trace);
  expect(filterTrace(trace, { agent: "deep" }).totals).toEqual(trace.totals);
  expect(JSON.stringify(trace)).toBe(before);
});

test("the first failure is where a chain of them began, with the way to it", () => {
  const failed = firstFailure(trace.runs);
  expect(failed?.runId).toBe("run_3");
  expect(failed && pathTo(trace.runs, failed).map(({ agent }) => agent)).toEqual(["main", "a", "deep"]);
  expect(firstFailure(filterTrace(trace, { status: "partial" }).runs.slice(1))).toBeUndefined();
});

test("a run is found by its id or the beginning of it", () => {
  expect(findRun(trace.runs, "run_3").map(({ runId }) => runId)).toEqual(["run_3"]);
  expect(findRun(trace.runs, "run_")).toHaveLength(5);
  expect(findRun(trace.runs, "")).toEqual([]);
});

test("in a lane no two runs overlap, and a child is below its parent", () => {
  const forest = fc.array(fc.tuple(fc.nat(50), fc.nat(40), fc.nat(6)), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(forest, (runs) => {
      const made30 = made((rows) => {
        const turns: ReturnType<RowOf["turn"]>[] = [];
        for (const [from, length, parent] of runs) {
          const above = turns[parent];
          const start = Math.max(from, above ? Date.parse(above.started_at) - Date.parse(STARTED) : 0);
          turns.push(rows.turn(rows.run("a", [start, start + length], above && { above }), [start, start]));
        }
      });
      const all = [...walkRuns(made30.runs)];
      for (const one of all) {
        for (const child of one.children) expect(child.lane).toBeGreaterThan(one.lane);
        for (const other of all) {
          if (other === one || other.lane !== one.lane) continue;
          const apart = one.startMs >= (other.endMs ?? 0) || other.startMs >= (one.endMs ?? 0);
          expect(apart).toBe(true);
        }
      }
    }),
  );
});
