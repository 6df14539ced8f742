import { afterEach, beforeEach, expect, test } from "vitest";
import { createStore, type Store } from "./create-store.ts";

const time = { ms: 1_000 };
let store: Store;
beforeEach(() => {
  time.ms = 1_000;
  store = createStore({ path: ":memory:", now: () => time.ms });
});
afterEach(() => store.shutdown());

async function addSession(sessionId: string, project = "/p"): Promise<void> {
  store.startSession({ sessionId, title: "t", project, workspace: "/w" });
  store.updateSession(sessionId, { status: "completed" });
  await store.committed();
}

test("a session that a process works on is kept, although it has ended", async () => {
  await addSession("ses_1");
  const release = store.takeLease("ses_1");
  expect(store.whyKept("ses_1")).toBe("a process works on it");
  expect(store.deleteSession("ses_1")).toBe(false);
  expect(store.session("ses_1")).toBeDefined();
  release();
  expect(store.whyKept("ses_1")).toBeNull();
  expect(store.deleteSession("ses_1")).toBe(true);
  expect(store.whyKept("ses_1")).toBe("it is not there");
});

test("a session that has not ended is kept", async () => {
  store.startSession({ sessionId: "ses_1", title: "t", project: "/p", workspace: "/w" });
  await store.committed();
  expect(store.whyKept("ses_1")).toBe("it has not ended");
  expect(store.deleteSession("ses_1")).toBe(false);
});

test("sessions that ended before a moment are listed by when they changed last, of all projects or of one", async () => {
  await addSession("ses_a");
  time.ms = 3_000;
  await addSession("ses_b", "/other");
  time.ms = 2_000;
  await addSession("ses_c");
  const ids = (untilMs: number, project?: string) =>
    store.endedBefore(untilMs, project).map((row) => row.session_id);
  expect(ids(2_000)).toEqual(["ses_a"]);
  expect(ids(2_001)).toEqual(["ses_a", "ses_c"]);
  expect(ids(9_000)).toEqual(["ses_a", "ses_b", "ses_c"]);
  expect(ids(9_000, "/p")).toEqual(["ses_a", "ses_c"]);
});
