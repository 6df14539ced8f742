import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import type { ParsedFiles } from "@retinue/core/agents/load-agents";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLiveProject } from "./live-project.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-live-")));
  mkdirSync(join(root, ".retinue/agents"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function writeAgent(name: string, description: string): string {
  const path = join(root, ".retinue/agents", `${name}.md`);
  writeFileSync(path, `---\nname: ${name}\ndescription: ${description}\n---\nYou are ${name}.\n`);
  return path;
}

async function open() {
  const options = { projectDir: root, env: { HOME: root }, builtinDir: join(root, "none") };
  return createLiveProject(options, await loadProject(options));
}

test("who asks while the project is being read shares one reading after it, and sees what was changed before asking", async () => {
  writeAgent("one", "first");
  const project = await open();
  const first = project.reload();
  writeAgent("two", "second");
  const later = Array.from({ length: 100 }, () => project.reload());
  await first;
  const projects = await Promise.all(later);
  expect(new Set(projects).size).toBe(1);
  expect(projects[0]?.registry.get("two")?.description).toBe("second");
  expect(project.current()).toBe(projects[0]);
  expect(await project.reload()).not.toBe(projects[0]);
});

test("a file that has not changed is not parsed again; one of the same size and time with another content is", async () => {
  const path = writeAgent("one", "aaaa");
  const other = writeAgent("two", "stays");
  const parsed: ParsedFiles = new Map();
  const options = { projectDir: root, env: { HOME: root }, builtinDir: join(root, "none"), parsed };
  await loadProject(options);
  const before = parsed.get(other);
  const { atime, mtime } = statSync(path);
  writeAgent("one", "bbbb");
  utimesSync(path, atime, mtime);
  const { registry } = await loadProject(options);
  expect(registry.get("one")?.description).toBe("bbbb");
  expect(before).toBeDefined();
  expect(parsed.get(other)).toBe(before);
});
