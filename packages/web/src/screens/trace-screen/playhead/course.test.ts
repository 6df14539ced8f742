import type { TraceApproval, TraceRun } from "@retinue/core/schema/inspect/trace";
import { walkRuns } from "@retinue/core/show/walk-runs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeTraceRun } from "../../../../../../test/fixtures/trace-run.ts";
import { createCourse, describeHappening, stateAt } from "./course.ts";
import type { CallMoment } from "./moments.ts";
import { NOT_BEGUN, runAt, standingAt, standingNow, takeRunCourse } from "./run-at.ts";

const END_MS = 1_000;
const ORIGIN = Date.parse("2026-01-01T00:00:00.000Z");
const iso = (ms: number) => new Date(ORIGIN + ms).toISOString();

function ask(askedMs: number, answeredMs: number | null): TraceApproval {
  return {
    approvalId: "apr_1",
    callId: "c",
    tool: "shell",
    reason: "it is asked",
    askedAt: iso(askedMs),
    answeredAt: answeredMs === null ? null : iso(answeredMs),
    allowed: answeredMs === null ? null : true,
    by: answeredMs === null ? null : "ada",
    note: null,
  };
}

type Made = { roots: TraceRun[]; moments: CallMoment[] };

/** Sessions of any shape: parallel runs, some still open, costs that are not known, questions with and without answers. */
const made: fc.Arbitrary<Made> = fc
  .array(
    fc.record({
      parent: fc.nat(8),
      from: fc.nat(END_MS),
      length: fc.nat(END_MS),
      isOpen: fc.boolean(),
      status: fc.constantFrom("completed", "failed", "timeout", "cancelled"),
      tokens: fc.nat(500),
      costUsd: fc.option(fc.nat(100)),
      asks: fc.array(fc.tuple(fc.nat(200), fc.option(fc.nat(200))), { maxLength: 2 }),
      calls: fc.array(
        fc.record({
          from: fc.nat(300),
          length: fc.nat(300),
          tool: fc.constantFrom(null, "read", "delegate_many"),
          tokens: fc.nat(300),
          costUsd: fc.option(fc.nat(60)),
        }),
        { maxLength: 4 },
      ),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((plans) => {
    const runs: TraceRun[] = [];
    const roots: TraceRun[] = [];
    const moments: CallMoment[] = [];
    for (const [index, plan] of plans.entries()) {
      const parent = runs[plan.parent];
      const startMs = index === 0 ? 0 : Math.min(END_MS, Math.max(plan.from, parent?.startMs ?? 0));
      const lastMs = Math.min(END_MS, startMs + plan.length);
      const own = plan.calls.map(({ from, length, ...rest }): CallMoment => {
        const beganMs = Math.min(lastMs, startMs + from);
        const isOver = !plan.isOpen || length < 250;
        return {
          ...rest,
          runId: `run_a${index}`,
          startMs: beganMs,
          endMs: isOver ? Math.min(lastMs, beganMs + length) : null,
        };
      });
      // Of a run that is open the trace has what its ended turns took; of one that has ended the record's own figures.
      const turns = own.filter(({ tool, endMs }) => tool === null && endMs !== null);
      const tokens = plan.isOpen ? turns.reduce((sum, turn) => sum + turn.tokens, 0) : plan.tokens;
      const known = turns.every(({ costUsd }) => costUsd !== null);
      const costUsd = !plan.isOpen
        ? plan.costUsd
        : known
          ? turns.reduce((sum, turn) => sum + (turn.costUsd ?? 0), 0)
          : null;
      const run = makeTraceRun(`a${index}`, {
        startMs,
        startedAt: iso(startMs),
        endMs: plan.isOpen ? null : lastMs,
        status: plan.isOpen ? "running" : plan.status,
        tokens: { self: tokens, subtree: 0 },
        costUsd: { self: costUsd, subtree: 0 },
        approvals: plan.asks.map(([after, answered]) => {
          const askedMs = Math.min(lastMs, startMs + after);
          return ask(askedMs, answered === null ? null : Math.min(END_MS, askedMs + answered));
        }),
      });
      runs.push(run);
      moments.push(...own);
      (parent?.children ?? roots).push(run);
    }
    return { roots, moments };
  });

const moments = fc.array(fc.nat(END_MS + 50), { minLength: 2, maxLength: 12 });
const inOrder = (times: readonly number[]) => times.toSorted((one, other) => one - other);

describe("the state of a session at a moment", () => {
  test("is the present state at the end", () => {
    fc.assert(
      fc.property(made, fc.constantFrom("running", "interrupted", "waiting"), ({ roots, moments }, state) => {
        const runs = [...walkRuns(roots)];
        const course = createCourse({ roots, moments, endMs: END_MS });
        const now = stateAt(course, END_MS);
        expect(now.begun).toBe(runs.length);
        expect(now.live).toBe(runs.filter(({ endMs }) => endMs === null).length);
        expect(now.failed).toBe(runs.filter(({ status }) => /failed|timeout/.test(status)).length);
        expect(now.turns).toBe(moments.filter(({ tool }) => tool === null).length);
        expect(now.calls).toBe(moments.filter(({ tool }) => tool !== null).length);
        expect(now.tokens).toBe(runs.reduce((sum, run) => sum + run.tokens.self, 0));
        const costs = runs.map((run) => run.costUsd.self);
        if (costs.includes(null)) expect(now.costUsd).toBeNull();
        else expect(now.costUsd).toBeCloseTo(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0));
        for (const run of runs) {
          expect(standingAt(run, END_MS, { endMs: END_MS, state })).toBe(standingNow(run, state));
          expect(runAt(run, END_MS, { ...takeRunCourse(course, run), endMs: END_MS })).toBe(run);
        }
      }),
    );
  });

  test("spending only grows, and an unknown cost stays unknown", () => {
    fc.assert(
      fc.property(made, moments, ({ roots, moments: calls }, times) => {
        const course = createCourse({ roots, moments: calls, endMs: END_MS });
        const states = inOrder(times).map((atMs) => stateAt(course, atMs));
        for (const [index, state] of states.entries()) {
          const before = states[index - 1];
          expect(state.live).toBeGreaterThanOrEqual(0);
          expect(state.waiting).toBeGreaterThanOrEqual(0);
          if (!before) continue;
          for (const figure of ["begun", "failed", "turns", "calls", "tokens"] as const)
            expect(state[figure]).toBeGreaterThanOrEqual(before[figure]);
          if (before.costUsd === null) expect(state.costUsd).toBeNull();
          else if (state.costUsd !== null)
            expect(state.costUsd).toBeGreaterThanOrEqual(before.costUsd - 1e-9);
        }
      }),
    );
  });

  test("counts as many live runs as are shown as live, and a run that ended never counts again", () => {
    fc.assert(
      fc.property(made, moments, ({ roots, moments: calls }, times) => {
        const course = createCourse({ roots, moments: calls, endMs: END_MS });
        const present = { endMs: END_MS, state: "running" };
        const gone = new Set<string>();
        for (const atMs of inOrder(times)) {
          let live = 0;
          for (const run of walkRuns(roots)) {
            const standing = standingAt(run, atMs, present);
            const isLive = standing === "running" || standing === "waiting";
            if (isLive) live++;
            else if (standing !== NOT_BEGUN) gone.add(run.runId);
            expect(isLive && gone.has(run.runId)).toBe(false);
          }
          expect(stateAt(course, atMs).live).toBe(live);
        }
      }),
    );
  });

  test("shows of a run only what was known then", () => {
    fc.assert(
      fc.property(made, fc.nat(END_MS - 1), ({ roots, moments: calls }, atMs) => {
        const course = createCourse({ roots, moments: calls, endMs: END_MS });
        for (const run of walkRuns(roots)) {
          const then = runAt(run, atMs, { ...takeRunCourse(course, run), endMs: END_MS });
          if (run.endMs !== null && run.endMs <= atMs) expect(then).toBe(run);
          else
            expect(then).toMatchObject({
              endMs: null,
              result: null,
              error: null,
              files: [],
              status: "running",
            });
          expect(then.children.every(({ startMs }) => startMs <= atMs || then === run)).toBe(true);
        }
      }),
    );
  });
});

test("a run is marked as waiting from the question to the answer", () => {
  const run = makeTraceRun("a", { endMs: 900, approvals: [ask(100, 600)] });
  const at = (ms: number) => standingAt(run, ms, { endMs: END_MS, state: "completed" });
  expect([99, 100, 599, 600, 900].map(at)).toEqual(["running", "waiting", "waiting", "running", "completed"]);
  const course = createCourse({ roots: [run], moments: [], endMs: END_MS });
  expect([99, 100, 599, 600].map((ms) => stateAt(course, ms).waiting)).toEqual([0, 1, 1, 0]);
  const then = runAt(run, 300, { ...takeRunCourse(course, run), endMs: END_MS });
  expect(then.approvals).toMatchObject([{ allowed: null, by: null, answeredAt: null }]);
});

test("steps go through runs, turns, calls and questions in the order of time", () => {
  const child = makeTraceRun("b", { startMs: 300, endMs: 700, status: "failed" });
  const root = makeTraceRun("a", { endMs: 900, approvals: [ask(100, 200)] }, [child]);
  const calls = [
    { runId: "run_a", tool: null, startMs: 0, endMs: 90, tokens: 1, costUsd: 0 },
    { runId: "run_b", tool: "read", startMs: 400, endMs: 500, tokens: 0, costUsd: null },
  ];
  const { happenings, times } = createCourse({ roots: [root], moments: calls, endMs: END_MS });
  expect(happenings.map((each) => `${each.run?.agent} ${describeHappening(each)}`)).toEqual([
    "a takes a turn",
    "a began",
    "a asks to use shell",
    "a has an answer about shell",
    "b began",
    "b calls read",
    "b ended: failed",
    "a ended: done",
  ]);
  expect([...times]).toEqual([0, 0, 100, 200, 300, 400, 700, 900]);
});
