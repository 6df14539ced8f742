import { expect, test } from "vitest";
import {
  callDelegate,
  callTools,
  failWith,
  hang,
  say,
  type TestRuntime,
  testRuntime,
} from "../testing/index.ts";

const streaming = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
const resultsOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []));

test("a run that fails ends its children first, and nothing of them stays open", async () => {
  const calls = callTools(
    ["quick", "slow"].map((agent) => ({ tool: "delegate", input: { agent, task: "x" } })),
  );
  await using t = testRuntime(
    { lead: [calls, failWith("auth", "no key")], quick: [say("done")], slow: [hang()] },
    { agents: streaming },
  );
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.status).toBe("failed");
  expect(t.trace()).toEqual(["lead > quick: completed", "lead > slow: cancelled", "lead: failed"]);
  const rows = await t.runtime.record.readRows({ sessionId: result.session_id });
  expect(rows.filter((row) => row.closed_seq === null)).toEqual([]);
  const closed = (agent: string) =>
    rows.find((row) => row.agent_role === agent && row.request_type !== "continuation")?.closed_seq ?? 0;
  expect(closed("slow")).toBeLessThan(closed("lead"));
});

test("a run that has ended can no longer be stopped, held or spoken to, although its session goes on", async () => {
  const acts: boolean[] = [];
  await using t = testRuntime({
    lead: [
      callDelegate("worker", "x"),
      () => {
        const { run_id: id } = resultsOf(t, "worker")[0] ?? { run_id: "" };
        acts.push(t.runtime.cancel(id), t.runtime.pause(id), t.runtime.steer(id, "more"));
        return say("done");
      },
    ],
    worker: [say("done")],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(acts).toEqual([false, false, false]);
});

test("a child beyond the limit of runs fails with what it owed, and its parent goes on", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), say("alone, then")], worker: [] },
    { settings: { maxAgents: 1 }, agents: { worker: { deliverables: [{ file: "report.md" }] } } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(resultsOf(t, "worker")).toMatchObject([
    {
      status: "failed",
      error: { type: "spawn_limit" },
      deliverables: [{ deliverable: "report.md", ok: false, reason: "the run did not begin" }],
    },
  ]);
});

const owing = { worker: { deliverables: [{ file: "report.md" }], retry: { attempts: 0 } } };

test("what a second run of the same agent leaves out again is missing once, by its own account", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "x"), callDelegate("worker", "again"), say("done")],
      worker: () => say("done"),
    },
    { agents: owing },
  );
  const { status, unmet } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(status).toBe("failed");
  expect(unmet).toMatchObject([{ deliverable: "report.md", run_id: resultsOf(t, "worker")[1]?.run_id }]);
});

test("a run that was cancelled stays cancelled, also if a child had left something out", async () => {
  await using t = testRuntime(
    { lead: [callDelegate("worker", "x"), hang()], worker: () => say("done") },
    { agents: owing, lenient: true },
  );
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  while (t.models.lead?.requests.length !== 2) await new Promise((resolve) => setImmediate(resolve));
  t.runtime.cancel(sessionId);
  expect(await result).toMatchObject({ status: "cancelled", unmet: [{ deliverable: "report.md" }] });
});
