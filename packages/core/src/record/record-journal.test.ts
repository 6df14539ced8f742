import { expect, test } from "vitest";
import { makeClosing, makeOpening } from "./contract/contract-stage.ts";
import type { RecordWrite } from "./record.ts";
import { createRecordJournal, recordText } from "./record-journal.ts";

const HALF_A_BLOCK = 2 ** 19;

/** A record that gives ids from blocks far apart, as often as it is let. */
function createFakeRecord(most = Number.POSITIVE_INFINITY) {
  const appended: RecordWrite[] = [];
  let blocks = 0;
  const record = {
    async reserveRowIds() {
      if (blocks === most) throw new Error("the disk refuses");
      return ++blocks * 10_000_000;
    },
    append: (write: RecordWrite) => void appended.push(write),
    committed: async () => {},
  };
  return { record, appended, countBlocks: () => blocks };
}

test("rows have their ids at once, and are handed over in order with their listeners", async () => {
  const { record, appended } = createFakeRecord();
  const journal = await createRecordJournal(record);
  const [row, closing, onCommit] = [makeOpening(), makeClosing(), () => {}];
  const first = journal.open(row, onCommit);
  const second = journal.open(row);
  journal.close(first, "ses_1", closing, onCommit);
  expect(second).toBe(first + 1);
  expect(appended).toEqual([
    { kind: "row.open", id: first, row, onCommit },
    { kind: "row.open", id: second, row, onCommit: undefined },
    { kind: "row.close", id: first, sessionId: "ses_1", row: closing, onCommit },
  ]);
});

test("the next block is taken once half of one is used, and no id is given twice", async () => {
  const { record, appended, countBlocks } = createFakeRecord();
  const journal = await createRecordJournal(record);
  const row = makeOpening();
  const ids = new Set<number>();
  for (let index = 0; index < HALF_A_BLOCK; index++) ids.add(journal.open(row));
  expect(countBlocks()).toBe(1);
  ids.add(journal.open(row));
  await Promise.resolve();
  expect(countBlocks()).toBe(2);
  appended.splice(0);
  for (let index = 0; index < 2 * HALF_A_BLOCK; index++) ids.add(journal.open(row));
  expect(ids.size).toBe(3 * HALF_A_BLOCK + 1);
  expect(Math.max(...[...ids].slice(-1))).toBeGreaterThan(20_000_000);
});

test("a journal whose record gives no further block says so when its own is used up", async () => {
  const { record, appended } = createFakeRecord(1);
  const journal = await createRecordJournal(record);
  const row = makeOpening();
  for (let index = 0; index < 2 * HALF_A_BLOCK; index++) journal.open(row);
  expect(appended).toHaveLength(2 * HALF_A_BLOCK);
  expect(() => journal.open(row)).toThrow("the record gives no more ids for rows");
});

test("a text's id is its hash, also of texts that no UTF-8 has", () => {
  const { record, appended } = createFakeRecord();
  const ids = ["a", "a", "\ud800", "\ufffd"].map((text) => recordText(record, text));
  expect(new Set(ids).size).toBe(3);
  expect(ids[0]).toBe("ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs");
  expect(appended[2]).toEqual({ kind: "text.save", id: ids[2], text: "\ud800" });
});
