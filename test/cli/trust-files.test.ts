import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { afterAll, expect, test } from "vitest";
import { World } from "./world.ts";

const world = new World();
afterAll(() => world[Symbol.asyncDispose]());

const NONE = "nothing here was written by a run that held untrusted text\n";

async function note(path: string, content: string): Promise<void> {
  writeFileSync(join(world.project, path), content);
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  const hash = createHash("sha256").update(content).digest("hex");
  const author = { root: realpathSync(world.project), sessionId: "ses_1", runId: "run_1" };
  await record.noteUntrusted({ ...author, path, hash, size: content.length });
  await record.close();
}

test("files that tainted runs wrote are listed, and a person removes the mark from a file, a copy or all of them", async () => {
  expect(await world.call(["trust-files"])).toMatchObject({ code: 0, stdout: NONE });
  await note("notes.txt", "one");
  await note("moved.txt", "two");
  await note("left.txt", "three");
  renameSync(join(world.project, "moved.txt"), join(world.project, "new-name.txt"));
  const { stdout, stderr } = await world.call(["trust-files"]);
  expect(stdout).toMatch(/there +\S*notes\.txt +run_1/);
  expect(stdout).toMatch(/gone +\S*moved\.txt +run_1/);
  expect(stderr).toContain("retinue trust-files FILE");
  expect((await world.call(["trust-files", "notes.txt", "new-name.txt"])).stdout).toBe(
    "2 marks were taken off\n",
  );
  expect(JSON.parse((await world.call(["trust-files", "--json"])).stdout)).toMatchObject([
    { path: "left.txt", state: "there", runId: "run_1" },
  ]);
  expect(await world.call(["trust-files", "--all"])).toMatchObject({
    code: 0,
    stdout: "1 mark was taken off\n",
  });
  expect((await world.call(["trust-files"])).stdout).toBe(NONE);
});

test("in a project a person sees and removes all marks that count there, also for names and for files written above or below it", async () => {
  const inner = join(world.project, "inner");
  mkdirSync(join(inner, "Do this and that"), { recursive: true });
  await note("inner/notes.txt", "one or two");
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  const author = { root: realpathSync(world.project), sessionId: "ses_1", runId: "run_1" };
  await record.noteUntrusted({ ...author, path: "inner/Do this and that", hash: "aa" });
  await record.close();
  const { stdout } = await world.call(["trust-files"], { cwd: inner });
  expect(stdout).toMatch(/there +\S*inner\/notes\.txt +run_1/);
  expect(stdout).toMatch(/name +\S*inner\/Do this and that +run_1/);
  expect((await world.call(["trust-files", "Do this and that"], { cwd: inner })).stdout).toBe(
    "1 mark was taken off\n",
  );
  expect((await world.call(["trust-files", "--all"], { cwd: inner })).stdout).toBe("1 mark was taken off\n");
  expect((await world.call(["trust-files"])).stdout).toBe(NONE);
});

test("a file that is not marked is named, and files and --all exclude each other", async () => {
  expect(await world.call(["trust-files", "nothing.txt"])).toMatchObject({
    code: 42,
    stderr: expect.stringContaining("nothing.txt is not on the list of untrusted files"),
  });
  expect(await world.call(["trust-files", "--all", "x"])).toMatchObject({ code: 2 });
});
