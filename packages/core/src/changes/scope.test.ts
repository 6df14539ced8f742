import { afterEach, beforeEach, expect, test } from "vitest";
import type { Record } from "../record/record.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import type { ChangeOpening, FileChange, FileState } from "../schema/change.ts";
import { findScope, netChanges, unkept } from "./scope.ts";

const state = (hash: string): FileState => (hash === "-" ? null : { mode: 0o100644, hash });

/** A closed change from one state to another, such as `a>b`; `-` is nothing. */
function change(text: string, more: Partial<FileChange> = {}): FileChange {
  const [before = "", after = ""] = text.split(">");
  return {
    changeId: "chg",
    sessionId: "ses_1",
    runId: "run_1",
    aboutRun: null,
    messageId: null,
    root: "/project",
    path: "f",
    source: "tool",
    before: state(before),
    after: state(after),
    outcomeKnown: true,
    closedSeq: 1,
    position: 1,
    note: null,
    ...more,
  };
}

/** What changes come to, such as `f a>c`, with what is special about it. */
const sumUp = (...changes: FileChange[]) =>
  netChanges(changes).map(({ path, before, after, interrupted, outcomeKnown }) =>
    [
      `${path} ${before?.hash ?? "-"}>${after?.hash ?? "-"}`,
      ...(interrupted ? ["interrupted"] : []),
      ...(outcomeKnown ? [] : ["open"]),
    ].join(" "),
  );

test("several changes of a path come to the first state and the last", () => {
  expect(sumUp(change("a>b"), change("b>c"))).toEqual(["f a>c"]);
  expect(sumUp(change("->a"), change("-> ", { path: "g" }), change("a>b"))).toEqual(["f ->b", "g -> "]);
});

test("what ends as it began is no change", () => {
  expect(sumUp(change("a>b"), change("b>a"))).toEqual([]);
});

test("a path that somebody else changed in between says so, whatever comes after", () => {
  expect(sumUp(change("a>b"), change("x>c"), change("c>d"))).toEqual(["f a>d interrupted"]);
});

test("the same path in the project and in a copy are two", () => {
  expect(sumUp(change("a>b"), change("a>c", { root: "/copy" }))).toEqual(["f a>b", "f a>c"]);
});

test("a change whose process ended inside it stays in the list, its outcome unknown", () => {
  const open = change("a>a", { closedSeq: null, outcomeKnown: false });
  expect(sumUp(open)).toEqual(["f a>a open"]);
});

test("what could not be kept is no change, and is told once per reason", () => {
  const lost = change("->-", { path: "", note: "not kept: no git" });
  expect(sumUp(lost, change("a>b"))).toEqual(["f a>b"]);
  expect(unkept([lost, lost, change("a>b")])).toEqual(["changes of a command (run_1): not kept: no git"]);
});

let record: Record;
beforeEach(async () => {
  record = createSqliteRecord({ path: ":memory:" });
  for (const id of ["ses_1", "ses_2"])
    await record.startSession({ sessionId: id, title: "t", project: "/project", workspace: "/w" });
  const first = await record.reserveRowIds(4);
  const open = async (index: number, runId: string, parentId: number | null) =>
    record.write({
      kind: "row.open",
      id: first + index,
      row: {
        sessionId: "ses_1",
        parentId,
        runId,
        type: parentId === null ? "prompt" : "delegation",
        agentRole: "a",
        depth: parentId === null ? 0 : 1,
        startedAtMs: 1,
        metadata: {},
      },
    });
  await open(0, "run_lead", null);
  await open(1, "run_child", first);
  await open(2, "run_grandchild", first + 1);
  await open(3, "run_other", null);
  await book("chg_1", { runId: "run_lead", path: "lead" });
  await book("chg_2", { runId: "run_grandchild", path: "grandchild" });
  await book("chg_3", { runId: "run_other", path: "other" });
  await book("chg_4", { runId: "und_1", aboutRun: "run_child", path: "undone", source: "undo" });
  await book("chg_5", { runId: "und_2", aboutRun: "und_1", path: "undone again", source: "undo" });
  await book("chg_6", { runId: "mrg_1", aboutRun: "run_grandchild", path: "merged", source: "merge" });
  await book("chg_7", { runId: "und_3", aboutRun: "mrg_1", path: "merge undone", source: "undo" });
  await book("chg_8", { runId: "und_4", aboutRun: "ses_1", path: "session undone", source: "undo" });
});
afterEach(() => record.close());

function book(changeId: string, more: Pick<ChangeOpening, "runId" | "path"> & Partial<ChangeOpening>) {
  const about = { changeId, sessionId: "ses_1", messageId: null, root: "/project" };
  return record.write({
    kind: "change.open",
    change: { ...about, source: "tool", before: null, after: state("x"), done: true, ...more },
  });
}

test.each([
  ["run_lead", ["lead", "grandchild", "undone", "undone again", "merged", "merge undone"]],
  ["run_child", ["grandchild", "undone", "undone again", "merged", "merge undone"]],
  ["run_other", ["other"]],
  ["und_1", ["undone", "undone again"]],
])("the scope of %s is what it, everything below it and the acts on these changed", async (id, paths) => {
  expect((await findScope(record, id)).changes.map(({ path }) => path)).toEqual(paths);
});

test("the scope of a session is all that its runs and the acts on it changed", async () => {
  expect((await findScope(record, "ses_1")).changes).toHaveLength(8);
});

test("the beginning of an id is enough if it fits one run; else the runs that it fits are named", async () => {
  expect(await findScope(record, "run_gr")).toMatchObject({ id: "run_grandchild", kind: "run" });
  await expect(findScope(record, "run_")).rejects.toThrow(/'run_' fits several runs: .*run_child/);
  await expect(findScope(record, "run_x")).rejects.toThrow(/no run or session 'run_x'; the latest are: ses_/);
});
