import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "@retinue/code/file-tools/read";
import { write } from "@retinue/code/file-tools/write-tools";
import { showChanges } from "@retinue/core/changes/show";
import { planUndo, undoChanges } from "@retinue/core/changes/undo";
import { createBlobStore } from "@retinue/core/record/blob-store";
import {
  callDelegate,
  callTool,
  callTools,
  type Step,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandTool, type Deed, doDeed, git, treeOf } from "../fixtures/project-tree.ts";

let root: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-undo-")));
  project = join(root, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function runtimeWith(
  scripts: Parameters<typeof testRuntime>[0],
  tools = [read, write, commandTool()],
): TestRuntime {
  return testRuntime(scripts, { projectDir: project, dataDir: join(root, "data"), tools });
}

function kept(t: TestRuntime) {
  return { record: t.runtime.record, blobs: createBlobStore(join(root, "data", "blobs")) };
}

const command = (...deeds: Deed[]): Step => callTool("command", { deeds });
const writing = (path: string, content: string): Step => callTool("write", { path, content });

test("what a run wrote is shown, and taken back with the folders it made", async () => {
  writeFileSync(join(project, "a.txt"), "one\ntwo\n");
  chmodSync(join(project, "a.txt"), 0o640);
  const before = treeOf(project);
  await using t = runtimeWith({
    lead: [writing("a.txt", "one\n2\n"), writing("x/y/z.txt", "new\n"), say("done")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  const { folders } = await showChanges(kept(t), result.run_id);
  const text = folders.flatMap(({ patches }) => patches.map((patch) => patch.text)).join("\n");
  expect(text).toContain("-two\n+2");
  expect(text).toContain("new file mode 100644");
  const { act } = await undoChanges(kept(t), result.run_id, false);
  expect(treeOf(project)).toEqual(before);
  await undoChanges(kept(t), act ?? "", false);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("one\n2\n");
  expect(readFileSync(join(project, "x/y/z.txt"), "utf8")).toBe("new\n");
});

test("what a command changed is measured in the result and taken back, bytes and modes alike", async () => {
  git(project, "init", "-q");
  writeFileSync(join(project, ".gitattributes"), "* text=auto eol=lf\n*.up filter=upper\n");
  git(project, "config", "filter.upper.clean", `touch ${join(root, "canary")}; tr a-z A-Z`);
  writeFileSync(join(project, "crlf.txt"), "a\r\nb\r\n");
  writeFileSync(join(project, "name.up"), "lower");
  writeFileSync(join(project, "tool.sh"), "#!/bin/sh\n");
  chmodSync(join(project, "tool.sh"), 0o700);
  symlinkSync("crlf.txt", join(project, "link"));
  mkdirSync(join(project, "empty"));
  const before = treeOf(project);
  await using t = runtimeWith({
    lead: [
      command(
        { do: "remove", path: "crlf.txt" },
        { do: "write", path: "name.up", text: "x" },
        { do: "mode", path: "tool.sh", mode: 0o600 },
        { do: "remove", path: "link" },
        { do: "remove", path: "empty" },
        { do: "write", path: "deep/er/new.bin", text: "\0\u0001" },
        { do: "folder", path: "hollow/inner" },
      ),
      say("done"),
    ],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.files_created).toEqual(["deep/er/new.bin"]);
  expect(result.files_modified).toEqual(["name.up", "tool.sh"]);
  expect(result.files_deleted).toEqual(["crlf.txt", "link"]);
  await undoChanges(kept(t), result.run_id, false);
  expect(treeOf(project)).toEqual(before);
  expect(existsSync(join(root, "canary"))).toBe(false);
  expect(git(project, "status", "--porcelain", "--ignored")).not.toContain("retinue");
});

test.each([
  ["with its old time", true],
  ["at once", false],
])("what a command rewrote %s, with as many bytes, is measured and taken back", async (_, keepsTime) => {
  const path = join(project, "a.txt");
  const rewrite = defineTool<object>({
    name: "rewrite",
    description: "Stands for a shell.",
    input: { type: "object" },
    execute: (_, context) =>
      context.aroundChanges(async () => {
        const { atime, mtime } = statSync(path);
        writeFileSync(path, "new");
        if (keepsTime) utimesSync(path, atime, mtime);
        return "rewritten";
      }),
  });
  writeFileSync(path, "old");
  utimesSync(path, 1_000, 1_000);
  await using t = runtimeWith({ lead: [callTool("rewrite", {}), say("done")] }, [rewrite]);
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(result.files_modified).toEqual(["a.txt"]);
  await undoChanges(kept(t), result.run_id, false);
  expect(readFileSync(path, "utf8")).toBe("old");
});

test("a file that somebody changed since is named, and nothing is touched without force", async () => {
  writeFileSync(join(project, "a.txt"), "a");
  await using t = runtimeWith({ lead: [writing("a.txt", "b"), writing("n.txt", "n"), say("done")] });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  writeFileSync(join(project, "a.txt"), "mine");
  await expect(undoChanges(kept(t), run_id, false)).rejects.toThrow(/a\.txt \(it changed since\)/);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("mine");
  expect(existsSync(join(project, "n.txt"))).toBe(true);
  const { act } = await undoChanges(kept(t), run_id, true);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("a");
  await undoChanges(kept(t), act ?? "", false);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("mine");
});

test("a child is taken back alone, and its parent with everything after it", async () => {
  const before = treeOf(project);
  await using t = runtimeWith({
    lead: [writing("a.txt", "lead"), callDelegate("worker", "go on"), say("done")],
    worker: [writing("b.txt", "worker"), say("done")],
  });
  const { run_id, session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const worker = (await t.runtime.record.readRows({ sessionId: session_id, kind: "runs" })).find(
    (run) => run.agent_role === "worker",
  );
  await undoChanges(kept(t), worker?.run_id ?? "", false);
  expect(Object.keys(treeOf(project))).toEqual(["a.txt"]);
  await undoChanges(kept(t), run_id.slice(0, 10), false);
  expect(treeOf(project)).toEqual(before);
  expect((await planUndo(kept(t), session_id)).steps).toEqual([]);
});

test("a file that another run has changed later is not lost by an undo, even if its content is the same", async () => {
  await using t = runtimeWith({
    lead: [callDelegate("one", "x"), callDelegate("two", "x"), callDelegate("one", "x"), say("done")],
    one: { eachRun: [callTool("read", { path: "a.txt" }), writing("a.txt", "one"), say("done")] },
    two: [callTool("read", { path: "a.txt" }), writing("a.txt", "two"), say("done")],
  });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const [first] = (await t.runtime.record.readRows({ sessionId: session_id, kind: "runs" })).filter(
    (run) => run.agent_role === "one",
  );
  await expect(undoChanges(kept(t), first?.run_id ?? "", false)).rejects.toThrow(/run_\w+ changed it later/);
  expect(readFileSync(join(project, "a.txt"), "utf8")).toBe("one");
});

test("what another run writes while a command is at work stays that run's", async () => {
  const inside = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const slow = commandTool(async () => {
    inside.resolve();
    await written.promise;
  });
  await using t = runtimeWith(
    {
      lead: [
        callTools([
          { tool: "delegate", input: { agent: "runner", task: "x" } },
          { tool: "delegate", input: { agent: "writer", task: "x" } },
        ]),
        say("done"),
      ],
      runner: [command({ do: "write", path: "own.txt", text: "1" }), say("done")],
      writer: [
        { kind: "wait", until: inside.promise, step: writing("other.txt", "2") },
        () => {
          written.resolve();
          return say("done");
        },
      ],
    },
    [write, slow],
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const { record } = t.runtime;
  const changes: [string, string[]][] = [];
  for (const { run_id, agent_role } of await record.readRows({ sessionId: session_id, kind: "runs" }))
    changes.push([agent_role ?? "", (await record.listChanges({ ids: [run_id] })).map(({ path }) => path)]);
  expect(Object.fromEntries(changes)).toEqual({ lead: [], runner: ["own.txt"], writer: ["other.txt"] });
});

test("files that were ignored before a command stopped ignoring them are not taken for new", async () => {
  git(project, "init", "-q");
  writeFileSync(join(project, ".gitignore"), "secret.txt\nmodules/\n");
  writeFileSync(join(project, "secret.txt"), "keep me");
  doDeed(project, { do: "write", path: "modules/dep.js", text: "keep me too" });
  const before = treeOf(project);
  await using t = runtimeWith({
    lead: [command({ do: "write", path: ".gitignore", text: "" }), say("done")],
  });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  await undoChanges(kept(t), run_id, false);
  expect(treeOf(project)).toEqual(before);
});

test("an undo does not follow a link that was put where a folder of the run had been", async () => {
  const outside = join(root, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "new.txt"), "n");
  await using t = runtimeWith({ lead: [writing("made/new.txt", "n"), say("done")] });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  rmSync(join(project, "made"), { recursive: true });
  symlinkSync(outside, join(project, "made"));
  await undoChanges(kept(t), run_id, true).catch(() => {});
  expect(readFileSync(join(outside, "new.txt"), "utf8")).toBe("n");
});

const path = fc.constantFrom("a", "b.txt", "d/a", "d/e/f", "d/e/g.sh", "g/h", "w x/ü\n.txt");
const text = fc.constantFrom("", "1\n", "2\r\n", "\0\u00ff", "long ".repeat(100));
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o444);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ do: fc.constant("write" as const), path, text, mode }),
  fc.record({ do: fc.constant("remove" as const), path: fc.oneof(path, fc.constantFrom("d", "g")) }),
  fc.record({ do: fc.constant("folder" as const), path }),
  fc.record({
    do: fc.constant("mode" as const),
    path: fc.oneof(path, fc.constantFrom("d", "g")),
    mode: fc.constant(0o750),
  }),
  fc.record({ do: fc.constant("mode" as const), path, mode }),
  fc.record({ do: fc.constant("link" as const), path, to: fc.constantFrom("a", "nowhere", "d") }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.array(deed, { minLength: 1, maxLength: 4 }).map((deeds) => command(...deeds)),
  fc.tuple(path, text).map(([at, content]) => writing(at, content)),
);
const steps = fc.array(step, { maxLength: 4 });

test("undoing a session gives back the project to the byte, whatever its runs did", async () => {
  const runs = Number(process.env.RETINUE_DEEP ? 300 : 12);
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { maxLength: 8 }),
      steps,
      steps,
      steps,
      async (start, one, two, three) => {
        rmSync(root, { recursive: true, force: true });
        mkdirSync(project, { recursive: true });
        for (const each of start) doDeed(project, each);
        const before = treeOf(project);
        await using t = runtimeWith({
          lead: [...one, callDelegate("worker", "x"), ...two, say("done")],
          worker: [...three, say("done")],
        });
        const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
        const after = treeOf(project);
        expect((await planUndo(kept(t), session_id)).unkept).toEqual([]);
        const { act } = await undoChanges(kept(t), session_id, false);
        expect(treeOf(project)).toEqual(before);
        if (act) await undoChanges(kept(t), act, false);
        expect(treeOf(project)).toEqual(after);
      },
    ),
    { numRuns: runs, seed: 7 },
  );
});

test("runs that worked at the same time, even on the same files, are undone together to the byte", async () => {
  const runs = Number(process.env.RETINUE_DEEP ? 150 : 8);
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { maxLength: 6 }),
      fc.array(steps, { minLength: 3, maxLength: 3 }),
      async (start, all) => {
        rmSync(root, { recursive: true, force: true });
        mkdirSync(project, { recursive: true });
        for (const each of start) doDeed(project, each);
        const before = treeOf(project);
        const names = ["one", "two", "three"] as const;
        const scripts = Object.fromEntries(
          names.map((name, index) => [name, [...(all[index] ?? []), say("done")]]),
        );
        await using t = runtimeWith({
          lead: [
            callTools(names.map((agent) => ({ tool: "delegate", input: { agent, task: "x" } }))),
            say("done"),
          ],
          ...scripts,
        });
        const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
        expect((await planUndo(kept(t), session_id)).unkept).toEqual([]);
        // A tool and a command that wrote one file at the same instant leave books that do not fit, which is refused at first.
        await undoChanges(kept(t), session_id, true);
        expect(treeOf(project)).toEqual(before);
      },
    ),
    { numRuns: runs, seed: 11 },
  );
});

test("an undo that a crash interrupted is finished by the same call, and taken back as one", async () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(project, name), "old");
  const before = treeOf(project);
  await using t = runtimeWith({
    lead: [writing("a", "1"), writing("b", "2"), writing("c", "3"), say("done")],
  });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const after = treeOf(project);
  const { record, blobs } = kept(t);
  let reads = 0;
  const failing = {
    ...blobs,
    get: (hash: string) => (++reads > 4 ? Promise.reject(new Error("crash")) : blobs.get(hash)),
  };
  await expect(undoChanges({ record, blobs: failing }, run_id, false)).rejects.toThrow("crash");
  expect(treeOf(project)).not.toEqual(after);
  expect(treeOf(project)).not.toEqual(before);
  const { act } = await undoChanges({ record, blobs }, run_id, false);
  expect(treeOf(project)).toEqual(before);
  await undoChanges({ record, blobs }, act ?? "", false);
  expect(treeOf(project)).toEqual(after);
});

test("what a stopped command had changed is kept all the same", async () => {
  const inside = Promise.withResolvers<void>();
  const slow = commandTool(async (signal) => {
    inside.resolve();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  const before = treeOf(project);
  await using t = testRuntime(
    { lead: [command({ do: "write", path: "a.txt", text: "1" })] },
    { projectDir: project, dataDir: join(root, "data"), tools: [slow] },
  );
  const { sessionId, result } = await t.runtime.start({ agent: "lead", task: "go" });
  await inside.promise;
  t.runtime.cancel(sessionId);
  expect((await result).status).toBe("cancelled");
  expect(Object.keys(treeOf(project))).toEqual(["a.txt"]);
  await undoChanges(kept(t), sessionId, false);
  expect(treeOf(project)).toEqual(before);
});

test("without git the result of a command says that its changes are not kept, and so does an undo", async () => {
  const path = process.env.PATH;
  process.env.PATH = join(root, "nothing");
  try {
    await using t = runtimeWith({
      lead: [command({ do: "write", path: "a.txt", text: "1" }), ({ last }) => say(last)],
    });
    const { details, run_id } = await t.runtime.run({ agent: "lead", task: "go" });
    expect(details).toContain("Note: what this command changed is not kept and cannot be undone: git");
    const plan = await planUndo(kept(t), run_id);
    expect(plan.steps).toEqual([]);
    expect(plan.unkept).toEqual([expect.stringContaining("git is not on the PATH")]);
  } finally {
    process.env.PATH = path;
  }
});

/** Contents of which reading the n-th, counted from one, does something first. */
function atReading(t: TestRuntime, n: number, act: () => void): ReturnType<typeof kept> {
  const { record, blobs } = kept(t);
  let reads = 0;
  const get = (hash: string) => {
    if (++reads === n) act();
    return blobs.get(hash);
  };
  return { record, blobs: { ...blobs, get } };
}

test("what a person saves while an undo makes ready is not overwritten", async () => {
  const file = join(project, "a.txt");
  writeFileSync(file, "old");
  await using t = runtimeWith({ lead: [writing("a.txt", "new"), say("done")] });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const saving = atReading(t, 1, () => writeFileSync(file, "by hand"));
  await expect(undoChanges(saving, run_id, false)).rejects.toThrow("it changed since");
  expect(readFileSync(file, "utf8")).toBe("by hand");
  writeFileSync(file, "new");
  await undoChanges(kept(t), run_id, false);
  expect(readFileSync(file, "utf8")).toBe("old");
});

test("a file that a person changed after an undo was interrupted is named when the undo is called again", async () => {
  const file = join(project, "a.txt");
  writeFileSync(file, "old");
  await using t = runtimeWith({ lead: [writing("a.txt", "new"), say("done")] });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const failing = atReading(t, 2, () => {
    throw new Error("the disk is gone");
  });
  await expect(undoChanges(failing, run_id, false)).rejects.toThrow("the disk is gone");
  writeFileSync(file, "by hand");
  await expect(undoChanges(kept(t), run_id, false)).rejects.toThrow(
    "a.txt (the process ended while it was being changed)",
  );
  expect(readFileSync(file, "utf8")).toBe("by hand");
});

test("an undo that cannot write a file names it, and the same call finishes it later", async () => {
  const file = join(project, "a.txt");
  writeFileSync(file, "old");
  await using t = runtimeWith({ lead: [writing("a.txt", "new"), say("done")] });
  const { run_id } = await t.runtime.run({ agent: "lead", task: "go" });
  rmSync(file);
  mkdirSync(join(file, "by-hand"), { recursive: true });
  await expect(undoChanges(kept(t), run_id, true)).rejects.toMatchObject({
    name: "RetinueError",
    message: expect.stringMatching(/^a\.txt cannot be written: /),
  });
  rmSync(file, { recursive: true });
  await undoChanges(kept(t), run_id, true);
  expect(readFileSync(file, "utf8")).toBe("old");
});
