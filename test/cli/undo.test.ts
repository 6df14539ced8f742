import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, treeOf } from "../fixtures/project-tree.ts";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

const lastId = (text: string, prefix: string) => new RegExp(`${prefix}_\\w+`).exec(text)?.[0] ?? "";
const writing = (path: string, content: string): ModelReply => ({
  calls: [{ name: "write", input: { path, content } }],
});

async function worldWith(script: (request: ModelRequest) => ModelReply): Promise<World> {
  const world = new World();
  world.agent("lead", "tools: [read, write]");
  world.model = await startModel(script);
  world.write("text.txt", "one\ntwo\n");
  return world;
}

test("a run's changes are shown, undone and brought back from the command line", async () => {
  await using world = await worldWith(({ turn }) => {
    if (turn === 0) return writing("text.txt", "one\n2\n");
    return turn === 1 ? writing("new/file.txt", "x\n") : { text: "done" };
  });
  const before = treeOf(world.project);
  expect((await world.call(["run", "--agent", "lead", "go"])).code).toBe(0);
  const after = treeOf(world.project);

  const stat = await world.call(["diff", "last", "--stat"]);
  expect(stat.stdout).toMatch(/text\.txt +\| \+1 -1\n2 files, \+2 -1\n$/);
  const diff = await world.call(["diff", "last"]);
  expect(diff.stdout).toContain("-two\n+2\n");
  const json = JSON.parse((await world.call(["diff", "last", "--json"])).stdout);
  expect(json.folders[0].files.map((file: { path: string }) => file.path)).toEqual([
    "new/file.txt",
    "text.txt",
  ]);

  const asked = await world.call(["undo", "last"]);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  expect(treeOf(world.project)).toEqual(after);
  const dry = await world.call(["undo", "last", "--dry-run"]);
  expect(dry.stdout).toContain("restore text.txt");
  expect(treeOf(world.project)).toEqual(after);

  const elsewhere = await world.call(["undo", "last", "--yes", "-C", world.home]);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([42, expect.stringContaining("is recorded")]);
  expect(treeOf(world.project)).toEqual(after);

  const undone = await world.call(["undo", "last", "--yes"]);
  expect(undone.code).toBe(0);
  expect(treeOf(world.project)).toEqual(before);
  const again = await world.call(["undo", "last", "--yes"]);
  expect(again.stdout).toContain("nothing to undo");
  const back = await world.call(["undo", lastId(undone.stdout, "und"), "-y"]);
  expect(back.code).toBe(0);
  expect(treeOf(world.project)).toEqual(after);
});

test("a diff can be applied by git to what was there before", async () => {
  await using world = await worldWith(({ turn }) => {
    if (turn === 0) return writing("text.txt", "zero\none\ntwo\nno end");
    return turn === 1 ? writing("new/file.txt", "") : { text: "done" };
  });
  await world.call(["run", "--agent", "lead", "go"]);
  const { stdout } = await world.call(["diff", "last"]);
  const copy = join(world.root, "copy");
  mkdirSync(copy);
  world.writeAt(join(copy, "text.txt"), "one\ntwo\n");
  const patch = world.writeAt(join(world.root, "patch"), stdout);
  git(copy, "apply", patch);
  expect(readFileSync(join(copy, "text.txt"), "utf8")).toBe("zero\none\ntwo\nno end");
  expect(existsSync(join(copy, "new/file.txt"))).toBe(true);
});

test("undo names files that were changed since, and touches nothing", async () => {
  await using world = await worldWith(({ turn }) =>
    turn === 0 ? writing("text.txt", "x") : { text: "done" },
  );
  await world.call(["run", "--agent", "lead", "go"]);
  world.write("text.txt", "mine");
  const refused = await world.call(["undo", "last", "--yes"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("text.txt (it changed since)") });
  expect(world.read("text.txt")).toBe("mine");
  expect((await world.call(["undo", "last", "--yes", "--force"])).code).toBe(0);
  expect(world.read("text.txt")).toBe("one\ntwo\n");
});

test("an isolated run's changes wait in a list until a person merges them, and that can be undone", async () => {
  await using world = await worldWith(({ system, turn }) => {
    if (system.includes("You are worker."))
      return turn === 0 ? writing("text.txt", "one\nTWO\n") : { text: "done" };
    return turn === 0
      ? { calls: [{ name: "delegate", input: { agent: "worker", task: "x" } }] }
      : { text: "left it" };
  });
  world.agent("lead", "tools: [read, write]\nsubagents: [worker]");
  world.agent("worker", "tools: [read, write]\nworkspace: isolated");
  git(world.project, "init", "-q");
  git(world.project, "add", "-A");
  git(world.project, "commit", "-q", "-m", "first");
  await world.call(["run", "--agent", "lead", "go"]);
  expect(world.read("text.txt")).toBe("one\ntwo\n");
  const listed = await world.call(["merge", "--list"]);
  const run = lastId(listed.stdout, "run");
  expect(listed.stdout).toContain("worker");

  world.write("text.txt", "one\nmine\n");
  const conflict = await world.call(["merge", run]);
  expect(conflict.code).toBe(1);
  expect(conflict.stdout).toContain("CONFLICT text.txt changed in the same place on both sides");
  expect(world.read("text.txt")).toBe("one\nmine\n");

  world.write("text.txt", "one\ntwo\n");
  const merged = await world.call(["merge", run.slice(0, 10)]);
  expect(merged.code).toBe(0);
  expect(world.read("text.txt")).toBe("one\nTWO\n");
  expect((await world.call(["merge", "--list"])).stdout).toBe("nothing waits to be merged\n");
  expect((await world.call(["merge", run])).stderr).toContain("merged already");
  expect((await world.call(["diff", run])).stdout).toContain("+TWO");
  await world.call(["undo", lastId(merged.stdout, "mrg"), "--yes"]);
  expect(world.read("text.txt")).toBe("one\ntwo\n");
});

test.each(["last", "the session's id", "the beginning of it", "the run above"])(
  "merge takes %s for all copies that were left there",
  async (name) => {
    await using world = await worldWith(({ system, turn, all }) => {
      const file = all.includes("make-the-one") ? "first.txt" : "second.txt";
      if (system.includes("You are worker.")) return turn === 0 ? writing(file, "x\n") : { text: "done" };
      const calls = ["make-the-one", "make-the-other"].map((each) => ({
        name: "delegate",
        input: { agent: "worker", task: each },
      }));
      return turn === 0 ? { calls } : { text: "left it" };
    });
    world.agent("lead", "tools: [read, write]\nsubagents: [worker]");
    world.agent("worker", "tools: [read, write]\nworkspace: isolated");
    const ran = await world.call(["run", "--agent", "lead", "--output-format", "json", "go"]);
    const { session_id: session, run_id: run } = JSON.parse(ran.stdout);
    expect(existsSync(join(world.project, "first.txt"))).toBe(false);
    const named =
      { last: "last", "the session's id": session, "the run above": run }[name] ?? session.slice(0, 12);
    if (name === "last")
      expect(await world.call(["merge", "last", "-C", world.home])).toMatchObject({ code: 42 });

    const merged = await world.call(["merge", named]);
    expect(merged).toMatchObject({ code: 0, stderr: "" });
    expect([world.read("first.txt"), world.read("second.txt")]).toEqual(["x\n", "x\n"]);
    expect((await world.call(["merge", named])).stderr).toContain("has changes to merge; available: none");
    await world.call(["undo", "last", "--yes"]);
    expect(existsSync(join(world.project, "first.txt"))).toBe(false);
  },
);

test("a name that fits no run is refused with the names there are", async () => {
  await using world = new World();
  expect(await world.call(["diff", "run_nope"])).toMatchObject({ code: 42 });
  expect(await world.call(["merge"])).toMatchObject({ code: 2 });
  expect((await world.call(["merge", "--list"])).stdout).toBe("nothing waits to be merged\n");
});

test("kept contents and copies are readable by their owner only", async () => {
  await using world = await worldWith(({ turn }) =>
    turn === 0 ? writing("text.txt", "x") : { text: "done" },
  );
  symlinkSync("text.txt", join(world.project, "link"));
  await world.call(["run", "--agent", "lead", "go"]);
  const blobs = treeOf(join(world.data, "blobs"));
  const modes = Object.values(blobs).map((entry) => entry.split(" ")[0]);
  expect(new Set(modes)).toEqual(new Set(["40700", "100600"]));
});

test("an unreadable data folder is not taken for an empty one", async () => {
  await using world = new World();
  const loop = join(world.project, "loop");
  symlinkSync(loop, loop);
  for (const call of [
    ["undo", "last"],
    ["merge", "--list"],
    ["plan", "list"],
  ]) {
    const { code, stderr } = await world.run(call, { env: { RETINUE_HOME: loop } });
    expect(code).not.toBe(0);
    expect(stderr).toContain("cannot open the database");
    expect(stderr).not.toContain("defect");
  }
});
