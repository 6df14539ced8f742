import { expect, test } from "vitest";
import { makeRunRow, makeTurnRow, type RowParts } from "../../../../test/fixtures/hand-made-rows.ts";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { RecordedSession } from "./recorded-session.ts";

const childRow = (run_id: string, metadata: object = {}, more: RowParts = {}) =>
  makeRunRow([], {
    ...{ run_id, agent_role: "worker", call_id: "call_1" },
    ...more,
    metadata: { parentRun: "run_root", ...metadata },
  });
const readSession = (...children: ReturnType<typeof childRow>[]) =>
  new RecordedSession([makeRunRow([makeTurnRow(0, { children })], { agent_role: "lead" })], () => undefined);

test("a child run is found by its call, its task and its attempt", () => {
  const session = readSession(
    childRow("run_1", { attempt: 0 }),
    childRow("run_2", { attempt: 1 }),
    childRow("run_3", { taskId: "a" }),
    childRow("run_4", {}, { call_id: "call_2" }),
  );
  const find = (callId: string, attempt: number, taskId?: string) =>
    session.childOf({ runId: "run_root" }, { callId, attempt, ...(taskId && { taskId }) })?.node.run_id;
  expect([find("call_1", 0), find("call_1", 1), find("call_1", 0, "a"), find("call_2", 0)]).toEqual([
    "run_1",
    "run_2",
    "run_3",
    "run_4",
  ]);
  expect([find("call_2", 1), find("call_1", 0, "b")]).toEqual([undefined, undefined]);
});

test("a run is named by the agents above it", () => {
  const session = readSession(childRow("run_1", {}, { children: [childRow("run_2")] }));
  const paths = ["run_root", "run_1", "run_2"].map((runId) => session.of({ runId })?.path);
  expect(paths).toEqual(["lead", "lead > worker", "lead > worker > worker"]);
});

test("a run that differs is played no further, and the difference stands where the run had come to", () => {
  const session = readSession(
    childRow("run_1", {}, { opened_seq: 5 }),
    childRow("run_2", {}, { opened_seq: 7 }),
  );
  const differ = (runId: string) => session.differs(makeRun({ runId }).run, runId, "a", "b");
  const [first, second] = ["run_1", "run_2"].map((runId) => session.of({ runId }));
  if (first) first.position = 9;
  differ("run_1");
  expect([first?.diverged, second?.diverged]).toEqual([true, false]);
  expect(session.divergences.first).toEqual({
    ...{ run: "lead > worker", turn: 1, what: "run_1" },
    ...{ recorded: "a", now: "b" },
  });
  differ("run_2");
  expect(session.divergences.first?.what).toBe("run_2");
});

test("a run that was not recorded differs after all others, under the names of the agents above it", () => {
  const session = readSession(childRow("run_1"));
  const { run: parent } = makeRun();
  const { run } = makeRun({ parent, runId: "run_new" });
  run.turn = 3;
  session.differs(run, "new", "a", "b");
  expect(session.divergences.first).toMatchObject({ run: "solo > solo", turn: 3 });
  session.differs(makeRun({ runId: "run_1" }).run, "known", "a", "b");
  expect(session.divergences.first?.what).toBe("known");
});

test("texts are the same if they differ only in ids of runs that never began", () => {
  const known = ["run_aaaaaaaaaaaa", "run_bbbbbbbbbbbb"];
  const session = readSession(...known.map((id) => childRow(id)));
  expect(session.same("of run_cccccccccccc: x", "of run_dddddddddddd: x")).toBe(true);
  expect(session.same("of run_cccccccccccc: x", "of run_dddddddddddd: y")).toBe(false);
  expect(session.same(`of ${known[0]}`, `of ${known[1]}`)).toBe(false);
  expect(session.same(`of ${known[0]}`, "of run_cccccccccccc")).toBe(false);
});

test("a text is kept under a name, and nothing else is one", () => {
  const session = new RecordedSession([], (id) => `text of ${id}`);
  expect([session.text("a"), session.text(undefined), session.text(1)]).toEqual([
    "text of a",
    undefined,
    undefined,
  ]);
});
