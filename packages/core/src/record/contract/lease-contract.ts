import { expect, test } from "vitest";
import { SessionTaken } from "../record.ts";
import {
  beginSession,
  closeRow,
  endSession,
  makeClosing,
  makeOpening,
  openRow,
  type Stage,
} from "./contract-stage.ts";

/** What the record promises of leases and stops. */
export function describeLeases(stage: Stage): void {
  test("a session is taken by one, given back, and taken again", async () => {
    const { record } = stage;
    await beginSession(record);
    expect(await record.findHolder("ses_1")).toBeNull();
    const release = await record.takeLease("ses_1");
    expect(await record.findHolder("ses_1")).toContain(`${process.pid}`);
    await expect(record.takeLease("ses_1")).rejects.toBeInstanceOf(SessionTaken);
    await expect(record.takeLease("ses_1")).rejects.toThrow("session ses_1 is being worked on by process");
    await (await record.takeLease("ses_2"))();
    await release();
    await release();
    expect(await record.findHolder("ses_1")).toBeNull();
    await (await record.takeLease("ses_1"))();
  });

  test("who lost a session is told, and nothing that it still writes of it is kept or told", async () => {
    if (!stage.isShared) return;
    const { record } = stage;
    await beginSession(record);
    await beginSession(record, "ses_2");
    const lost: string[] = [];
    await record.takeLease("ses_1", () => lost.push("ses_1"));
    const kept = await openRow(record);
    const other = stage.openAnother();
    await other.takeLease("ses_1");
    const heard: number[] = [];
    const id = await record.reserveRowIds(1);
    await record.write({ kind: "row.open", id, row: makeOpening(), onCommit: (seq) => heard.push(seq) });
    await record.write({
      ...{ kind: "row.close", id: kept, sessionId: "ses_1", row: makeClosing() },
      onCommit: (seq) => heard.push(seq),
    });
    await endSession(record);
    await openRow(record, { sessionId: "ses_2" });
    expect(lost).toEqual(["ses_1"]);
    expect(heard).toEqual([]);
    expect(await other.readRows({ sessionId: "ses_1" })).toMatchObject([{ id: kept, closed_seq: null }]);
    expect(await other.readSession("ses_1")).toMatchObject({ status: "running" });
    expect(await other.readRows({ sessionId: "ses_2" })).toHaveLength(1);
    await closeRow(other, kept);
    expect(await other.readRow(kept)).toMatchObject({ status: "completed" });
    expect(stage.notices).toEqual([]);
  });

  test("a session that was let go is left as it is on disk, and can be taken again", async () => {
    const { record } = stage;
    await beginSession(record);
    const lost: string[] = [];
    await record.takeLease("ses_1", () => lost.push("ses_1"));
    const id = await openRow(record);
    await record.letGo("ses_1");
    expect(await record.findHolder("ses_1")).toBeNull();
    await closeRow(record, id);
    expect(await record.readRow(id)).toMatchObject({ closed_seq: null });
    expect(lost).toEqual([]);
    await record.takeLease("ses_1");
    await closeRow(record, id);
    expect(await record.readRow(id)).toMatchObject({ closed_seq: 2 });
  });

  test("closing the record gives back what it had", async () => {
    if (!stage.isShared) return;
    await beginSession(stage.record);
    await stage.record.takeLease("ses_1");
    const other = stage.openAnother();
    expect(await other.findHolder("ses_1")).not.toBeNull();
    await stage.record.close();
    expect(await other.findHolder("ses_1")).toBeNull();
  });

  test("wishes to stop are listed once each until they are forgotten, of one session or of all", async () => {
    const { record } = stage;
    const wishes = [
      { sessionId: "ses_1", id: "ses_1" },
      { sessionId: "ses_1", id: "run_1" },
      { sessionId: "ses_2", id: "run_2" },
    ];
    for (const wish of [...wishes, ...wishes]) await record.askToStop(wish);
    expect(await record.listStops()).toHaveLength(3);
    expect(await record.listStops()).toEqual(expect.arrayContaining(wishes));
    expect(await record.listStops("ses_2")).toEqual([wishes[2]]);
    await record.forgetStops("ses_1");
    await record.forgetStops("ses_none");
    expect(await record.listStops()).toEqual([wishes[2]]);
  });
}
