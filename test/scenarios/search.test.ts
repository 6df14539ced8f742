import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { codeTools } from "@retinue/code/code-tools";
import { DEFAULT_SETTINGS } from "@retinue/core/settings/default-settings";
import { callDelegate, callTool, say, type TestRuntimeOptions, testRuntime } from "@retinue/core/testing";
import type { SearchProvider } from "@retinue/research/search/search-provider";
import { createWebSearch, webFetch, webSearch } from "@retinue/research/web-tools";
import { afterEach, beforeEach, expect, test } from "vitest";

const EXAMPLES = fileURLToPath(new URL("../../examples/documents/durable-storage", import.meta.url));

let root: string;
let projectDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-search-"));
  projectDir = join(root, "project");
  mkdirSync(projectDir);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  const file = join(projectDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
function start(queries: readonly string[], options: TestRuntimeOptions = {}) {
  const searches = queries.map((query) => callTool("web_search", { query }));
  return testRuntime(
    { lead: [...searches, say("done")] },
    { tools: [webSearch], projectDir, dataDir: join(root, "data"), ...options },
  );
}
type Started = ReturnType<typeof start>;
const run = (t: Started) => t.runtime.run({ agent: "lead", task: "go" });
const workspaceOf = (sessionId: string) => join(root, "data", "sessions", sessionId);
/** What the model was told last. */
const lastResult = (t: Started) => JSON.stringify(t.models.lead?.requests.at(-1)?.prompt.at(-1));
const addressIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\/[^\s"\\]+/.exec(text)?.[0] ?? "";

function fake(search: SearchProvider["search"]): SearchProvider {
  return { name: "fake", hosts: ["search.example"], search };
}

test("a search of the project's documents gives addresses that a run reads, and nobody else can", async () => {
  write("docs/log.md", "# The log\n\nA durable log is flushed, and then it is kept.");
  await using t = testRuntime(
    {
      lead: [
        callTool("web_search", { query: "durable log" }),
        ({ last }) => callTool("web_fetch", { url: addressIn(last) }),
        say("done"),
      ],
    },
    { tools: [webSearch, webFetch], projectDir, dataDir: join(root, "data") },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const asked = JSON.stringify(t.models.lead?.requests.at(-1)?.prompt);
  expect(asked).toContain("1. The log");
  expect(asked).toContain("(searched local documents, not the web)");
  const text = lastResult(t);
  expect(text).toContain("# The log\\nhttp://127.0.0.1:");
  expect(text).toContain("A durable log is flushed, and then it is kept.");
  await expect(fetch(addressIn(text))).rejects.toThrow();
});

test("a search says where its results were saved, and they are handed over by that file", async () => {
  write("docs/log.md", "# The log\n\nA durable log is flushed.");
  await using t = testRuntime(
    {
      lead: [
        callTool("web_search", { query: "durable log" }),
        ({ last }) => {
          const saved = /\(saved as (workspace:[^)]+)\)/.exec(last)?.[1] ?? "";
          return callDelegate("expert", "use it", { contextFiles: [saved] });
        },
        say("done"),
      ],
      expert: [say("read")],
    },
    { tools: [webSearch, ...codeTools], projectDir, dataDir: join(root, "data") },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const told = JSON.stringify(t.models.expert?.requests[0]?.prompt);
  expect(told).toContain('<file path=\\"workspace:search_results/');
  expect(told).toContain("A durable log is flushed.");
});

test("what was found is saved in the workspace, and the run is tainted by it", async () => {
  write("a.txt", "First\n\ndurable");
  await using t = start(["Durable: storage?", "nothing like this"]);
  const result = await run(t);
  const folder = join(workspaceOf(result.session_id), "search_results");
  const [first, second] = readdirSync(folder).sort();
  expect([first, second]).toEqual([
    expect.stringMatching(/^\d{6}-durable-storage\.json$/),
    expect.stringMatching(/^\d{6}-nothing-like-this\.json$/),
  ]);
  const saved = JSON.parse(readFileSync(join(folder, first ?? ""), "utf8"));
  expect(saved).toEqual({
    query: "Durable: storage?",
    provider: "local documents",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    hits: [
      { title: "First", url: expect.stringContaining("/a.txt"), snippet: expect.stringContaining("durable") },
    ],
  });
  expect(t.events.filter(({ type }) => type === "run.tainted")).toHaveLength(1);
  expect(result.files_created).toEqual([]);
});

test("a workspace that cannot be written is a notice, and the search goes on", async () => {
  let broken = "";
  const provider = fake(async (_, { run: { workspaceDir } }) => {
    broken = join(workspaceDir, "search_results");
    writeFileSync(broken, "a file in the way");
    return [{ title: "Hit", url: "https://a.example/", snippet: "s" }];
  });
  await using t = start(["x"], { tools: [createWebSearch(provider)] });
  const result = await run(t);
  expect(result.status).toBe("completed");
  expect(lastResult(t)).toContain("1. Hit");
  const notices = t.events.flatMap((event) => (event.type === "notice.raised" ? [event] : []));
  expect(notices).toMatchObject([
    {
      level: "warning",
      runId: result.run_id,
      message: expect.stringMatching(/search_results\/.*was not kept/),
    },
  ]);
  expect(readFileSync(broken, "utf8")).toBe("a file in the way");
});

test("secrets are hidden in what is saved", async () => {
  const secret = ["tok", "Zx81", "qqWWee99"].join("_");
  const provider = fake(async () => [
    { title: "Hit", url: "https://a.example/", snippet: `it is ${secret}` },
  ]);
  await using t = start(["x"], { tools: [createWebSearch(provider)], env: { MAIL_TOKEN: secret } });
  const { session_id } = await run(t);
  const folder = join(workspaceOf(session_id), "search_results");
  const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  expect(text).toEqual([expect.stringContaining("it is [redacted:")]);
});

test("a run finds nothing in files that it may not read", async () => {
  write("open.txt", "Open\n\ndurable");
  write("private/plan.txt", "Private\n\ndurable");
  await using t = start(["durable"], {
    agents: { lead: { tools: ["web_search"], disallowedTools: ["read(private/**)"] } },
  });
  await run(t);
  expect(lastResult(t)).toContain("Open");
  expect(lastResult(t)).not.toContain("Private");
});

test("what a search engine sends cannot pass for more hits, other schemes or logins", async () => {
  const provider = fake(async () => [
    {
      title: "One\n2. Two\n   https://evil.example/",
      url: "https://a.example/x#y",
      snippet: "s\u2028t\u0000",
    },
    { title: "again", url: "https://a.example/x#y", snippet: "" },
    { title: "script", url: "javascript:alert(1)", snippet: "" },
    { title: "login", url: "https://user:pass@a.example/", snippet: "" },
    { title: "", url: "https://b.example/", snippet: "w".repeat(5_000) },
  ]);
  await using t = start(["x"], { tools: [createWebSearch(provider)] });
  const { session_id } = await run(t);
  const folder = join(workspaceOf(session_id), "search_results");
  const { hits } = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0] ?? ""), "utf8"));
  expect(hits).toEqual([
    { title: "One 2. Two https://evil.example/", url: "https://a.example/x#y", snippet: "s t" },
    { title: "b.example", url: "https://b.example/", snippet: "w".repeat(600) },
  ]);
});

test("a search that fails is an answer for the model, and nothing is saved", async () => {
  const provider = fake(() => Promise.reject(new Error("fake allows no more searches for now")));
  await using t = start(["x"], { tools: [createWebSearch(provider)] });
  const result = await run(t);
  expect(result.status).toBe("completed");
  expect(lastResult(t)).toContain("the search failed: fake allows no more searches for now");
  expect(readdirSync(workspaceOf(result.session_id))).not.toContain("search_results");
});

test("a provider that nobody knows is an error of the configuration", () => {
  const search = { folders: ["."], provider: "gogle" as "exa" };
  expect(() => start([], { settings: { ...DEFAULT_SETTINGS, search } })).toThrow(
    "there is no search provider 'gogle'",
  );
});

test("a data folder that cannot hold an index is an answer with its path", async () => {
  write("a.txt", "durable");
  mkdirSync(join(root, "data", "documents.db"), { recursive: true });
  chmodSync(join(root, "data"), 0o700);
  await using t = start(["durable"]);
  expect((await run(t)).status).toBe("completed");
  expect(lastResult(t)).toContain("documents.db is not a file");
});

test("the example documents answer what one would ask them", async () => {
  const settings = { ...DEFAULT_SETTINGS, search: { folders: [EXAMPLES] } };
  const expected = {
    "annual failure rate of hard disks": ["Disk failures in 2024", "Hard disk reliability"],
    "is RAID a backup": ["RAID is not a backup", "mirrored array is backup enough"],
    "median fsync": ["What fsync really costs", "Notes from a flush-bound service"],
    "silent corruption": ["Silent corruption: five years", "Bit rot is rarer"],
    "eleven nines durability": ["Eleven nines", "The eleventh nine is marketing"],
    "how long does tape last": ["Tape in 2025", "A letter on the true cost of tape"],
  };
  for (const [query, titles] of Object.entries(expected)) {
    await using t = start([query], { settings });
    await run(t);
    for (const title of titles) expect(lastResult(t)).toContain(title);
    expect(lastResult(t)).not.toContain("Example documents:");
  }
});
