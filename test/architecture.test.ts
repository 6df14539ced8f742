import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));
const web = fileURLToPath(new URL("../web/src", import.meta.url));

/** A folder imports only from lower levels; equal levels never import each other. */
const LEVELS: Record<string, number> = {
  schema: 0,
  ...Object.fromEntries(
    [
      "agents",
      "permissions",
      "scheduler",
      "models",
      "tools",
      "store",
      "config",
      "files",
      "net",
      "text",
      "redact",
      "telemetry",
    ].map((name) => [name, 1]),
  ),
  packs: 2,
  loop: 2,
  runtime: 3,
  server: 4,
  testing: 4,
  cli: 5,
};

const sourcesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
  );
const files = sourcesOf(src);
const webFiles = sourcesOf(web);
const read = (file: string) => readFileSync(join(src, file), "utf8");
const folderOf = (file: string) => file.split("/")[0] ?? "";

test("every folder of src has a level", () => {
  const folders = new Set(files.filter((file) => file.includes("/")).map(folderOf));
  expect([...folders].filter((folder) => !(folder in LEVELS))).toEqual([]);
});

test("imports point only downward", () => {
  const wrong: string[] = [];
  for (const file of files) {
    const from = folderOf(file);
    for (const [, path] of read(file).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      const to = folderOf(relative(src, resolve(dirname(join(src, file)), path ?? "")));
      if (!(from in LEVELS) || from === to) continue;
      if ((LEVELS[to] ?? 9) >= (LEVELS[from] ?? 0)) wrong.push(`${file} imports ${path}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("packs do not import each other", () => {
  const wrong = files
    .filter((file) => file.startsWith("packs/"))
    .filter((file) => {
      const pack = file.split("/")[1] ?? "";
      return [...read(file).matchAll(/from "(\.[^"]+)"/g)].some(([, path]) => {
        const to = relative(src, resolve(dirname(join(src, file)), path ?? ""));
        return to.startsWith("packs/") && !to.startsWith(`packs/${pack}/`);
      });
    });
  expect(wrong).toEqual([]);
});

test("the web app knows the rest of the project only by the types of the vocabulary", () => {
  const wrong: string[] = [];
  for (const file of webFiles) {
    const text = readFileSync(join(web, file), "utf8");
    for (const [line, path] of text.matchAll(
      /^(?:import|export)[^;]*?from "(\.[^"]+)";|import\("(\.[^"]+)"\)/gm,
    )) {
      const to = relative(web, resolve(dirname(join(web, file)), path ?? ""));
      const isType = /^(?:import|export) type\b/.test(line);
      if (to.startsWith("..") && !(isType && to.startsWith("../../src/schema/")))
        wrong.push(`${file}: ${line}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("no regular expression changes its flags on the way: V8 forgets that under load", () => {
  const changing = files.filter((file) =>
    /\(\?-?[ims]+(?:-[ims]+)?:/.test(read(file).replaceAll("`(?i:…)`", "")),
  );
  expect(changing).toEqual([]);
});

test("the way to a run loads no schema library", () => {
  const heavy = files.filter((file) => /^import (?!type)[^;]*from "(zod|ajv)"/m.test(read(file)));
  expect(heavy).toEqual([]);
});
