/**
 * Measures Retinue against a loop written by hand on `fetch`, doing the same requests to a local server in another
 * process. Every number is a ratio within one run or a size; the order is interleaved and the median of the rounds counts.
 * `npm run bench` prints the table and writes bench/results/latest.json; `--quick` takes one round.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import os from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type Numbers = Record<string, number>;
type Row = { what: string; value: string; goal: string; ok: boolean | null };

const ROUNDS = process.argv.includes("--quick") ? 1 : 5;
const SIZES = [1, 10, 100, 1000];
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const rows: Row[] = [];
const raw: Record<string, unknown> = {};

function add(what: string, value: number, unit: string, limit: number | null): void {
  const shown = unit === "×" ? value.toFixed(2) : value.toFixed(value < 10 ? 1 : 0);
  rows.push({
    what,
    value: `${shown} ${unit}`,
    goal: limit === null ? "" : `≤ ${limit} ${unit}`,
    ok: limit === null ? null : value <= limit,
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Runs one measured process and reads the JSON it prints. */
function measure(file: string, env: Record<string, string>): Promise<Numbers> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--expose-gc", here(file)], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.on("exit", (code) =>
      code === 0
        ? resolve(output ? JSON.parse(output) : {})
        : reject(new Error(`${file} ended with ${code}`)),
    );
  });
}

/** Starts a server in a process of its own; by default the model's. */
function startServer(
  file = "server.ts",
  env: Record<string, string> = {},
): Promise<{ url: string; stop: () => void }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [here(file), "--port", "0"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.once("data", (line) =>
      resolve({ url: `http://127.0.0.1:${JSON.parse(String(line)).port}`, stop: () => child.kill() }),
    );
  });
}

/** Several measurements of two or more kinds, taken in turn. */
async function interleaved<Kind extends string>(
  kinds: readonly Kind[],
  one: (kind: Kind) => Promise<number>,
): Promise<Record<Kind, number>> {
  const taken = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Record<Kind, number[]>;
  for (let round = 0; round < ROUNDS; round++) for (const kind of kinds) taken[kind].push(await one(kind));
  return Object.fromEntries(kinds.map((kind) => [kind, median(taken[kind])])) as Record<Kind, number>;
}

async function cpuOverTheWire(url: string): Promise<void> {
  const perDelegation: Record<number, number> = {};
  for (const n of SIZES) {
    say(`fan-out of ${n}: CPU …`);
    const env = { BENCH_URL: url, BENCH_N: String(n), BENCH_MODE: "cpu" };
    const cpu = await interleaved(
      ["fetch", "retinue"],
      async (kind) => (await measure(`${kind}-loop.mjs`, env)).cpuMs ?? Number.NaN,
    );
    raw[`cpuMs, ${n} delegations`] = cpu;
    perDelegation[n] = cpu.retinue / n;
    add(`CPU per delegation against the fetch loop, N = ${n}`, cpu.retinue / cpu.fetch, "×", 1.2);
  }
  add(
    "CPU per delegation, N = 1000 against N = 100",
    (perDelegation[1000] ?? 0) / (perDelegation[100] ?? 1),
    "×",
    1,
  );
}

async function recording(url: string): Promise<void> {
  say("recording on against off …");
  const cpu = await interleaved(["recorded", "unrecorded"], async (kind) => {
    const env = { BENCH_URL: url, BENCH_N: "1000", BENCH_MODE: kind === "recorded" ? "cpu" : kind };
    return (await measure("retinue-loop.mjs", env)).cpuMs ?? Number.NaN;
  });
  raw["cpuMs, 1000 delegations, recording"] = cpu;
  add("CPU with the record against without, N = 1000", cpu.recorded / cpu.unrecorded, "×", 1.2);
}

async function memory(url: string): Promise<void> {
  say("heap with 1000 sub-agents held open …");
  const env = { BENCH_URL: url, BENCH_N: "1000", BENCH_MODE: "heap" };
  const fetched = await measure("fetch-loop.mjs", env);
  const taken: Numbers[] = [];
  for (let round = 0; round < ROUNDS; round++) taken.push(await measure("retinue-loop.mjs", env));
  raw.heap = { fetch: fetched, retinue: taken };
  const of = (key: string) => median(taken.map((numbers) => numbers[key] ?? Number.NaN));
  add("heap per live sub-agent, 1000 open", of("liveKb"), "KB", 40);
  add("the same in the fetch loop", fetched.liveKb ?? Number.NaN, "KB", null);
  add("heap kept per sub-agent after the run", of("retainedKb"), "KB", 5);
  add("model calls open at once", of("atOnce"), "calls", null);
}

async function inProcess(): Promise<void> {
  const wall = async (mode: string, n: number) => {
    say(`in one process, scripted model: ${mode} ${n} …`);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      times.push(
        (await measure("in-process.mjs", { BENCH_MODE: mode, BENCH_N: String(n) })).wallMs ?? Number.NaN,
      );
    return median(times);
  };
  const [thousand, tenThousand, chain, tree] = [
    await wall("flat", 1000),
    await wall("flat", 10_000),
    await wall("chain", 50),
    await wall("tree", 10),
  ];
  raw["in process, wallMs"] = { thousand, tenThousand, chain, tree };
  add("time of 10,000 live sub-agents against 1,000", tenThousand / thousand, "×", 13);
  add("1,000 live sub-agents, scripted model", thousand, "ms", null);
  add("10,000 live sub-agents, scripted model", tenThousand, "ms", null);
  add("chain nested 50 deep", chain, "ms", null);
  add("tree of 3 levels × 10 (1,111 runs)", tree, "ms", null);
  const cancel = await measure("in-process.mjs", { BENCH_MODE: "cancel", BENCH_N: "100" });
  add("cancel with 100 live children until all are settled", cancel.settledMs ?? Number.NaN, "ms", 2000);
}

/** grep and read in a repository of 50,000 files, against ripgrep alone. */
async function search(): Promise<void> {
  say("a repository of 50,000 files …");
  const root = mkdtempSync(join(os.tmpdir(), "retinue-bench-"));
  const taken: Record<string, Record<string, number>> = {};
  try {
    const env = { BENCH_DIR: join(root, "repository") };
    await measure("search.mjs", { ...env, BENCH_MODE: "make" });
    for (const [what, pattern] of [
      ["few hits", "needle"],
      ["many hits", "word12"],
    ] as const) {
      const times = await interleaved(
        ["ripgrep", "grep"],
        async (kind) =>
          (await measure("search.mjs", { ...env, BENCH_MODE: kind, BENCH_PATTERN: pattern })).wallMs ??
          Number.NaN,
      );
      taken[what] = times;
      add(`grep in 50,000 files against ripgrep alone, ${what}`, times.grep / times.ripgrep, "×", 1.3);
    }
    const { wallMs = Number.NaN } = await measure("search.mjs", { ...env, BENCH_MODE: "read" });
    add("read of one of 50,000 files", wallMs, "ms", null);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  raw["search, wallMs"] = taken;
}

/** 200 real pages through `crawl_parallel`, against the same with jsdom and turndown. */
async function crawl(): Promise<void> {
  const { pages = 0 } = await measure("crawl.mjs", { BENCH_MODE: "count" });
  if (pages < 200) {
    say(
      `crawl: skipped, /usr/share/doc has ${pages} pages of 200 (Debian: apt install valgrind debian-handbook)`,
    );
    return;
  }
  const site = await startServer("crawl.mjs", { BENCH_MODE: "serve" });
  const taken: Record<string, Numbers[]> = { retinue: [], jsdom: [] };
  try {
    for (let round = 0; round < Math.min(ROUNDS, 3); round++)
      for (const kind of ["retinue", "jsdom"]) {
        say(`crawl of 200 pages: ${kind} …`);
        taken[kind]?.push(await measure("crawl.mjs", { BENCH_MODE: kind, BENCH_URL: site.url }));
      }
  } finally {
    site.stop();
  }
  raw.crawl = taken;
  const of = (kind: string, key: string) =>
    median((taken[kind] ?? []).map((numbers) => numbers[key] ?? Number.NaN));
  const cpuPerPage = (kind: string) => of(kind, "cpuMs") / 200;
  const pagesPerSecond = (kind: string) => 200_000 / of(kind, "wallMs");
  add("crawl, CPU per page against jsdom and turndown", cpuPerPage("retinue") / cpuPerPage("jsdom"), "×", 1);
  add("crawl, CPU per page", cpuPerPage("retinue"), "ms", null);
  add("the same with jsdom and turndown", cpuPerPage("jsdom"), "ms", null);
  add("crawl, pages per second", pagesPerSecond("retinue"), "pages", null);
  add("the same with jsdom and turndown", pagesPerSecond("jsdom"), "pages", null);
  add("crawl, longest time that the event loop was blocked", of("retinue", "maxDelayMs"), "ms", 150);
}

/** From the start of the process to the arrival of its first request. */
async function start(): Promise<void> {
  say("start to first model request …");
  let arrived = 0;
  const server = http.createServer((request, response) => {
    arrived = performance.now();
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(
        'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const env = { BENCH_URL: `http://127.0.0.1:${port}`, BENCH_MODE: "start", BENCH_N: "1" };
  const times = await interleaved(["fetch", "retinue"], async (kind) => {
    const begun = performance.now();
    await measure(`${kind}-loop.mjs`, env);
    return arrived - begun;
  });
  server.close();
  raw["start to first request, ms"] = times;
  add("start to the first model request against the fetch loop", times.retinue / times.fetch, "×", 2);
}

const server = await startServer();
try {
  await start();
  await cpuOverTheWire(server.url);
  await recording(server.url);
  await memory(server.url);
  await inProcess();
  await search();
  await crawl();
} finally {
  server.stop();
}
const width = Math.max(...rows.map((row) => row.what.length));
console.log(`\nNode ${process.version}, ${os.cpus().length} cores, median of ${ROUNDS}\n`);
for (const row of rows)
  console.log(
    `${row.what.padEnd(width)}  ${row.value.padStart(11)}  ${row.goal.padEnd(10)}  ${row.ok === null ? "" : row.ok ? "ok" : "MISSED"}`,
  );
mkdirSync(here("results"), { recursive: true });
writeFileSync(
  here("results/latest.json"),
  `${JSON.stringify({ node: process.version, rounds: ROUNDS, rows, raw }, null, 2)}\n`,
);
