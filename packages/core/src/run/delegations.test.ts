import { expect, test } from "vitest";
import type { RunResult } from "../schema/result.ts";
import { Delegations } from "./delegations.ts";

const resultOf = (runId: string, summary = runId) =>
  ({ run_id: runId, summary }) as Partial<RunResult> as RunResult;
const about = (id: string, taskId?: string) => ({
  ...{ id, agent: "scout", callId: "call_1", task: `task of ${id}` },
  ...(taskId !== undefined && { taskId }),
});

/** Delegations of a run that is in a turn, whose ends are heard of at once. */
function createDelegations(turn = { now: 1 }) {
  return new Delegations(
    () => turn.now,
    (_, ended) => ended,
  );
}

test("what was asked for is undelivered until the parent has been told, and found by run id or task id", () => {
  const delegations = createDelegations();
  const pending = new Promise<RunResult>(() => {});
  const one = delegations.track(about("run_1", "t1"), pending);
  delegations.track(about("run_2", "t2"), pending);
  delegations.track(about("run_3"), pending, true);
  expect(delegations.undelivered().map(({ id }) => id)).toEqual(["run_1", "run_2"]);
  expect(delegations.undelivered(["t2"]).map(({ id }) => id)).toEqual(["run_2"]);
  expect(delegations.undelivered(["run_1"]).map(({ id }) => id)).toEqual(["run_1"]);
  one.delivered = true;
  expect(delegations.undelivered().map(({ id }) => id)).toEqual(["run_2"]);
  expect([delegations.knows("t1"), delegations.knows("run_3"), delegations.knows("t9")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("results are there once they have ended; who asks for others is told which are", async () => {
  const delegations = createDelegations();
  const end = Promise.withResolvers<RunResult>();
  const { done } = delegations.track(about("run_1", "t1"), end.promise);
  delegations.track(about("run_2", "t2"), new Promise<RunResult>(() => {}));
  expect(delegations.missingResults(["t1"])).toBe("no finished result 't1'; available: none");
  end.resolve(resultOf("run_1"));
  await done;
  expect(delegations.resultOf("t1")?.run_id).toBe("run_1");
  expect(delegations.missingResults(["t1"])).toBeNull();
  expect(delegations.missingResults(["t1", "t2"])).toBe("no finished result 't2'; available: t1");
});

test("every attempt is kept under its own run id, the first result of an attempt counts, and all are listed as they ended", () => {
  const delegations = createDelegations();
  delegations.keep({ result: resultOf("run_b"), began: 1, ended: 9 });
  delegations.keep({ result: resultOf("run_a"), began: 2, ended: 5 });
  delegations.keep({ result: resultOf("run_a", "later"), began: 3, ended: 20 });
  expect(delegations.ended().map(({ result }) => result.summary)).toEqual(["run_a", "run_b"]);
  expect(delegations.resultOf("run_a")?.summary).toBe("run_a");
});

test("what ended before a crash is known and not delivered again", async () => {
  const delegations = createDelegations();
  delegations.recall(about("run_1", "t1"), resultOf("run_1"));
  expect(delegations.undelivered()).toEqual([]);
  expect(delegations.resultOf("t1")?.run_id).toBe("run_1");
  expect(delegations.findTaskId(resultOf("run_1"))).toBe("t1");
  await delegations.settled();
});

test("the first of a turn is the first that was begun in this turn", async () => {
  const turn = { now: 1 };
  const delegations = createDelegations(turn);
  delegations.track(about("run_1"), Promise.resolve(resultOf("run_1")));
  await delegations.firstOfTurn();
  turn.now = 2;
  const end = Promise.withResolvers<RunResult>();
  const { done } = delegations.track(about("run_2"), end.promise);
  let hasEnded = false;
  const first = delegations.firstOfTurn().then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasEnded).toBe(false);
  end.resolve(resultOf("run_2"));
  await Promise.all([done, first]);
});
