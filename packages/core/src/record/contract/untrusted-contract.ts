import { expect, test } from "vitest";
import { beginSession, type Stage } from "./contract-stage.ts";

const AUTHOR = { root: "/project", sessionId: "ses_1", runId: "run_1" };

/** What the record promises of untrusted files. */
export function describeUntrusted(stage: Stage): void {
  const isOver = async (atMs: number, ...roots: string[]) =>
    stage.record.isUntrusted({ roots: roots.length > 0 ? roots : ["/project"], atMs });

  test("a note comes back as it was given, and only once", async () => {
    const { record } = stage;
    const about = { ...AUTHOR, root: "/pro\ud800ject", path: "nul\0" };
    for (const _ of [1, 2]) await record.noteUntrusted({ ...about, hash: "aa", size: 3 });
    expect(await record.listUntrusted()).toEqual([
      {
        ...{ ...about, id: expect.any(Number), hash: "aa", isName: false, sinceMs: null, untilMs: null },
        notedAt: "1970-01-01T00:00:05.000Z",
      },
    ]);
  });

  test("contents are found by size and hash, and a person's look takes every copy", async () => {
    const { record } = stage;
    expect(await record.hasUntrusted()).toBe(false);
    await record.noteUntrusted({ ...AUTHOR, path: "a", hash: "aa", size: 3 });
    await record.noteUntrusted({ ...AUTHOR, root: "/other", path: "b", hash: "aa", size: 3 });
    await record.noteUntrusted({ ...AUTHOR, path: "c", hash: "cc", size: 5 });
    expect(await record.hasUntrusted()).toBe(true);
    const bySize = [await record.isUntrusted({ size: 3 }), await record.isUntrusted({ size: 4 })];
    const byHash = [await record.isUntrusted({ hash: "aa" }), await record.isUntrusted({ hash: "ab" })];
    expect([bySize, byHash]).toEqual([
      [true, false],
      [true, false],
    ]);
    const [first] = (await record.listUntrusted({ project: "/project" })).filter(({ path }) => path === "a");
    expect(await record.trustNotes([first?.id ?? 0])).toBe(2);
    expect(await record.trustNotes([first?.id ?? 0])).toBe(0);
    expect(await record.listUntrusted()).toMatchObject([{ path: "c" }]);
  });

  test("notes of one project count in every project above and below it, and are listed there, but not beside it", async () => {
    const { record } = stage;
    await record.noteUntrusted({ ...AUTHOR, root: "/a/project", path: "sub/b", hash: "aa", size: 30 });
    const related = ["/a/project", "/a/project/sub/deep", "/a", "/"];
    const unrelated = ["/a/proj", "/a/project-two", "/a/other", "/b"];
    for (const place of [...related, ...unrelated]) {
      const isRelated = related.includes(place);
      expect([place, await record.hasUntrusted([place])]).toEqual([place, isRelated]);
      expect(await record.listUntrusted({ project: place })).toHaveLength(isRelated ? 1 : 0);
    }
    expect(await record.hasUntrusted(["/b", "/a/project/sub"])).toBe(true);
    expect(await record.hasUntrusted([])).toBe(false);
  });

  test("what lies in a session's workspace is listed for the project of the session, the latest first", async () => {
    const { record } = stage;
    await beginSession(record, "ses_1", { project: "/shop" });
    for (const path of ["a", "b"])
      await record.noteUntrusted({ ...AUTHOR, root: "/data/ses_1", path, hash: path, size: 1 });
    const found = await record.listUntrusted({ project: "/shop" });
    expect(found.map(({ path }) => path)).toEqual(["b", "a"]);
    expect(await record.listUntrusted({ project: "/other" })).toEqual([]);
  });

  test("a span holds below its folders from its beginning to its end, and not once it is forgotten", async () => {
    const { record } = stage;
    const span = await record.openSpan({ ...AUTHOR, sinceMs: 100 });
    expect([await isOver(99), await isOver(100), await isOver(1e15)]).toEqual([false, true, true]);
    expect([await isOver(100, "/other"), await isOver(100, "/other", "/project")]).toEqual([false, true]);
    await record.closeSpan(span, 200);
    expect([await isOver(200), await isOver(200.4), await isOver(201)]).toEqual([true, true, false]);
    const known = await record.openSpan({ ...AUTHOR, sinceMs: 300 });
    await record.closeSpan(known);
    expect(await isOver(300)).toBe(false);
    const everything = await record.openSpan({ ...AUTHOR, root: "/workspace", sinceMs: 0 });
    expect(await isOver(0, "/workspace")).toBe(true);
    expect(await record.listUntrusted()).toMatchObject([
      { id: everything, hash: null, sinceMs: 0, untilMs: null },
      { id: span, path: "", hash: null, isName: false, sinceMs: 100, untilMs: 200 },
    ]);
  });

  test("the spans that a session's dead process left open are found, not what covers a whole folder", async () => {
    const { record } = stage;
    const id = await record.openSpan({ ...AUTHOR, sinceMs: 100 });
    await record.openSpan({ ...AUTHOR, root: "/workspace", sinceMs: 0 });
    await record.openSpan({ ...AUTHOR, sessionId: "ses_2", sinceMs: 100 });
    expect(await record.listUntrusted({ openIn: "ses_1" })).toMatchObject([
      { id, root: "/project", runId: "run_1", sinceMs: 100 },
    ]);
    await record.closeSpan(id, 150);
    expect(await record.listUntrusted({ openIn: "ses_1" })).toEqual([]);
  });

  test("a span that a person has looked at is over: its end changes no later one", async () => {
    const { record } = stage;
    const first = await record.openSpan({ ...AUTHOR, sinceMs: 100 });
    await record.trustNotes([first]);
    await record.openSpan({ ...AUTHOR, root: "/other", sinceMs: 200 });
    await record.closeSpan(first);
    expect(await isOver(300, "/other")).toBe(true);
  });

  test("names are found in the folders that they were noted in, are no contents, and are lifted like those", async () => {
    const { record } = stage;
    await record.noteUntrusted({ ...AUTHOR, path: "a/b", hash: "aa" });
    const isNamed = (names: string[], roots: string[]) => record.isUntrusted({ names, roots });
    expect(await isNamed(["bb", "aa"], ["/", "/project"])).toBe(true);
    expect(await isNamed(["aa"], ["/other"])).toBe(false);
    expect(await isNamed(["bb"], ["/project"])).toBe(false);
    await record.noteUntrusted({ ...AUTHOR, path: "c", hash: "cc", size: 1 });
    expect(await isNamed(["cc"], ["/project"])).toBe(false);
    const note = (await record.listUntrusted({ project: "/project" })).find(({ hash }) => hash === "aa");
    expect(note).toMatchObject({ path: "a/b", isName: true });
    expect(await record.trustNotes([note?.id ?? 0])).toBe(1);
    expect(await isNamed(["aa"], ["/project"])).toBe(false);
  });
}
