/**
 * Measures Retinue and a loop that journals to SQLite against a loop written by hand on `fetch`, doing the same requests to
 * a local server in another process. Every number is a ratio within one run or a size; the order is interleaved and the
 * median of the rounds counts. `npm run bench` prints the table and writes bench/results/latest.json; `--quick` takes one
 * round, `--only loops` measures only the loops over the wire.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  listenForStart,
  measure,
  median,
  type Numbers,
  resolveFile,
  startBenchServer,
  takeTurns,
} from "./rounds.ts";

type Row = { what: string; value: string; goal: string; ok: boolean | null };

const { values: flags } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
const ROUNDS = flags.quick ? 1 : 5;
const LOOPS = ["fetch", "journal", "retinue"] as const;
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

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Several measurements of two or more kinds, taken in turn; the median of each. */
async function interleaved<Kind extends string>(
  kinds: readonly Kind[],
  one: (kind: Kind) => Promise<number>,
): Promise<Record<Kind, number>> {
  const taken = await takeTurns(kinds, ROUNDS, one);
  return Object.fromEntries(kinds.map((kind) => [kind, median(taken[kind])])) as Record<Kind, number>;
}

/** What is measured over the wire: how the table calls it, what the loops are told to do, and Retinue's goal. */
const WORK = [
  { what: "N = 1", mode: "cpu", n: 1, goal: 1.2 },
  { what: "N = 10", mode: "cpu", n: 10, goal: 1.2 },
  { what: "N = 100", mode: "cpu", n: 100, goal: 0.6 },
  { what: "N = 1000", mode: "cpu", n: 1000, goal: 0.7 },
  { what: "N = 1, warm", mode: "warm", n: 1, goal: 1.2 },
  { what: "chain three deep, warm", mode: "chain", n: 3, goal: 1.3 },
];

async function cpuOverTheWire(url: string): Promise<void> {
  const perDelegation: Record<number, number> = {};
  for (const { what, mode, n, goal } of WORK) {
    say(`CPU, ${what} …`);
    const env = { BENCH_URL: url, BENCH_N: String(n), BENCH_MODE: mode };
    const cpu = await interleaved(
      LOOPS,
      async (kind) => (await measure(`${kind}-loop.mjs`, env)).cpuMs ?? Number.NaN,
    );
    raw[`cpuMs, ${what}`] = cpu;
    if (mode === "cpu") perDelegation[n] = cpu.retinue / n;
    add(`CPU against the fetch loop, ${what}`, cpu.retinue / cpu.fetch, "×", goal);
    add("the same in the journaling loop", cpu.journal / cpu.fetch, "×", null);
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
  const taken = await takeTurns(LOOPS, ROUNDS, (kind) => measure(`${kind}-loop.mjs`, env));
  raw.heap = taken;
  const of = (kind: (typeof LOOPS)[number], key: string) =>
    median(taken[kind].map((numbers) => numbers[key] ?? Number.NaN));
  add("heap per live sub-agent, 1000 open", of("retinue", "liveKb"), "KB", 20);
  add("the same in the journaling loop", of("journal", "liveKb"), "KB", null);
  add("the same in the fetch loop", of("fetch", "liveKb"), "KB", null);
  add("heap kept per sub-agent after the run", of("retinue", "retainedKb"), "KB", 4);
  add("the same in the journaling loop", of("journal", "retainedKb"), "KB", null);
  add("the same in the fetch loop", of("fetch", "retainedKb"), "KB", null);
  add("model calls open at once", of("retinue", "atOnce"), "calls", null);
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
  const site = await startBenchServer("crawl.mjs", { BENCH_MODE: "serve" });
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
  const server = await listenForStart();
  const env = { BENCH_URL: server.url, BENCH_MODE: "start", BENCH_N: "1" };
  const times = await interleaved(LOOPS, async (kind) => {
    const begun = performance.now();
    await measure(`${kind}-loop.mjs`, env);
    return server.arrivedAt() - begun;
  });
  server.stop();
  raw["start to first request, ms"] = times;
  add("start to the first model request against the fetch loop", times.retinue / times.fetch, "×", 2);
  add("the same in the journaling loop", times.journal / times.fetch, "×", null);
}

const server = await startBenchServer();
try {
  await start();
  await cpuOverTheWire(server.url);
  await recording(server.url);
  await memory(server.url);
  if (flags.only !== "loops") {
    await inProcess();
    await search();
    await crawl();
  }
} finally {
  server.stop();
}
const width = Math.max(...rows.map((row) => row.what.length));
console.log(`\nNode ${process.version}, ${os.cpus().length} cores, median of ${ROUNDS}\n`);
for (const row of rows)
  console.log(
    `${row.what.padEnd(width)}  ${row.value.padStart(11)}  ${row.goal.padEnd(10)}  ${row.ok === null ? "" : row.ok ? "ok" : "MISSED"}`,
  );
mkdirSync(resolveFile("results"), { recursive: true });
writeFileSync(
  resolveFile("results/latest.json"),
  `${JSON.stringify({ node: process.version, rounds: ROUNDS, rows, raw }, null, 2)}\n`,
);
