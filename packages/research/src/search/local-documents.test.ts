import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Target } from "@retinue/core/schema/rights";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { findLocalDocuments, type LocalDocuments } from "./local-documents.ts";
import type { SearchOptions } from "./search-provider.ts";

let place: ToolPlace;
let documents: LocalDocuments;
let told: string[];

beforeEach(() => {
  place = toolPlace();
  told = [];
  documents = open();
});
afterEach(async () => {
  await documents.close();
  place.remove();
});

function places(env: HostPlaces["env"] = {}): HostPlaces {
  const dataDir = join(place.root, "data");
  return { env, homeDir: place.root, dataDir, configDir: place.root };
}
const open = (folders: readonly string[] = ["."], env = {}) => findLocalDocuments({ folders }, places(env));

function find(query: string, more: Partial<SearchOptions & SearchOptions["run"]> = {}) {
  const { limit = 10, signal = new AbortController().signal, ...run } = more;
  const { projectDir, workspaceDir } = place;
  const progress = (message: string) => void told.push(message);
  return documents.search(query, {
    limit,
    signal,
    run: { projectDir, workspaceDir, maySee: () => true, progress, ...run },
  });
}
const titles = async (query: string, more = {}) => (await find(query, more)).map(({ title }) => title);

test("documents are found by their words in any form, titles first, with the words around them", async () => {
  place.write("a.md", "# Notes\n\nThe disk was replicated across the continents.");
  place.write("b.html", "<title>Replication</title><body><p>Nothing more.");
  place.write("c.txt", "Cooking\n\nA recipe.");
  place.write("d.ts", "// replication");
  expect(await titles("replicating")).toEqual(["Replication", "Notes"]);
  expect((await find("continent"))[0]?.snippet).toContain("replicated across the continents");
});

test("a snippet is of its own document", async () => {
  for (const name of ["one", "two", "three"])
    place.write(`${name}.txt`, `${name}\n\nthe ${name} durable log`);
  for (const { title, snippet } of await find("durable")) expect(snippet).toContain(`the ${title} durable`);
});

test("documents with every word come before those with one, and alike beginnings are the last resort", async () => {
  place.write(
    "both.txt",
    "Both\n\nfsync costs time and here is much other text to make it longer than the other",
  );
  place.write("one.txt", "One\n\nfsync fsync fsync");
  expect(await titles("fsync costs")).toEqual(["Both", "One"]);
  expect(await titles("fsynchronous")).toEqual([]);
  expect(await titles("fsyn")).toEqual(["One", "Both"]);
});

test("only what changed is read again, and what is gone is no longer found", async () => {
  const file = place.write("a.txt", "First\n\nalpha");
  place.write("b.txt", "Second\n\nalpha");
  expect(await titles("alpha")).toEqual(["First", "Second"]);
  place.write("a.txt", "First\n\ngamma");
  rmSync(join(place.projectDir, "b.txt"));
  place.write("c.txt", "Third\n\nalpha");
  expect(await titles("alpha")).toEqual(["Third"]);
  expect(await titles("gamma")).toEqual(["First"]);
  utimesSync(file, new Date(0), new Date(0));
  told = [];
  expect(await titles("gamma")).toEqual(["First"]);
  expect(told).toEqual([]);
});

test("a file that turns into something else drops out", async () => {
  const file = place.write("a.txt", "First\n\nalpha");
  expect(await titles("alpha")).toEqual(["First"]);
  renameSync(file, join(place.root, "moved.txt"));
  symlinkSync(join(place.root, "moved.txt"), file);
  expect(await titles("alpha")).toEqual([]);
});

test("ignored, hidden, linked, too large and unreadable files are passed over", async () => {
  place.write(".gitignore", "secret/\n");
  place.write("secret/a.txt", "alpha");
  place.write(".hidden/a.txt", "alpha");
  place.write("node_modules/x/readme.md", "alpha");
  writeFileSync(join(place.root, "outside.txt"), "alpha");
  linkSync(join(place.root, "outside.txt"), join(place.projectDir, "hard.txt"));
  symlinkSync(place.root, join(place.projectDir, "up"));
  place.write("large.txt", `alpha ${"x".repeat(2_000_000)}`);
  place.write("binary.txt", "alpha\0");
  chmodSync(place.write("closed.txt", "Closed\n\nalpha"), 0);
  place.write("good.txt", "Good\n\nalpha");
  // Nobody can close a file to root.
  const expected = process.getuid?.() === 0 ? ["Closed", "Good"] : ["Good"];
  expect(await titles("alpha")).toEqual(expected);
});

test("a run finds only what it may see, and others fill the places", async () => {
  for (const name of ["a", "b", "c"]) place.write(`${name}.txt`, `${name}\n\nalpha`);
  const asked: string[] = [];
  const maySee = (file: Target) => {
    if (file.kind === "path") asked.push(`${file.root} ${file.relative} ${file.mode}`);
    return file.kind === "path" && file.relative !== "a.txt";
  };
  expect(await titles("alpha", { maySee, limit: 2 })).toEqual(["b", "c"]);
  expect(asked).toEqual(["project a.txt read", "project b.txt read", "project c.txt read"]);
});

test("weird queries find nothing or something, and never fail", async () => {
  place.write("a.txt", "alpha");
  for (const query of [
    '"',
    "*",
    "NEAR(",
    "a\0b",
    "-".repeat(1_000),
    "\ud800",
    "col:x AND",
    "'; DROP TABLE texts;",
  ])
    expect(Array.isArray(await find(query))).toBe(true);
  expect(await titles("alpha NOT (")).toEqual(["alpha"]);
});

test("the user's folders are searched, a relative one only inside the project", async () => {
  const own = join(place.root, "own");
  mkdirSync(own);
  writeFileSync(join(own, "a.txt"), "Mine\n\nalpha");
  place.write("docs/b.txt", "Project\n\nalpha");
  place.write("other.txt", "Other\n\nalpha");
  symlinkSync(own, join(place.projectDir, "link"));
  documents = open([own, "docs", "docs", "link", "../own", "missing"]);
  expect((await titles("alpha")).sort()).toEqual(["Mine", "Project"]);
  expect(told).toContain("not searched: link leads out of the project");
  expect(told).toContain("not searched: ../own leads out of the project");
  expect(told).toContain("not searched: missing is not a folder");
  await documents.close();
  documents = open(["missing"]);
  await expect(find("alpha")).rejects.toThrow("no folder can be searched: missing is not a folder");
});

test("secrets are not copied into the index", async () => {
  const secret = ["hunter2", "Long", "4Value"].join("-");
  documents = open(["."], { MAIL_TOKEN: secret });
  place.write("a.txt", `alpha ${secret} omega`);
  expect((await find("alpha"))[0]?.snippet).toBe("alpha [redacted:secret] omega");
});

test("a search that is stopped ends at once, and the index is left whole", async () => {
  for (let at = 0; at < 50; at++) place.write(`${at}.txt`, `${at}\n\nalpha`);
  await expect(find("alpha", { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
  expect(await find("alpha", { limit: 50 })).toHaveLength(50);
});

test("searches at the same time agree", async () => {
  for (let at = 0; at < 40; at++) place.write(`${at}.txt`, `${at}\n\nalpha`);
  const all = await Promise.all([1, 2, 3].map(() => find("alpha", { limit: 20 })));
  expect(all.map(({ length }) => length)).toEqual([20, 20, 20]);
});

test("two processes may index the same folder at once, and agree on addresses", async () => {
  for (let at = 0; at < 100; at++) place.write(`${at}.txt`, `${at}\n\nalpha`);
  const [one, other] = [documents, open()];
  const both = [one, other].map((each) => {
    documents = each;
    return find("alpha", { limit: 20 });
  });
  const paths = (await Promise.all(both)).map((hits) => hits.map(({ url }) => new URL(url).pathname));
  expect(paths[0]).toHaveLength(20);
  expect(paths[1]).toEqual(paths[0]);
  await one.close();
});

test("addresses stay the same between processes, and documents are read by them from the disk", async () => {
  const path = place.write("guides/a b.txt", "First\n\nalpha");
  const [hit] = await find("alpha");
  const url = hit?.url ?? "";
  await documents.close();
  documents = open();
  const earlier = url.replace(/:\d+\//, ":43123/");
  for (const address of [url, earlier]) {
    expect(documents.has(address)).toBe(true);
    expect(await documents.read(address, 1_000)).toMatchObject({
      url: address,
      contentType: "text/plain",
      text: "First\n\nalpha",
    });
  }
  expect(await documents.read(url, 5)).toMatchObject({ status: "failed", kind: "too_large" });
  const elsewhere = "http://127.0.0.1:65535/nothing/here.txt";
  expect([documents.has(elsewhere), await documents.read(elsewhere, 5)]).toEqual([false, undefined]);
  rmSync(path);
  symlinkSync("/etc/hostname", path);
  expect(await documents.read(url, 1_000)).toMatchObject({ status: "failed", kind: "not_found" });
});

test("behind a document's address stands its file, for rights to be judged by", async () => {
  const path = place.write("guides/a.txt", "First\n\nalpha");
  const [hit] = await find("alpha");
  expect(await documents.findTarget(hit?.url ?? "", place)).toEqual({
    kind: "path",
    path,
    root: "project",
    relative: "guides/a.txt",
    mode: "read",
  });
  expect(await documents.findTarget("https://example.org/guides/a.txt", place)).toBeUndefined();
});

test("one runtime has one index", () => {
  const same = places();
  expect(findLocalDocuments({ folders: ["."] }, same)).toBe(findLocalDocuments({ folders: ["."] }, same));
});
