import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStore } from "./create-store.ts";
import { openDatabase } from "./file/open-database.ts";
import { STORE_MIGRATIONS } from "./file/store-migrations.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-untrusted-table-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const author = { root: "/project", sessionId: "ses_1", runId: "run_1" };

test("a record of a version without untrusted files opens, and keeps them from then on", async () => {
  const path = join(root, "old.db");
  const first = STORE_MIGRATIONS.findIndex((one) => JSON.stringify(one).includes("untrusted_files"));
  const before = STORE_MIGRATIONS.slice(0, first);
  openDatabase(path, before, { synchronous: "NORMAL", now: Date.now }).close();
  const store = createStore({ path });
  expect(store.hasUntrusted()).toBe(false);
  store.noteUntrusted({ ...author, path: "notes.txt", hash: "aa", size: 3 });
  await store.shutdown();
  const again = createStore({ path });
  expect(again.untrustedFiles()).toMatchObject([{ ...author, path: "notes.txt", hash: "aa" }]);
  await again.shutdown();
});

test("contents are found by size and hash, spans by folder and time, and a person's look takes every copy", async () => {
  const store = createStore({ path: ":memory:" });
  store.noteUntrusted({ ...author, path: "a", hash: "aa", size: 3 });
  store.noteUntrusted({ ...author, path: "a", hash: "aa", size: 3 });
  store.noteUntrusted({ ...author, root: "/other", path: "b", hash: "aa", size: 3 });
  expect([store.hasUntrustedSize(3), store.hasUntrustedSize(4)]).toEqual([true, false]);
  expect([store.hasUntrustedHash("aa"), store.hasUntrustedHash("ab")]).toEqual([true, false]);
  expect([store.hasUntrusted(["/project"]), store.hasUntrusted(["/proj"])]).toEqual([true, false]);
  const span = store.openSpan({ ...author, sinceMs: 100 });
  expect([99, 100, 1e15].map((at) => store.isSpanOver(["/project"], at))).toEqual([false, true, true]);
  store.closeSpan(span, 200);
  expect([200, 201].map((at) => store.isSpanOver(["/project"], at))).toEqual([true, false]);
  const known = store.openSpan({ ...author, sinceMs: 300 });
  store.closeSpan(known);
  expect(store.isSpanOver(["/project"], 300)).toBe(false);
  const [first] = store.untrustedFiles("/project").filter(({ path }) => path === "a");
  expect(store.trustNotes([first?.id ?? 0])).toBe(2);
  expect(store.untrustedFiles()).toMatchObject([{ hash: null, sinceMs: 100, untilMs: 200 }]);
  await store.shutdown();
});

test("notes of one project count in every project above and below it, and are listed there, but not beside it", async () => {
  const store = createStore({ path: ":memory:" });
  store.noteUntrusted({ ...author, root: "/a/project", path: "sub/b", hash: "aa", size: 30 });
  const related = ["/a/project", "/a/project/sub/deep", "/a", "/"];
  const unrelated = ["/a/proj", "/a/project-two", "/a/other", "/b"];
  for (const place of related) expect([place, store.hasUntrusted([place])]).toEqual([place, true]);
  for (const place of unrelated) expect([place, store.hasUntrusted([place])]).toEqual([place, false]);
  expect(store.hasUntrusted(["/b", "/a/project/sub"])).toBe(true);
  for (const place of [...related, ...unrelated])
    expect(store.untrustedFiles(place).length > 0).toBe(store.hasUntrusted([place]));
  await store.shutdown();
});

test("the spans that a session's dead process left open are found, not what stands for a whole folder", async () => {
  const store = createStore({ path: ":memory:" });
  const id = store.openSpan({ ...author, sinceMs: 100 });
  store.openSpan({ ...author, root: "/workspace", sinceMs: 0 });
  store.openSpan({ ...author, sessionId: "ses_2", sinceMs: 100 });
  expect(store.openSpans("ses_1")).toMatchObject([{ id, root: "/project", runId: "run_1", sinceMs: 100 }]);
  store.closeSpan(id, 150);
  expect(store.openSpans("ses_1")).toEqual([]);
  await store.shutdown();
});

test("names are found in the folders that they were noted in, are no contents, and are lifted like those", async () => {
  const store = createStore({ path: ":memory:" });
  store.noteUntrustedName({ ...author, path: "a/b", hash: "aa" });
  expect(store.hasUntrustedName(["bb", "aa"], ["/", "/project"])).toBe(true);
  expect([store.hasUntrustedName(["aa"], ["/other"]), store.hasUntrustedName(["bb"], ["/project"])]).toEqual([
    false,
    false,
  ]);
  const [note] = store.untrustedFiles("/project");
  expect(note).toMatchObject({ path: "a/b", hash: "aa", isName: true });
  expect(store.trustNotes([note?.id ?? 0])).toBe(1);
  expect(store.hasUntrusted()).toBe(false);
  await store.shutdown();
});

test("a span that a person has looked at is over: its end changes no later one", async () => {
  const store = createStore({ path: ":memory:" });
  const first = store.openSpan({ ...author, sinceMs: 100 });
  store.trustNotes([first]);
  store.openSpan({ ...author, root: "/other", sinceMs: 200 });
  store.closeSpan(first);
  expect(store.isSpanOver(["/other"], 300)).toBe(true);
  await store.shutdown();
});
