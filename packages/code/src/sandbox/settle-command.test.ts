import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHolder } from "./hold-places.ts";
import type { CommandState } from "./running-commands.ts";
import { type Find, findCommand } from "./scan-folders.ts";
import { settleCommand } from "./settle-command.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-settle-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A command that found nothing protected when it began. */
function describeCommand(): CommandState {
  const before = { existing: {}, links: {}, closed: [], unspelled: [], modes: {} };
  return { holder: createHolder(), roots: [root], held: [], before };
}

/** A look with GNU find, and what happens just before it. */
function createFind(before: () => void): Find {
  return async () => {
    before();
    const [program = "", ...args] = findCommand([root]);
    const records = execFileSync(program, args).toString("latin1").split("\0").slice(0, -1);
    return records.map((record) => Buffer.from(record, "latin1"));
  };
}

test("a command is settled although others keep making protected files all the time", async () => {
  let looks = 0;
  const find = createFind(() => mkdirSync(join(root, `sub-${looks++}/.claude/agents`), { recursive: true }));
  const notes = await settleCommand(describeCommand(), find);
  expect(notes[0]).toContain("no command may make this");
  expect(looks).toBeGreaterThan(2);
  for (let look = 0; look < looks; look++)
    expect(readdirSync(join(root, `sub-${look}`))).toEqual([expect.stringContaining(".set-aside-")]);
});

test("what cannot be set aside is a fault, so that no other command begins", async () => {
  mkdirSync(join(root, "real/.claude/agents"), { recursive: true });
  symlinkSync("real", join(root, "link"));
  const find: Find = async () => [Buffer.from(`P\td\t1:1\t1\t${root}/link/.claude`)];
  await expect(settleCommand(describeCommand(), find)).rejects.toThrow("cannot be set aside");
  expect(existsSync(join(root, "real/.claude"))).toBe(true);
});
