import type { RunStats } from "@retinue/core/schema/stats";
import { expect, test } from "vitest";
import { drawStats, showSuccess } from "./stats.ts";

function figures(more: Partial<RunStats> = {}): RunStats {
  return {
    runs: 6,
    open: 0,
    successes: 5,
    partials: 0,
    cancelled: 0,
    failures: { failed: 1 },
    success: { rate: 5 / 6, low: 0.4365, high: 0.9699, n: 6 },
    durationMs: { p50: 1_500, p95: 65_000 },
    tokens: { input: 1_000, output: 234, total: 1_234 },
    costUsd: 0.5,
    work: { files: 0, testsRun: null, testsPassed: null, toolCalls: 0 },
    subtree: { files: 0, testsRun: null, testsPassed: null, toolCalls: 0, tokens: 1_234, costUsd: 0.5 },
    costPerSuccessUsd: 0.1,
    unpricedModels: [],
    retries: 0,
    bailouts: {},
    ...more,
  };
}

test("figures are aligned, and the line of totals comes last", () => {
  const few = figures({
    runs: 3,
    open: 1,
    successes: 0,
    partials: 1,
    failures: { timeout: 1 },
    success: null,
    durationMs: null,
    tokens: { input: 0, output: 0, total: 15 },
    subtree: { ...figures().subtree, tokens: 15 },
    costUsd: null,
    costPerSuccessUsd: null,
    retries: 1,
    bailouts: { max_iterations: 2, timeout: 1 },
  });
  const stats = {
    groups: [
      { role: "coder", model: "a/x", ...figures() },
      { role: "main", model: "b/y", ...few },
    ],
    total: figures({ costUsd: null, costPerSuccessUsd: null, retries: 2_000 }),
  };
  expect(drawStats(stats, "both")).toEqual([
    "ROLE   MODEL  RUNS  OK  PARTIAL  FAILED  SUCCESS                 P50    P95  TOKENS   COST  COST/OK  NOTES",
    "coder  a/x       6   5        0       1  83 % (44–97, n=6)      1.5s  1m05s   1,234  $0.50    $0.10",
    "main   b/y       3   0        1       1  not enough data (n=2)     –      –      15     $?        –  1 timeout · 1 retry · stopped by max_iterations ×2, timeout · 1 not ended",
    "TOTAL            6   5        0       1  83 % (44–97, n=6)      1.5s  1m05s   1,234     $?       $?  2,000 retries",
  ]);
});

test("a cancelled run is not a failure, and tests, files and sub-agents' tokens are in the notes", () => {
  const work = { files: 3, testsRun: 14, testsPassed: 12, toolCalls: 9 };
  const total = figures({ runs: 8, cancelled: 2, work, subtree: { ...work, tokens: 20_000, costUsd: null } });
  const [, line] = drawStats({ groups: [], total }, "role");
  expect(line).toMatch(/^TOTAL +8 +5 +0 +1 /);
  expect(line).toMatch(
    /2 cancelled · 12 of 14 tests passed · 3 files · with sub-agents 20,000 tokens, \$\?$/,
  );
});

test("by role there is no column of models, and by model none of roles", () => {
  const heads = (["role", "model"] as const).map(
    (by) => drawStats({ groups: [{ [by]: "name", ...figures() }], total: figures() }, by)[0],
  );
  expect(heads).toEqual([expect.stringMatching(/^ROLE +RUNS/), expect.stringMatching(/^MODEL +RUNS/)]);
});

test("0 % and 100 % are shown only for exact shares", () => {
  const show = (rate: number, low: number, high: number) =>
    showSuccess(figures({ success: { rate, low, high, n: 1_000 } }));
  expect(show(0.999, 0.994, 0.9998)).toBe("99 % (99–99, n=1,000)");
  expect(show(0.001, 0.0002, 0.006)).toBe("1 % (1–1, n=1,000)");
  expect(show(1, 0.996, 1)).toBe("100 % (99–100, n=1,000)");
  expect(show(0, 0, 0.004)).toBe("0 % (0–1, n=1,000)");
});

test("names from the record cannot steer the terminal or break the table", () => {
  const role = "x\u001b[2J\ny\u202e";
  const text = drawStats(
    {
      groups: [{ role, model: null, ...figures({ bailouts: { [role]: 1 }, failures: { [role]: 1 } }) }],
      total: figures(),
    },
    "both",
  );
  expect(text).toHaveLength(3);
  expect(text[1]).toMatch(/^x y +\? +6/);
  for (const control of ["\u001b", "\u202e", "\n"]) expect(text.join("")).not.toContain(control);
});
