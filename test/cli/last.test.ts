import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** Each command by what it says of the session that it took. */
const COMMANDS: readonly (readonly string[])[] = [
  ["trace", "last", "--json"],
  ["export", "last", "--format", "json"],
  ["export", "last", "--format", "jsonl"],
  ["replay", "last", "--json"],
  ["diff", "last", "--json"],
  ["undo", "last", "--dry-run", "--json"],
  ["cancel", "last"],
];

test("`last` is the last session of this project in every command, whatever ran elsewhere since", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "done" }));
  world.agent("main", "");
  const elsewhere = join(world.root, "elsewhere");
  mkdirSync(elsewhere);
  const idOf = async (cwd: string) => {
    const { stdout } = await world.call(["run", "go", "--json"], { cwd });
    return String(JSON.parse(stdout).session_id);
  };
  const here = await idOf(world.project);
  const there = await idOf(elsewhere);
  for (const args of COMMANDS) {
    const said = await world.call(args);
    expect(said.stdout + said.stderr, args.join(" ")).toContain(here);
    expect(said.stdout + said.stderr, args.join(" ")).not.toContain(there);
    const other = await world.call([...args, "-C", elsewhere]);
    expect(other.stdout + other.stderr, args.join(" ")).toContain(there);
  }
  const stats = await world.call(["stats", "--session", "last", "--json"]);
  expect(JSON.parse(stats.stdout).total.runs).toBe(1);
  const on = await world.call(["run", "-c", "more", "--json"]);
  expect(JSON.parse(on.stdout).session_id).toBe(here);
  const resumed = await world.call(["resume"]);
  expect([resumed.code, resumed.stderr]).toEqual([
    42,
    expect.stringContaining(`no session of ${world.project}`),
  ]);
  const empty = join(world.root, "empty");
  mkdirSync(empty);
  const none = await world.call(["trace", "last"], { cwd: empty });
  expect([none.code, none.stderr]).toEqual([
    42,
    expect.stringContaining(`no session of ${empty} is recorded`),
  ]);
});
