import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadHistory, rememberInput } from "./engine.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "retinue-history-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("what was typed comes back in its order, for its project only, from a file of its owner", async () => {
  const here = { dataDir, projectDir: "/a" };
  for (const text of ["one", "two\nlines"]) await rememberInput(here, text);
  expect(await loadHistory(here)).toEqual(["one", "two\nlines"]);
  expect(await loadHistory({ dataDir, projectDir: "/b" })).toEqual([]);
  const folder = join(dataDir, "history");
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600]);
});

test("a damaged line hides no other, and of a long history file only the end is kept", async () => {
  const here = { dataDir, projectDir: "/a" };
  await rememberInput(here, "first");
  const folder = join(dataDir, "history");
  const path = join(folder, readdirSync(folder)[0] ?? "");
  appendFileSync(path, '{"no": "text"}\nbroken\n');
  appendFileSync(path, Array.from({ length: 1_200 }, (_, index) => `"${index}"\n`).join(""));
  const items = await loadHistory(here);
  expect([items.length, items.at(-1)]).toEqual([500, "1199"]);
  expect(statSync(path).size).toBeLessThan(5_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
