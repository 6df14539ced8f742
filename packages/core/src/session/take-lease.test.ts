import { expect, test } from "vitest";
import { fencedJournal, LeftForLater, takeLease } from "./take-lease.ts";

/** A record that takes everything, of a session that another process can take over. */
function fakeStore() {
  let lose = () => {};
  const left: string[] = [];
  const store = {
    takeLease: (_: string, onLost = () => {}) => {
      lose = onLost;
      return () => {};
    },
    letGo: (sessionId: string) => void left.push(sessionId),
    committed: async () => {},
    open: () => 1,
    close: () => {},
  };
  return { store, left, lose: () => lose() };
}

test("once another process has a session, nothing of it counts as written here", async () => {
  const { store, lose } = fakeStore();
  const lease = takeLease(store, "ses_1");
  const journal = fencedJournal(store, lease);
  await expect(journal.committed()).resolves.toBeUndefined();
  lose();
  expect(lease.lost.aborted).toBe(true);
  await expect(journal.committed()).rejects.toThrow("another process took session ses_1 over");
});

test("a session that is left for later is given up once what came before is on disk", async () => {
  const { store, left } = fakeStore();
  const lease = takeLease(store, "ses_1");
  await lease.park(new LeftForLater());
  expect(left).toEqual(["ses_1"]);
  await expect(fencedJournal(store, lease).committed()).rejects.toThrow(LeftForLater);
});
