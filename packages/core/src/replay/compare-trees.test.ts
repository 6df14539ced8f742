import { expect, test } from "vitest";
import { type MadeRun, writeSession } from "../../../../test/fixtures/recorded-session.ts";
import { readTree } from "../record/read-tree.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { compareTrees } from "./compare-trees.ts";
import { RecordedSession } from "./recorded-session.ts";

const began = { metadata: { snapshot: "x" } };
const worker: MadeRun = { agent: "worker", task: "w", from: 10, to: 20, ...began };
const scout: MadeRun = { agent: "scout", task: "s", from: 30, to: 40, ...began };
const lead = (...runs: MadeRun[]): MadeRun => ({ agent: "lead", task: "go", from: 0, to: 100, runs });

/** The record of a session; its runs have ids by agent, as a replay gives them again. */
async function recordOf(root: MadeRun): Promise<RecordedSession> {
  const record = createSqliteRecord({ path: ":memory:" });
  await writeSession(record, { sessionId: "ses_1", title: "t", runs: [root] });
  await record.committed();
  const roots = await readTree(record, "ses_1");
  const left = [...roots];
  for (let node = left.pop(); node; node = left.pop()) {
    if (node.request_type !== "tool_call") node.run_id = `run_${node.agent_role}`;
    left.push(...node.children);
  }
  await record.close();
  return new RecordedSession(roots, () => undefined);
}
const compare = async (then: MadeRun, now: MadeRun) =>
  compareTrees(await recordOf(then), await recordOf(now));

test("the same runs with the same ends are no difference", async () => {
  expect(await compare(lead(worker, scout), lead(worker, scout))).toBeNull();
});

test("a run that ended in another way is told with both ends", async () => {
  expect(await compare(lead(worker), lead({ ...worker, status: "failed" }))).toMatchObject({
    run: "lead > worker",
    recorded: expect.stringContaining("completed after"),
    now: expect.stringContaining("failed after"),
  });
});

test("a run that is missing now, and one that is new, are told", async () => {
  expect(await compare(lead(worker), lead())).toMatchObject({
    run: "lead > worker",
    now: "it is not started",
  });
  expect(await compare(lead(), lead(worker))).toMatchObject({
    run: "lead > worker",
    recorded: "no such run",
  });
});

test("of several differences the one of the run that began first is told", async () => {
  const failed = (run: MadeRun): MadeRun => ({ ...run, status: "failed" });
  const told = await compare(lead(worker, scout), lead(failed(worker), failed(scout)));
  expect(told?.run).toBe("lead > worker");
});

test("how a run goes on where its record ends is not known, so it is no difference", async () => {
  const { to: _, ...open } = worker;
  expect(await compare({ ...lead(open) }, lead(worker))).toBeNull();
});

test("a task that never became a run is no new run: older records have no rows for those", async () => {
  const { metadata: _, ...unstarted } = worker;
  expect(await compare(lead(), lead(unstarted))).toBeNull();
});
