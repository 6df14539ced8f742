import { linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyTool, ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { read } from "./read.ts";
import { edit, write } from "./write-tools.ts";

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
});
afterEach(() => place.remove());

async function use(tool: AnyTool, input: object, more?: Partial<ToolContext>): Promise<string> {
  const { text, isError } = await place.use(tool, input, more);
  return isError ? `error: ${text}` : text;
}
const roots = () => ({ projectDir: place.projectDir, workspaceDir: place.workspaceDir });
const content = (path: string) => readFileSync(join(place.projectDir, path), "utf8");

test("a file that was read can be edited, again and again, and the change is reported", async () => {
  place.write("a.txt", "one\ntwo\n");
  const told: string[] = [];
  const ports: Partial<ToolContext> = {
    beforeChange: async (path) => void told.push(`before ${path} ${content("a.txt").length}`),
    changed: (path, kind) => void told.push(`${kind} ${path} ${content("a.txt").length}`),
  };
  await use(read, { path: "a.txt" });
  expect(await use(edit, { path: "a.txt", edits: [{ old: "two", new: "three" }] }, ports)).toBe(
    "modified a.txt: 1 replacement at line 2",
  );
  const full = join(place.projectDir, "a.txt");
  expect(told).toEqual([`before ${full} 8`, `modified ${full} 10`]);
  expect(await use(edit, { path: "a.txt", patch: "@@ -1,2 +1,2 @@\n-one\n+ONE\n three\n" })).toBe(
    "modified a.txt: 1 hunk at line 1",
  );
  expect(content("a.txt")).toBe("ONE\nthree\n");
});

test("a file that was never read is not edited", async () => {
  place.write("a.txt", "one\n");
  expect(await use(edit, { path: "a.txt", edits: [{ old: "one", new: "two" }] })).toMatch(
    /^error: a.txt: read it first/,
  );
  expect(content("a.txt")).toBe("one\n");
});

test("what a run wrote it has seen", async () => {
  expect(await use(write, { path: "new/b.txt", content: "x" })).toBe("created new/b.txt (1 bytes)");
  expect(await use(edit, { path: "new/b.txt", edits: [{ old: "x", new: "y" }] })).toMatch(/^modified/);
});

test("if one edit does not fit, none is done", async () => {
  place.write("a.txt", "one two\n");
  await use(read, { path: "a.txt" });
  const edits = [
    { old: "one", new: "1" },
    { old: "zwei", new: "2" },
  ];
  let told = 0;
  const text = await use(edit, { path: "a.txt", edits }, { beforeChange: async () => void told++ });
  expect(text).toMatch(/^error: a.txt was not changed: edit 2 of 2: the text to replace does not occur/);
  expect([content("a.txt"), told]).toEqual(["one two\n", 0]);
});

test("a change from outside since the reading is a conflict until the file is read again", async () => {
  place.write("a.txt", "one\n");
  await use(read, { path: "a.txt" });
  place.write("a.txt", "one more\n");
  const change = { path: "a.txt", edits: [{ old: "one", new: "two" }] };
  expect(await use(edit, change)).toBe("error: a.txt changed since you read it; read it again");
  expect(await use(write, { path: "a.txt", content: "lost" })).toMatch(
    /^error: a.txt changed since you read it/,
  );
  expect(content("a.txt")).toBe("one more\n");
  await use(read, { path: "a.txt" });
  expect(await use(edit, change)).toMatch(/^modified/);
});

test.each(["edit", "write"])(
  "of two runs that read the same version, the second to %s is refused",
  async (how) => {
    place.write("a.txt", "one\n");
    const runs = ["run_1", "run_2", "run_3", "run_4"];
    for (const runId of runs) await use(read, { path: "a.txt" }, { runId });
    const results = await Promise.all(
      runs.map((runId) =>
        how === "edit"
          ? use(edit, { path: "a.txt", edits: [{ old: "one", new: runId }] }, { runId })
          : use(write, { path: "a.txt", content: `${runId}\n` }, { runId }),
      ),
    );
    expect(results.filter((text) => text.startsWith("modified"))).toHaveLength(1);
    expect(results.filter((text) => text.includes("changed since you read it"))).toHaveLength(3);
    const winner = runs[results.findIndex((text) => text.startsWith("modified"))];
    expect(content("a.txt")).toBe(`${winner}\n`);
  },
);

test("edits of one run at the same time are all done, one after the other", async () => {
  place.write("a.txt", "a b c d\n");
  await use(read, { path: "a.txt" });
  const results = await Promise.all(
    ["a", "b", "c", "d"].map((letter) =>
      use(edit, { path: "a.txt", edits: [{ old: letter, new: letter.toUpperCase() }] }),
    ),
  );
  expect(results.every((text) => text.startsWith("modified"))).toBe(true);
  expect(content("a.txt")).toBe("A B C D\n");
});

test("a run that is given another run's reading has seen it too", async () => {
  place.write("a.txt", "one\n");
  const input = { path: "a.txt" };
  const first = await read.fileState?.(input, { ...roots(), runId: "run_a" });
  await use(read, input, { runId: "run_a" });
  const change = { path: "a.txt", edits: [{ old: "one", new: "two" }] };
  expect(await use(edit, change, { runId: "run_b" })).toMatch(/read it first/);
  expect(await read.fileState?.(input, { ...roots(), runId: "run_b" })).toBe(first);
  expect(await use(edit, change, { runId: "run_b" })).toMatch(/^modified/);
  expect(await use(edit, change, { runId: "run_a" })).toMatch(/changed since/);
});

test("a stopped run changes nothing any more", async () => {
  place.write("a.txt", "one\n");
  await use(read, { path: "a.txt" });
  const signal = AbortSignal.abort();
  expect(await use(edit, { path: "a.txt", edits: [{ old: "one", new: "two" }] }, { signal })).toMatch(
    /^error/,
  );
  expect(await use(write, { path: "a.txt", content: "two" }, { signal })).toMatch(/^error/);
  expect(content("a.txt")).toBe("one\n");
});

test("a file that is gone may be written again, and cannot be edited", async () => {
  place.write("a.txt", "one\n");
  await use(read, { path: "a.txt" });
  rmSync(join(place.projectDir, "a.txt"));
  expect(await use(edit, { path: "a.txt", edits: [{ old: "one", new: "two" }] })).toMatch(/no such file/);
  expect(await use(write, { path: "a.txt", content: "two" })).toMatch(/^created/);
});

test("binary files, other encodings, links and places outside are refused", async () => {
  writeFileSync(join(place.projectDir, "latin.txt"), Buffer.from([0x63, 0xe9, 0x0a]));
  writeFileSync(join(place.projectDir, "x.bin"), Buffer.from([1, 0, 2]));
  place.write("hard.txt", "x");
  writeFileSync(join(place.root, "outside.txt"), "outside");
  symlinkSync(join(place.root, "outside.txt"), join(place.projectDir, "link.txt"));
  linkSync(join(place.projectDir, "hard.txt"), join(place.root, "second.txt"));
  const edits = [{ old: "c", new: "d" }];
  await use(read, { path: "latin.txt" });
  expect(await use(edit, { path: "latin.txt", edits })).toMatch(/not UTF-8 text/);
  expect(readFileSync(join(place.projectDir, "latin.txt"))).toEqual(Buffer.from([0x63, 0xe9, 0x0a]));
  expect(await use(edit, { path: "x.bin", edits })).toMatch(/^error/);
  expect(await use(edit, { path: "link.txt", edits })).toMatch(/outside the project/);
  expect(await use(edit, { path: "../outside.txt", edits })).toMatch(/outside the project/);
  expect(await use(edit, { path: "hard.txt", edits })).toMatch(/second name/);
});

test("a folder is listed, without what may not be seen", async () => {
  place.write("src/a.ts", "x");
  place.write("src/secret.ts", "x");
  place.write("src/deep/b.ts", "x");
  const maySee: ToolContext["maySee"] = (file) => file.kind === "path" && !file.relative.includes("secret");
  expect(await use(read, { path: "src" }, { maySee })).toBe(
    "src is a folder:\na.ts\ndeep/\n(1 files left out: there is no right to read them)",
  );
  expect(await read.fileState?.({ path: "src" }, roots())).toBeUndefined();
});

test.each([
  ["total.ts", "src/total.ts"],
  ["src/totl.ts", "src/total.ts"],
  ["srv/total.js", "src/total.ts"],
  ["lib/Total.TS", "src/total.ts"],
  ["scr", "src"],
])("%s, which is not there, is taken for %s", async (path, meant) => {
  place.write("src/total.ts", "x");
  place.write("src/secret/total.ts", "x");
  const maySee: ToolContext["maySee"] = (file) => file.kind === "path" && !file.relative.includes("secret");
  const said = `error: ${path}: there is no such file or folder; did you mean ${meant}?`;
  expect(await use(read, { path }, { maySee })).toBe(said);
  expect(await use(edit, { path, edits: [{ old: "x", new: "y" }] }, { maySee })).toBe(said);
});

test("a patch of several files, or of one that it makes, is refused with what to call instead", async () => {
  const patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch";
  expect(await use(edit, { path: "a.txt", patch })).toMatch(/give each file a call of its own.*with write/);
});

test("either edits or a patch are given", async () => {
  place.write("a.txt", "x");
  expect(await use(edit, { path: "a.txt" })).toMatch(/either 'edits' or 'patch'/);
  expect(await use(edit, { path: "a.txt", edits: [], patch: "x" })).toMatch(/either 'edits' or 'patch'/);
});
