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

test("reloads that are asked for during a reload share the next one, which sees all changes made before", async () => {
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

test("an unchanged file is not parsed again; one with the same size and time but different content is", async () => {
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
