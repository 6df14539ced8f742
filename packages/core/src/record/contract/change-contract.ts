import { expect, test } from "vitest";
import type { ChangeOpening, WorktreeRow } from "../../schema/change.ts";
import type { Stage } from "./contract-stage.ts";

function makeChange(changeId: string, more: Partial<ChangeOpening> = {}): ChangeOpening {
  return {
    ...{ changeId, sessionId: "ses_1", runId: "run_1", messageId: null, root: "/project", path: "a.ts" },
    ...{ source: "tool", before: null, done: false, ...more },
  };
}

function makeCopy(runId: string, more: Partial<WorktreeRow> = {}): WorktreeRow {
  return {
    ...{
      runId,
      sessionId: "ses_1",
      agent: "coder",
      path: `/copies/${runId}`,
      into: "/project",
      status: "open",
    },
    ...{ baseTree: null, baseCommit: null, gitDir: null, line: [runId], tainted: false, createdAtMs: 0 },
    ...more,
  };
}

const FILE = { mode: 0o100644, hash: "aa" };

/** What the record promises of changes to files and of copies of projects. */
export function describeChanges(stage: Stage): void {
  const open = (changeId: string, more?: Partial<ChangeOpening>) =>
    stage.record.write({ kind: "change.open", change: makeChange(changeId, more) });
  const close = (changeId: string, after: ChangeOpening["before"] = FILE) =>
    stage.record.write({ kind: "change.close", changeId, after });
  const save = (row: WorktreeRow) => stage.record.write({ kind: "worktree.save", row });

  test("a change comes back as it was opened and closed", async () => {
    const { record } = stage;
    const texts = { root: "/pro\ud800ject", path: "nul\0.ts", note: "too \udfff large" };
    await open("chg_1", { ...texts, aboutRun: "run_0", messageId: 7, source: "undo", before: FILE });
    const about = { changeId: "chg_1", sessionId: "ses_1", runId: "run_1", aboutRun: "run_0", messageId: 7 };
    const [opened] = await record.listChanges({ ids: ["run_1"] });
    expect(opened).toEqual({
      ...{
        ...about,
        ...texts,
        source: "undo",
        before: FILE,
        after: null,
        outcomeKnown: false,
        closedSeq: null,
      },
      position: expect.any(Number),
    });
    await close("chg_1", { mode: 0o40755, hash: "" });
    const closedSeq = await record.readLastChange();
    const closed = { after: { mode: 0o40755, hash: "" }, outcomeKnown: true, closedSeq };
    expect(await record.listChanges({ ids: ["run_1"] })).toEqual([{ ...opened, ...closed }]);
    await close("chg_1", null);
    expect(await record.listChanges({ ids: ["run_1"] })).toEqual([{ ...opened, ...closed }]);
    expect(await record.readLastChange()).toBe(closedSeq);
  });

  test("changes are listed in the order they happened, by who made them or whom they are about", async () => {
    const { record } = stage;
    await open("chg_1");
    await open("chg_2", { runId: "und_1", aboutRun: "run_1", after: null, done: true, source: "undo" });
    await open("chg_3", { runId: "run_2" });
    await open("chg_0", { beforeChange: "chg_2", done: true, after: FILE });
    const list = async (...ids: string[]) =>
      (await record.listChanges({ ids })).map(({ changeId }) => changeId);
    expect(await list("run_1")).toEqual(["chg_1", "chg_0", "chg_2"]);
    expect(await list("run_2", "und_1")).toEqual(["chg_2", "chg_3"]);
    expect(await list()).toEqual([]);
    expect((await record.listChanges({ ids: ["und_1"] }))[0]).toMatchObject({
      ...{ after: null, outcomeKnown: true, closedSeq: expect.any(Number) },
    });
  });

  test("of one path those changes are listed that closed after a seq or are still open", async () => {
    const { record } = stage;
    expect(await record.readLastChange()).toBe(0);
    await open("chg_1");
    await close("chg_1");
    const after = await record.readLastChange();
    await open("chg_2");
    await open("chg_3");
    await open("chg_4", { path: "b.ts" });
    await open("chg_5", { root: "/other" });
    await close("chg_3");
    expect(await record.readLastChange()).toBeGreaterThan(after);
    const list = async (seq: number) =>
      (await record.listChanges({ root: "/project", path: "a.ts", after: seq })).map(
        ({ changeId }) => changeId,
      );
    expect(await list(after)).toEqual(["chg_2", "chg_3"]);
    expect(await list(0)).toEqual(["chg_1", "chg_2", "chg_3"]);
    expect(await list(await record.readLastChange())).toEqual(["chg_2"]);
  });

  test("a copy is saved, replaced, found by its run or folder, and listed while it is there", async () => {
    const { record } = stage;
    const first = makeCopy("run_1", { path: "/copies/\ud800", gitDir: "/git\0", line: ["run_1", "run_0"] });
    await save(first);
    await save(makeCopy("run_2", { status: "making", createdAtMs: -5, tainted: true }));
    await save(makeCopy("run_3", { status: "merged" }));
    expect(await record.findWorktree({ runId: "run_1" })).toEqual(first);
    expect(await record.findWorktree({ path: "/copies/\ud800" })).toEqual(first);
    expect(await record.findWorktree({ path: "/copies/run_3" })).toMatchObject({ status: "merged" });
    expect(await record.findWorktree({ runId: "run_4" })).toBeUndefined();
    const list = async () => (await record.listWorktrees()).map(({ runId, status }) => `${runId} ${status}`);
    expect(await list()).toEqual(["run_1 open", "run_2 making"]);
    const kept = makeCopy("run_2", {
      status: "kept",
      baseTree: "t",
      baseCommit: "c",
      gitDir: "/g",
      createdAtMs: -5,
    });
    await save(kept);
    expect(await record.findWorktree({ runId: "run_2" })).toEqual(kept);
    await save({ ...first, status: "removed" });
    expect(await list()).toEqual(["run_2 kept"]);
    expect(await record.findWorktree({ runId: "run_1" })).toMatchObject({ status: "removed" });
  });
}
