import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { Delegations } from "../run/delegations.ts";
import { failedResult, unstartedResult } from "../schema/failed-result.ts";
import type { RunResult } from "../schema/result.ts";
import { deliver } from "./deliver.ts";

/** A run and what it has asked of others: each by its id, ended so, or still running. */
async function ask(results: Readonly<Record<string, Partial<RunResult> | "running">>) {
  const { run } = makeRun();
  const delegations = new Delegations(
    () => 1,
    (_, ended) => ended,
  );
  const all = Object.entries(results).map(([id, more]) => {
    const about = { id, agent: "scout", callId: "a", task: `task of ${id}` };
    const ended =
      more === "running" ? new Promise<RunResult>(() => {}) : Promise.resolve(resultWith(id, more));
    return delegations.track(about, ended);
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { children: { parent: run, delegations }, all };
}

function resultWith(runId: string, more: Partial<RunResult>): RunResult {
  const about = { runId, sessionId: "ses_1", agent: "scout" };
  if (more.bailout_reason === "not_started") return unstartedResult(about, "it was not needed");
  const { error: _, ...base } = failedResult(about, {
    type: "failed",
    message: `SAID BY ${runId}`,
    recoverable: false,
  });
  return { ...base, ...GOOD, ...more };
}

const GOOD = { status: "completed", success: true } as const;
const CUT = { success: false, partial: true, bailout_reason: "max_iterations" } as const;
const FAILED = {
  status: "failed",
  success: false,
  error: { type: "auth", message: "no key", recoverable: false },
} as const;
const UNSTARTED = { bailout_reason: "not_started" } as const;
const order = (text: string) => [...text.matchAll(/run_id="(\w+)"/g)].map(([, id]) => id);

test("a result is given once, and what was given or still runs is told to the record", async () => {
  const { children, all } = await ask({ a: {}, b: "running" });
  const first = deliver(children, all, "all");
  expect(order(first.text)).toEqual(["a"]);
  expect(first.text).toContain("still running: b (scout): task of b");
  expect(first.children).toEqual({ delivered: ["a"], running: [{ id: "b", agent: "scout", callId: "a" }] });
  expect(children.delegations.undelivered().map(({ id }) => id)).toEqual(["b"]);
  const again = deliver(children, all, "ended");
  expect(order(again.text)).toEqual([]);
  expect(again.children?.delivered).toEqual([]);
});

test("a batch that ended leaves nothing for the record to know, a collection always does", async () => {
  const { children, all } = await ask({ a: {}, b: {} });
  expect(deliver(children, all, "all")).not.toHaveProperty("children");
  const other = await ask({ a: {} });
  expect(deliver(other.children, other.all, "ended").children).toEqual({ delivered: ["a"], running: [] });
});

test("who collects some is told of everything else that still runs", async () => {
  const { children, all } = await ask({ a: {}, b: "running" });
  expect(deliver(children, all.slice(0, 1), "ended").text).toContain("still running: b");
  const { children: others, all: both } = await ask({ a: {}, b: "running" });
  expect(deliver(others, both.slice(0, 1), "all").text).not.toContain("still running");
});

test("what did not go well is read first, and each kind in its order", async () => {
  const { children, all } = await ask({ a: {}, b: FAILED, c: {}, d: CUT });
  const { text } = deliver(children, all, "all");
  expect(order(text)).toEqual(["b", "d", "a", "c"]);
  expect(text.split("\n")[0]).toBe("2 succeeded, 1 cut short at 0 turns (d), 1 failed (b)");
});

test("an answer is an error only if nothing of it can be worked with", async () => {
  const isError = async (results: Parameters<typeof ask>[0]) => {
    const { children, all } = await ask(results);
    return deliver(children, all, "all").isError;
  };
  expect(await isError({ a: FAILED, b: FAILED })).toBe(true);
  expect(await isError({ a: FAILED, b: {} })).toBe(false);
  expect(await isError({ a: CUT })).toBe(false);
  expect(await isError({ a: FAILED, b: "running" })).toBe(false);
});

test("one result with untrusted text or private data is enough, wherever it stands", async () => {
  const knows = async (results: Parameters<typeof ask>[0]) => {
    const { children, all } = await ask(results);
    const { tainted, privateData } = deliver(children, all, "all");
    return [tainted, privateData];
  };
  expect(await knows({ a: {}, b: {} })).toEqual([false, false]);
  expect(await knows({ a: { tainted: true }, b: {} })).toEqual([true, false]);
  expect(await knows({ a: {}, b: { private_data: true }, c: {} })).toEqual([false, true]);
});

test("the first line counts each task once, and names those that did not go well", async () => {
  const { children, all } = await ask({ a: {}, b: UNSTARTED, c: FAILED, d: "running" });
  expect(deliver(children, all, "all").text.split("\n")[0]).toBe(
    "1 succeeded, 1 failed (c), 1 not started (b), 1 still running",
  );
  const many = Object.fromEntries(Array.from({ length: 22 }, (_, index) => [`t${index}`, CUT]));
  const cut = await ask(many);
  const [head = ""] = deliver(cut.children, cut.all, "all").text.split("\n");
  expect(head.match(/cut short at/g)).toHaveLength(20);
  expect(head).toMatch(/, 2 more cut short$/);
  const one = await ask({ a: {} });
  expect(deliver(one.children, one.all, "all").text).toMatch(/^<subagent_result/);
});

test("an answer too long to be told whole begins with a line per task, those that did not go well first", async () => {
  const long = "x".repeat(60_000);
  const summary = "<system> some\nlines";
  const { children, all } = await ask({
    a: { details: long, summary },
    b: { ...FAILED, details: long, summary },
  });
  const [head, first, second] = deliver(children, all, "all").text.split("\n");
  expect(head).toBe("1 succeeded, 1 failed (b)");
  expect(first).toBe("b failed (auth): &lt;system> some lines");
  expect(second).toBe("a completed: &lt;system> some lines");
  const owing = { deliverable: "a.md", ok: false, reason: "it is not there", files: [] };
  const { children: asker, all: owed } = await ask({
    a: { ...FAILED, details: long, deliverables: [owing] },
  });
  expect(deliver(asker, owed, "all").text.split("\n")[2]).toMatch(/COMPLIANCE ERROR: scout .*a\.md/);
});
