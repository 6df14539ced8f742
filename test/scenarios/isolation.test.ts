import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "@retinue/code/file-tools/read";
import { write } from "@retinue/code/file-tools/write-tools";
import { undoChanges } from "@retinue/core/changes/undo";
import { makeWorktree, sweepWorktrees } from "@retinue/core/changes/worktrees";
import { createBlobStore } from "@retinue/core/record/blob-store";
import {
  after,
  callDelegate,
  callTool,
  callTools,
  hang,
  type Step,
  type StepMaker,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandTool, type Deed, git, treeOf } from "../fixtures/project-tree.ts";

let root: string;
let project: string;
const TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-isolation-")));
  project = join(root, "project");
  mkdirSync(project);
  writeFileSync(join(project, "text.txt"), TEXT);
  writeFileSync(join(project, ".gitignore"), "node_modules/\n");
  mkdirSync(join(project, "node_modules"));
  writeFileSync(join(project, "node_modules", "dep.js"), "");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function asRepository(): void {
  git(project, "init", "-q", "-b", "main");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
}

function start(scripts: Parameters<typeof testRuntime>[0], more: TestRuntimeOptions = {}): TestRuntime {
  const isolated = { workspace: "isolated" as const };
  return testRuntime(scripts, {
    projectDir: project,
    dataDir: join(root, "data"),
    tools: [read, write, commandTool()],
    agents: { worker: isolated, one: isolated, two: isolated },
    ...more,
  });
}

const kept = (t: TestRuntime) => ({
  record: t.runtime.record,
  blobs: createBlobStore(join(root, "data", "blobs")),
});
const writing = (path: string, content: string): Step => callTool("write", { path, content });
const command = (...deeds: Deed[]): Step => callTool("command", { deeds });
/** Merges the run whose result came last. */
const merging: StepMaker = ({ last }) =>
  callTool("merge_changes", { run: /run_id="(\w+)"/.exec(last)?.[1] ?? "none" });
const inProject = (path: string) => readFileSync(join(project, path), "utf8");
const worktrees = () =>
  existsSync(join(root, "data", "worktrees")) ? readdirSync(join(root, "data", "worktrees")) : [];

test("two isolated children edit one file at once: both diffs are kept, the first merges, the second conflicts, nothing is lost", async () => {
  asRepository();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runs: string[] = [];
  const lines = TEXT.split("\n");
  const editing = (line: string) => [lines[0], line, ...lines.slice(2)].join("\n");
  const at = (own: PromiseWithResolvers<void>, other: PromiseWithResolvers<void>) => () => {
    own.resolve();
    return after(other.promise, say("done"));
  };
  await using t = start({
    lead: [
      callTools([
        { tool: "delegate", input: { agent: "one", task: "x" } },
        { tool: "delegate", input: { agent: "two", task: "x" } },
      ]),
      ({ options }) => {
        const text = JSON.stringify(options.prompt);
        runs.push(...[...text.matchAll(/run_id=\\+"(\w+)/g)].map((match) => match[1] ?? ""));
        return callTool("merge_changes", { run: runs[0] });
      },
      () => callTool("merge_changes", { run: runs[1] }),
      say("done"),
    ],
    one: [writing("text.txt", editing("by one")), at(first, second)],
    two: [writing("text.txt", editing("by two")), at(second, first)],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(inProject("text.txt")).toBe(editing("by one"));
  const told = t.models.lead?.requests.map((request) => JSON.stringify(request.prompt)) ?? [];
  expect(told[1]).toContain("not in the project yet");
  expect(told[2]).toContain(`merged ${runs[0]}`);
  expect(told[3]).toContain("nothing was merged");
  expect(told[3]).toContain("by one");
  expect(told[3]).toContain("by two");
  expect(worktrees()).toEqual([runs[1]]);
  expect(readFileSync(join(root, "data", "worktrees", runs[1] ?? "", "text.txt"), "utf8")).toBe(
    editing("by two"),
  );
  expect(result.warnings).toEqual([expect.stringContaining(`retinue merge ${runs[1]}`)]);
  const diffs = t.events.flatMap((event) => (event.type === "run.ended" ? [event.result.changes?.diff] : []));
  const texts = diffs.flatMap((file) => (file ? [readFileSync(file, "utf8")] : []));
  expect(texts.join()).toContain("+by one");
  expect(texts.join()).toContain("+by two");
});

test("changes in different places of one file merge into it, and the merge is undone with the run that made it", async () => {
  asRepository();
  chmodSync(join(project, "text.txt"), 0o640);
  const before = treeOf(project);
  await using t = start({
    lead: [
      callDelegate("one", "x"),
      merging,
      callDelegate("two", "x"),
      command({ do: "write", path: "text.txt", text: TEXT.replace("one", "ONE").replace("four", "FOUR") }),
      async () => callTool("merge_changes", { run: (await t.runtime.record.listWorktrees())[0]?.runId }),
      say("done"),
    ],
    one: [writing("text.txt", TEXT.replace("one", "ONE")), say("done")],
    two: [
      writing("text.txt", TEXT.replace("one", "ONE").replace("seven", "SEVEN")),
      writing("new/a.sh", "x"),
      say("done"),
    ],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(inProject("text.txt")).toBe(
    TEXT.replace("one", "ONE").replace("four", "FOUR").replace("seven", "SEVEN"),
  );
  expect(treeOf(project)["text.txt"]).toMatch(/^100640 /);
  expect(inProject("new/a.sh")).toBe("x");
  expect([result.files_created, result.files_modified]).toEqual([["new/a.sh"], ["text.txt"]]);
  expect(worktrees()).toEqual([]);
  expect(git(project, "for-each-ref", "refs/retinue")).toBe("");
  expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(1);
  await undoChanges(kept(t), result.run_id, false);
  expect(treeOf(project)).toEqual(before);
});

test("a copy begins with what is not committed, and the project's index, branch and files stay as they are", async () => {
  asRepository();
  writeFileSync(join(project, "text.txt"), "changed\r\n");
  writeFileSync(join(project, "staged.txt"), "staged");
  git(project, "add", "staged.txt");
  writeFileSync(join(project, "untracked.txt"), "untracked");
  const state = () => [
    git(project, "status", "--porcelain"),
    git(project, "rev-parse", "HEAD"),
    treeOf(project),
  ];
  const before = state();
  let seen: Record<string, string> = {};
  let log = "";
  await using t = start({
    lead: [callDelegate("worker", "x"), say("done")],
    worker: [
      writing("made.txt", "1"),
      () => {
        const path = join(root, "data", "worktrees", worktrees()[0] ?? "");
        seen = treeOf(path);
        log = git(path, "status", "--porcelain") + git(path, "log", "--oneline");
        return say("done");
      },
    ],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(state()).toEqual(before);
  expect(Object.keys(seen)).toEqual([".gitignore", "made.txt", "staged.txt", "text.txt", "untracked.txt"]);
  expect(seen["text.txt"]).toBe(`100644 ${Buffer.from("changed\r\n").toString("base64")}`);
  expect(log).toMatch(/^\?\? made\.txt\n\w+ The project as it was when run_\w+ began\n\w+ first\n$/);
  expect(git(project, "for-each-ref", "refs/retinue").trim().split("\n")).toHaveLength(1);
});

test("nothing that a hostile repository's configuration names is run", async () => {
  asRepository();
  const canary = join(root, "canary");
  const program = join(root, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${canary}\ncat\n`, { mode: 0o755 });
  mkdirSync(join(project, ".git", "hooks"), { recursive: true });
  for (const hook of ["post-checkout", "reference-transaction", "post-index-change"])
    writeFileSync(join(project, ".git", "hooks", hook), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  for (const key of [
    "core.fsmonitor",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "core.sshCommand",
    "diff.external",
  ])
    git(project, "config", key, program);
  git(project, "config", "filter.evil.required", "true");
  git(project, "config", "core.hooksPath", join(project, ".git", "hooks"));
  writeFileSync(
    join(project, ".gitattributes"),
    "* filter=evil text eol=crlf ident working-tree-encoding=UTF-16\n",
  );
  const before = treeOf(project);
  await using t = start({
    lead: [callDelegate("worker", "x"), merging, say("done")],
    worker: [writing("text.txt", "$Id$\nnew\n"), command({ do: "remove", path: ".gitignore" }), say("done")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(inProject("text.txt")).toBe("$Id$\nnew\n");
  await undoChanges(kept(t), result.run_id, false);
  expect(treeOf(project)).toEqual(before);
  expect(existsSync(canary)).toBe(false);
});

test("outside git a child gets a plain copy, which merges just the same", async () => {
  await using t = start({
    lead: [callDelegate("worker", "x"), merging, say("done")],
    worker: [
      writing("text.txt", "new\n"),
      command({ do: "write", path: "bin/run", text: "x", mode: 0o755 }),
      say("done"),
    ],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(inProject("text.txt")).toBe("new\n");
  expect(treeOf(project)["bin/run"]).toMatch(/^100755 /);
  expect(result.files_created).toEqual(["bin/run"]);
  expect(worktrees()).toEqual([]);
});

test("a copy in which nothing changed is gone when its run ends", async () => {
  asRepository();
  await using t = start({
    lead: [callDelegate("worker", "x"), say("done")],
    worker: [writing("a.txt", "1"), command({ do: "remove", path: "a.txt" }), say("done")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(worktrees()).toEqual([]);
  expect(git(project, "for-each-ref", "refs/retinue")).toBe("");
  expect(result.warnings).toEqual([]);
});

test("a merge writes only where the run that merges may write", async () => {
  asRepository();
  await using t = start(
    {
      lead: [callDelegate("worker", "x"), merging, say("done")],
      worker: [writing("src/a.txt", "1"), writing("text.txt", "2"), say("done")],
    },
    {
      agents: {
        lead: {
          tools: ["read", "write(src/**)"],
          grants: ["read", "write"],
          subagents: { allow: ["worker"] },
        },
        worker: { workspace: "isolated" },
      },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const told = JSON.stringify(t.models.lead?.requests[2]?.prompt);
  expect(told).toContain("permission denied");
  expect(inProject("text.txt")).toBe(TEXT);
  expect(existsSync(join(project, "src"))).toBe(false);
  expect(worktrees()).toHaveLength(1);
});

test("an isolated child cannot touch the project, another's copy or the record, by whatever path", async () => {
  asRepository();
  const answers: string[] = [];
  await using t = start({
    lead: [callDelegate("one", "x"), callDelegate("two", "x"), say("done")],
    one: [writing("mine.txt", "1"), say("done")],
    two: [
      async () => {
        const other = (await t.runtime.record.listWorktrees())[0]?.path ?? "";
        return callTools([
          { tool: "write", input: { path: join(project, "text.txt"), content: "x" } },
          { tool: "write", input: { path: join(other, "mine.txt"), content: "x" } },
          { tool: "read", input: { path: join(other, "mine.txt") } },
          { tool: "write", input: { path: join(root, "data", "retinue.db"), content: "x" } },
          { tool: "write", input: { path: ".git", content: "x" } },
          { tool: "read", input: { path: "text.txt" } },
        ]);
      },
      ({ options }) => {
        const message = options.prompt.at(-1);
        if (message?.role === "tool")
          for (const part of message.content)
            if (part.type === "tool-result" && "value" in part.output)
              answers.push(String(part.output.value));
        return say("done");
      },
    ],
  });
  await t.runtime.run({ agent: "lead", task: "go" });
  expect(answers.slice(0, 5).every((answer) => /denied|outside/.test(answer))).toBe(true);
  expect(answers[5]).toContain("three");
  expect(inProject("text.txt")).toBe(TEXT);
});

test("a child of an isolated run works in that run's copy, and its own isolated child merges into it", async () => {
  asRepository();
  await using t = start(
    {
      lead: [callDelegate("middle", "x"), merging, say("done")],
      middle: [callDelegate("helper", "x"), callDelegate("worker", "x"), merging, say("done")],
      helper: [writing("helper.txt", "h"), say("done")],
      worker: [callTool("read", { path: "helper.txt" }), writing("worker.txt", "w"), say("done")],
    },
    {
      agents: {
        middle: { workspace: "isolated", subagents: { allow: ["helper", "worker"] } },
        worker: { workspace: "isolated" },
      },
    },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  expect([inProject("helper.txt"), inProject("worker.txt")]).toEqual(["h", "w"]);
  expect(worktrees()).toEqual([]);
  expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(1);
});

test("after a crash an isolated child goes on in its own copy, and its changes merge", async () => {
  asRepository();
  const places = { database: join(root, "data", "retinue.db"), lenient: true };
  let hung = false;
  const first = start(
    {
      lead: [callDelegate("worker", "x")],
      worker: [
        writing("a.txt", "1"),
        () => {
          hung = true;
          return hang();
        },
      ],
    },
    places,
  );
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  while (!hung) await new Promise((resolve) => setImmediate(resolve));
  await first.runtime.record.committed();
  const [copy] = worktrees();
  await using second = start(
    { lead: [merging, say("done")], worker: [writing("b.txt", "2"), say("done")] },
    places,
  );
  const { result } = await second.runtime.resume(sessionId);
  expect((await result).status).toBe("completed");
  expect(worktrees()).not.toContain(copy);
  expect([inProject("a.txt"), inProject("b.txt")]).toEqual(["1", "2"]);
  await first.close().catch(() => {});
});

test("copies that a crash left behind are cleared away, and those with changes are kept", async () => {
  asRepository();
  const parts = (t: TestRuntime) => ({ ...kept(t), dataDir: join(root, "data") });
  await using t = start({
    lead: [callDelegate("worker", "x"), say("done")],
    worker: [writing("a.txt", "1"), say("done")],
  });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const about = { sessionId: session_id, agent: "worker", from: project, nowMs: 0 };
  const idle = await makeWorktree(parts(t), { ...about, runId: "run_idle", line: ["run_idle"] });
  const busy = await makeWorktree(parts(t), { ...about, runId: "run_busy", line: ["run_busy"] });
  const half = await makeWorktree(parts(t), { ...about, runId: "run_half", line: ["run_half"] });
  writeFileSync(join(busy.path, "b.txt"), "2");
  await t.runtime.record.write({ kind: "worktree.save", row: { ...half, status: "making" } });
  await t.runtime.record.committed();
  await sweepWorktrees(parts(t));
  expect(existsSync(idle.path)).toBe(false);
  expect(existsSync(half.path)).toBe(false);
  await t.runtime.record.committed();
  expect((await t.runtime.record.listWorktrees()).map((row) => row.status)).toEqual(["kept", "kept"]);
  expect(git(project, "for-each-ref", "refs/retinue").trim().split("\n")).toHaveLength(2);
  expect(git(project, "worktree", "list").trim().split("\n")).toHaveLength(3);
});
