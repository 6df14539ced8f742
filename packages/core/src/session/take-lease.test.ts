import { expect, test } from "vitest";
import { fencedJournal, LeftForLater, takeLease } from "./take-lease.ts";

/** A record that takes everything, of a session that another process can take over. */
function createFakeRecord() {
  let lose = () => {};
  const left: string[] = [];
  const record = {
    takeLease: async (_: string, onLost = () => {}) => {
      lose = onLost;
      return async () => {};
    },
    letGo: async (sessionId: string) => void left.push(sessionId),
    committed: async () => void left.push("committed"),
    reserveRowIds: async () => 1,
    append: () => {},
  };
  return { record, left, lose: () => lose() };
}

test("once another process has a session, nothing of it counts as written here", async () => {
  const { record, lose } = createFakeRecord();
  const lease = await takeLease(record, "ses_1");
  const journal = await fencedJournal(record, lease);
  await expect(journal.committed()).resolves.toBeUndefined();
  lose();
  expect(lease.lost.aborted).toBe(true);
  await expect(journal.committed()).rejects.toThrow("another process took session ses_1 over");
});

test("a session that is left for later is given up once what came before is on disk", async () => {
  const { record, left } = createFakeRecord();
  const lease = await takeLease(record, "ses_1");
  await lease.park(new LeftForLater());
  expect(left).toEqual(["committed", "ses_1"]);
  await expect((await fencedJournal(record, lease)).committed()).rejects.toThrow(LeftForLater);
});
