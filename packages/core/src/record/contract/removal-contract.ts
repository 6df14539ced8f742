import { expect, test } from "vitest";
import type { WorktreeStatus } from "../../schema/change.ts";
import type { Record } from "../record.ts";
import { recordText } from "../record-journal.ts";
import { beginSession, closeRow, endSession, openRow, type Stage } from "./contract-stage.ts";

/** Writes a session with something of everything, which has ended. */
async function writeEnded(record: Record, name: string): Promise<string> {
  const sessionId = `ses_${name}`;
  await beginSession(record, sessionId);
  const texts = ["system", "snapshot", "history"].map((text) => recordText(record, `${text} of ${name}`));
  const [systemPromptId = "", snapshot] = texts;
  const shared = recordText(record, "shared");
  const id = await openRow(record, {
    ...{ sessionId, runId: `run_${name}`, systemPromptId, metadata: { snapshot, history: shared } },
  });
  await closeRow(
    record,
    id,
    { responseContent: "x".repeat(1_000), metadata: { history: shared } },
    sessionId,
  );
  await record.askToStop({ sessionId, id: sessionId });
  await record.addApproval({
    ...{ approvalId: `apr_${name}`, sessionId, runId: `run_${name}`, callId: "c", inputHash: "h" },
    ...{ tool: "write", request: {}, requestedAtMs: 1 },
  });
  await record.answerApproval(`apr_${name}`, { allowed: true, by: "me", atMs: 2 });
  await record.write({
    kind: "change.open",
    change: {
      ...{ changeId: `chg_${name}`, sessionId, runId: `run_${name}`, messageId: id, root: "/p", path: "a" },
      ...{ source: "tool", before: { mode: 1, hash: `before ${name}` }, done: false },
    },
  });
  const after = { mode: 1, hash: "after both" };
  await record.write({ kind: "change.close", changeId: `chg_${name}`, after });
  await saveCopy(record, name, "removed");
  await record.noteUntrusted({
    root: "/p",
    sessionId,
    runId: `run_${name}`,
    path: name,
    hash: name,
    size: 1,
  });
  await endSession(record, sessionId);
  return sessionId;
}

function saveCopy(record: Record, name: string, status: WorktreeStatus): Promise<void> {
  return record.write({
    kind: "worktree.save",
    row: {
      ...{
        runId: `run_${name}`,
        sessionId: `ses_${name}`,
        agent: "a",
        path: `/c/${name}`,
        into: "/p",
        status,
      },
      ...{ baseTree: null, baseCommit: null, gitDir: null, line: [], tainted: false, createdAtMs: 0 },
    },
  });
}

/** What the record promises of taking sessions out of it. */
export function describeRemoval(stage: Stage): void {
  test("a session goes with everything about it but notes of untrusted files, and nothing of another goes", async () => {
    const { record } = stage;
    await writeEnded(record, "a");
    await writeEnded(record, "b");
    const texts = ["system of a", "snapshot of a", "shared", "system of b"].map((text) =>
      recordText(record, text),
    );
    await record.committed();
    const isKept = async () =>
      Promise.all(texts.map(async (id) => (await record.readText(id)) !== undefined));
    const look = async (name: string) => [
      await record.readSession(`ses_${name}`),
      ...(await record.readRows({ sessionId: `ses_${name}` })),
      ...(await record.listStops(`ses_${name}`)),
      ...(await record.listApprovals({ sessionId: `ses_${name}` })),
      ...(await record.listChanges({ ids: [`run_${name}`] })),
      await record.findWorktree({ runId: `run_${name}` }),
      ...(await record.findRuns(`run_${name}`)),
    ];
    const other = await look("b");
    expect(other).toHaveLength(7);
    expect(await isKept()).toEqual([true, true, true, true]);
    expect([...(await record.listContents())].sort()).toEqual(["after both", "before a", "before b"]);
    expect(await record.deleteSession("ses_a")).toBe(true);
    expect(await look("a")).toEqual([undefined, undefined]);
    expect(await look("b")).toEqual(other);
    expect(await isKept()).toEqual([false, false, true, true]);
    expect([...(await record.listContents())].sort()).toEqual(["after both", "before b"]);
    expect(await record.listUntrusted()).toHaveLength(2);
    expect(await record.deleteSession("ses_a")).toBe(false);
    expect(await record.deleteSession("ses_b")).toBe(true);
    expect(await isKept()).toEqual([false, false, false, false]);
  });

  test("a text that was removed with its last session is kept again once a row names it", async () => {
    const { record } = stage;
    await writeEnded(record, "a");
    await record.deleteSession("ses_a");
    const systemPromptId = recordText(record, "system of a");
    await beginSession(record);
    const id = await openRow(record, { systemPromptId });
    expect(await record.readText(systemPromptId)).toBe("system of a");
    await closeRow(record, id);
    await endSession(record);
    await record.deleteSession("ses_1");
    expect(await record.readText(systemPromptId)).toBeUndefined();
  });

  test("a session stays that has not ended, that is worked on, or whose changes wait to be merged", async () => {
    const { record } = stage;
    await beginSession(record);
    const isKeptBecause = async (reason: string) => {
      expect(await record.whyKept("ses_1")).toBe(reason);
      expect(await record.deleteSession("ses_1")).toBe(false);
      expect(await record.readSession("ses_1")).toBeDefined();
    };
    await isKeptBecause("it has not ended");
    await endSession(record);
    const release = await record.takeLease("ses_1");
    await isKeptBecause("a process works on it");
    await release();
    for (const status of ["making", "open", "kept"] as const) {
      await saveCopy(record, "1", status);
      await isKeptBecause("changes of it wait to be merged");
    }
    await saveCopy(record, "1", "merged");
    expect(await record.whyKept("ses_1")).toBeNull();
    expect(await record.deleteSession("ses_1")).toBe(true);
    expect(await record.whyKept("ses_1")).toBe("it is not there");
  });

  test("no number of a deleted session is given again: not to sessions, questions, answers, changes or rows", async () => {
    const { record } = stage;
    const read = async (name: string) => ({
      changed: (await record.readVersion()).changed,
      asked: (await record.countWaiting({ sessionId: `ses_${name}` })).newest,
      closed: await record.readLastChange(),
      position: (await record.listChanges({ ids: [`run_${name}`] }))[0]?.position ?? 0,
      row: (await record.readRows({ sessionId: `ses_${name}` }))[0]?.id ?? 0,
      note: (await record.listUntrusted())[0]?.id ?? 0,
    });
    const write = async (name: string) => {
      await writeEnded(record, name);
      await record.addApproval({
        ...{ approvalId: `apr_${name}2`, sessionId: `ses_${name}`, runId: "r", callId: name, inputHash: "h" },
        ...{ tool: "write", request: {}, requestedAtMs: 1 },
      });
      return read(name);
    };
    const before = await write("a");
    expect(await record.deleteSession("ses_a")).toBe(true);
    expect(await record.trustNotes([before.note])).toBe(1);
    expect((await record.readVersion()).changed).toBe(before.changed);
    expect(await record.readLastChange()).toBe(before.closed);
    const after = await write("b");
    for (const [name, number] of Object.entries(before))
      expect([name, Object.entries(after).find(([other]) => other === name)?.[1]]).toEqual([
        name,
        expect.toSatisfy((later: number) => later > number),
      ]);
  });

  test("a session takes about the bytes of its rows, and what a removed one took can be given back", async () => {
    const { record } = stage;
    await beginSession(record);
    expect(await record.measureSession("ses_1")).toBe(0);
    const id = await openRow(record, { requestContent: "x".repeat(1_000_000) });
    await closeRow(record, id, { responseContent: "y".repeat(1_000_000) });
    await endSession(record);
    const size = await record.measureSession("ses_1");
    expect(size > 2_000_000 && size < 2_100_000).toBe(true);
    expect(await record.measureSession("ses_none")).toBe(0);
    const full = await record.measure();
    expect(full.bytes).toBeGreaterThan(2_000_000);
    await record.deleteSession("ses_1");
    const emptied = await record.measure();
    expect(emptied.freeBytes).toBeGreaterThan(1_900_000);
    await record.compact();
    const { bytes, freeBytes } = await record.measure();
    expect([bytes < emptied.bytes - 1_900_000, freeBytes < 100_000]).toEqual([true, true]);
    await beginSession(record, "ses_2");
    expect(await record.readSession("ses_2")).toBeDefined();
  });
}
