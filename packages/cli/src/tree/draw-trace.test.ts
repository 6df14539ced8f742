import type { SessionState, Trace } from "@retinue/core/schema/inspect/trace";
import { buildTrace } from "@retinue/core/trace/trace-tree";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRows, type RowOf } from "../../../../test/fixtures/made-rows.ts";
import { measureWidth } from "../text-layout.ts";
import { createCanvas } from "./canvas.ts";
import { drawTrace, type TraceDrawing } from "./draw-trace.ts";

const STARTED = "2026-01-01T00:00:00.000Z";

function made(fill: (rows: RowOf) => void, state: SessionState = "completed", nowMs = 0): Trace {
  const rows = createRows();
  fill(rows);
  const session = {
    session_id: "ses_1",
    title: "t",
    project: "/p",
    workspace: "/w",
    created_at: STARTED,
    updated_at: STARTED,
    status: state === "completed" ? ("completed" as const) : ("running" as const),
    metadata_json: null,
  };
  return buildTrace({ session, state, rows: rows.list, nowMs: Date.parse(STARTED) + nowMs });
}

function draw(trace: Trace, drawing: TraceDrawing = {}, width = 100): string[] {
  return drawTrace(trace, createCanvas({ width }), drawing);
}

function family(rows: RowOf): void {
  const main = rows.run("main", [0, 10_000], { iterations: 2, costUsd: 0.1234 });
  const first = rows.turn(main, [0, 2_000]);
  rows.call(first, "read", "ok", [2_000, 2_500]);
  rows.call(first, "read", "cached", [2_000, 2_500]);
  rows.call(first, "write", "denied", [2_500, 2_600], { error_message: "not allowed", status: "failed" });
  rows.turn(rows.run("a", [3_000, 6_000], { above: first, costUsd: 0 }), [3_000, 6_000]);
  rows.turn(
    rows.run("b", [6_500, 8_000], { above: first, status: "timeout", error: "too\nslow" }),
    [6_500, 8_000],
  );
  rows.turn(main, [8_000, 10_000]);
}

test("a trace without runs is drawn as nothing", () => {
  expect(draw(made(() => {}))).toEqual([]);
});

test("a tree has a line per run with its figures, and all bars share one time axis", () => {
  expect(draw(made(family))).toMatchInlineSnapshot(`
    [
      "RUN                                             TIME    TOKENS     COST  0             5.0s    10.0s",
      "✅ completed main "task of main"               10.0s        10    $0.12  ████████─────────────██████",
      "│  2 turns · tools: read ×2, write (1 denied)",
      "├─ ✅ completed a "task of a"                   3.0s        10       $0          █████████",
      "└─ ⏱ timeout b "task of b"                      1.5s        10       $?                   █████",
      "      error: too slow",
      "",
      "█ at work · ─ waiting",
    ]
  `);
});

test("parallel runs are marked and overlap in their column, those that follow each other do not", () => {
  const lines = draw(
    made((rows) => {
      const turn = rows.turn(rows.run("main", [0, 8_000]), [0, 1_000]);
      rows.run("a", [1_000, 4_000], { above: turn });
      rows.run("b", [2_000, 3_000], { above: turn });
      rows.run("c", [5_000, 8_000], { above: turn });
    }),
  );
  const bars = lines.slice(1, 5).map((line) => line.slice(lines[0]?.indexOf(" 0 ")));
  const findSpan = (bar: string | undefined) => [bar?.search(/\S/) ?? 0, bar?.trimEnd().length ?? 0];
  const [, a = [0, 0], b = [0, 0], c = [0, 0]] = bars.map(findSpan);
  expect(b[0]).toBeGreaterThan(a[0] ?? 0);
  expect(b[1]).toBeLessThan(a[1] ?? 0);
  expect(c[0]).toBeGreaterThan(a[1] ?? 0);
  expect(lines[2]).toMatch(/^├─ ∥ ✅ completed a/);
  expect(lines[3]).toMatch(/^├─ ∥ ✅ completed b/);
  expect(lines[4]).toMatch(/^└─ ✅ completed c/);
  expect(lines.at(-1)).toContain("∥ at the same time as a sibling");
});

test("the seqs of the record decide what was parallel, not clocks", () => {
  const lines = draw(
    made((rows) => {
      const turn = rows.turn(rows.run("main", [0, 10], { seqs: [1, 9] }), [0, 1]);
      rows.run("a", [5, 6], { above: turn, seqs: [2, 5] });
      rows.run("b", [5, 6], { above: turn, seqs: [6, 7] });
    }),
  );
  expect(lines.join("\n")).not.toContain("∥");
});

test("calls are shown in their order when asked for, and runs of a batch hang from its run", () => {
  const lines = draw(
    made((rows) => {
      const turn = rows.turn(rows.run("main", [0, 100]), [0, 10]);
      rows.call(turn, "read", "error", [10, 12], {
        error_message: "no such file",
        request_content: '{"path":"x"}',
      });
      const batch = rows.call(turn, "delegate_many", "ok", [20, 90], { request_content: "{}" });
      rows.run("a", [30, 80], { above: batch });
    }),
    { calls: true },
  );
  expect(lines[2]).toMatch(/^├─ ❌ error read {"path":"x"}: no such file +2ms +▌$/);
  expect(lines[3]).toMatch(/^├─ ✅ ok delegate_many {} +70ms/);
  expect(lines[4]).toMatch(/^└─ ✅ completed a/);
});

test("retries, repeated model calls and the reasons of partial ends are shown", () => {
  const metadata = { attempt: 2, task: "the real task", result: { partial: true } };
  const lines = draw(
    made((rows) => {
      const run = rows.run("a", [0, 100], { metadata, bailout: "max_iterations" });
      rows.turn(run, [0, 10], { status: "failed" });
      rows.turn(run, [10, 100]);
    }),
  );
  expect(lines[1]).toMatch(/^⚠\S* partial a "the real task" /);
  expect(lines[2]).toBe("   1 turn · retry 2 · 1 model call repeated · stopped by max_iterations");
});

test("a running run is drawn up to now with what it has spent, an interrupted one up to its last row", () => {
  const open = (rows: RowOf) => {
    const run = rows.run("a", [0]);
    rows.turn(run, [0, 1_000], { prompt_tokens: 70, completion_tokens: 5, cost_usd: 0.5 });
    rows.turn(run, [1_000]);
  };
  expect(draw(made(open, "running", 2_500))[1]).toMatch(/^⏳ running a .* 2\.5s +75 +\$0\.50 {2}█+$/);
  expect(draw(made(open, "interrupted", 999_999))[1]).toMatch(/^⏸ interrupted a .* 1\.0s/);
});

test("a long stretch without work is left out, and the drawing says so", () => {
  const lines = draw(
    made((rows) => {
      rows.run("main", [0, 5_000]);
      rows.run("main", [7_205_000, 7_210_000]);
    }),
  );
  expect(lines[0]).toMatch(/0 +\+2h00m$/);
  expect(lines[1]?.trimEnd()).toMatch(/[█─]{8,}┊$/);
  expect(lines[2]).toMatch(/┊[█─]{8,}$/);
  expect(lines.at(-1)).toContain("┊ 2h00m without work left out");
});

test("with many runs the upper ones and the failures are shown, and the others are counted in their place", () => {
  const trace = made((rows) => {
    const top = rows.turn(rows.run("main", [0, 1_000]), [0, 10]);
    for (let parent = 0; parent < 5; parent++) {
      const turn = rows.turn(rows.run(`p${parent}`, [10, 900], { above: top }), [10, 20]);
      for (let child = 0; child < 20; child++)
        rows.run(`c${parent}.${child}`, [20, 800], {
          above: turn,
          ...(parent === 3 && child === 17 && { status: "failed" as const }),
        });
    }
  });
  const lines = draw(trace, { limit: 12 });
  const text = lines.join("\n");
  expect(text).toMatch(/│ {2}├─ ∥ ❌ failed c3\.17/);
  for (let parent = 0; parent < 5; parent++) expect(text).toContain(`completed p${parent} `);
  expect(text.match(/completed c/g)).toHaveLength(5);
  expect(text).toContain("│  └─ … 19 more runs (19 completed)");
  expect(text).toContain("│  └─ … 18 more runs (18 completed)");
  expect(lines.at(-1)).toMatch(/^12 of 106 runs are shown: --limit for more/);
});

test("hostile text in a task cannot break the drawing", () => {
  const lines = draw(
    made((rows) => {
      rows.run("a\u001b[31m", [0, 1], { task: "x\u001b[2J\n\ny\u202e", metadata: "not json" });
    }),
  );
  expect(lines[1]).toContain('a "x y"');
});

test("the phases of an intent flow are drawn, with their six fields when calls are asked for", () => {
  const context = (status: string, result: object = {}) => ({
    request: "send it",
    tools: ["send"],
    params: { to: "jo" },
    status,
    result,
    notes: "careful\u001b[2J",
  });
  const trace = made((rows) => {
    const run = rows.run("email", [0, 30], {
      metadata: { result: { context: context("complete", { message_id: "m1" }) } },
    });
    for (const [index, phase] of ["assess", "execute", "format"].entries())
      rows.turn(run, [index * 10, index * 10 + 10], {
        metadata_json: JSON.stringify({ phase, context: context(index === 0 ? "planning" : "executing") }),
      });
  });
  expect(draw(trace)[2]).toBe("   phases: assess → execute → format → complete");
  const lines = draw(trace, { calls: true });
  expect(lines.slice(2, 9)).toEqual([
    "   phase: assess",
    "     REQUEST: send it",
    "     TOOLS: send",
    '     PARAMS: {"to":"jo"}',
    "     STATUS: planning",
    "     RESULT: {}",
    "     Notes: careful",
  ]);
  expect(lines).toContain('     RESULT: {"message_id":"m1"}');
});

test("a terminal without Unicode gets ASCII and nothing else", () => {
  const lines = drawTrace(made(family), createCanvas({ width: 80, unicode: false }), { calls: false });
  expect(lines[2]).toBe("|  2 turns - tools: read x2, write (1 denied)");
  expect(lines.join("\n")).toMatch(/^[\x20-\x7e\n]+$/);
});

const node = fc.letrec((tie) => ({
  run: fc.record({
    agent: fc.string({ unit: "grapheme", maxLength: 12 }),
    task: fc.string({ unit: "binary", maxLength: 80 }),
    from: fc.nat(100_000),
    length: fc.option(fc.nat(50_000), { nil: undefined }),
    status: fc.constantFrom("completed", "failed", "cancelled", "timeout"),
    below: fc.oneof({ depthSize: "small" }, fc.constant([]), fc.array(tie("run"), { maxLength: 4 })),
  }),
}));

test("no line is wider than the canvas, whatever runs there are", () => {
  fc.assert(
    fc.property(
      fc.array(node.run, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 60, max: 220 }),
      fc.boolean(),
      (runs, width, unicode) => {
        const trace = made((rows) => plant(rows, runs, undefined), "interrupted");
        for (const line of drawTrace(trace, createCanvas({ width, unicode }), {
          calls: true,
          limit: 20,
        }).slice(0, -1))
          expect(measureWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 60 },
  );
});

function plant(rows: RowOf, runs: readonly unknown[], above: Parameters<RowOf["turn"]>[0] | undefined): void {
  for (const one of runs as readonly MadeNode[]) {
    const span =
      one.length === undefined ? ([one.from] as const) : ([one.from, one.from + one.length] as const);
    const run = rows.run(one.agent, span, {
      task: one.task,
      ...(above && { above }),
      ...(one.length !== undefined && { status: one.status }),
      error: one.task,
    });
    const turn = rows.turn(run, [one.from, one.from + 10]);
    rows.call(turn, one.agent, "error", [one.from, one.from + 5], { request_content: one.task });
    plant(rows, one.below, turn);
  }
}

type MadeNode = {
  agent: string;
  task: string;
  from: number;
  length: number | undefined;
  status: "completed" | "failed";
  below: readonly MadeNode[];
};
