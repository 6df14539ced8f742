/**
 * Measures other libraries beside Retinue and the two loops written by hand, on the same delegation against the same
 * server. Each is installed from its pinned package.json in bench/peers/ into bench/results/peers/; programs take turns.
 * `npm run bench:peers` prints a table of ratios to the fetch loop and writes bench/results/peers.json. `--only NAME`
 * (repeatable) measures only that library, `--quick` takes one round, `--bound SECONDS` ends a measurement (120).
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { listenForStart, measure, median, type Numbers, resolveFile, startBenchServer } from "./rounds.ts";

const TITLES: Record<string, string> = {
  "ai-sdk": "Vercel AI SDK",
  "openai-agents": "OpenAI Agents",
  deepagents: "Deep Agents",
  mastra: "Mastra",
  voltagent: "VoltAgent",
};
const LOOPS: Record<string, string> = {
  fetch: "fetch loop",
  journal: "journaling loop",
  retinue: "Retinue",
};
const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean" },
    only: { type: "string", multiple: true },
    bound: { type: "string", default: "120" },
  },
});
const ROUNDS = flags.quick ? 1 : 3;
const BOUND_MS = Number(flags.bound) * 1000;
const scratch = resolveFile("results/peers");

/** No telemetry, no account, nothing but loopback: the last ends a process that tries (see loopback-only.mjs). */
const ENV = {
  PATH: process.env.PATH ?? "",
  HOME: scratch,
  NODE_ENV: "production",
  DO_NOT_TRACK: "1",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LANGSMITH_TRACING: "false",
  LANGCHAIN_TRACING_V2: "false",
  MASTRA_TELEMETRY_DISABLED: "1",
  NODE_OPTIONS: `--import=${pathToFileURL(resolveFile("loopback-only.mjs")).href}`,
};

type Work = { what: string; mode: "start" | "cpu" | "warm" | "heap"; n: number };
const WORK: Work[] = [
  { what: "start", mode: "start", n: 1 },
  { what: "N = 1", mode: "cpu", n: 1 },
  { what: "N = 1, warm", mode: "warm", n: 1 },
  { what: "N = 10", mode: "cpu", n: 10 },
  { what: "N = 100", mode: "cpu", n: 100 },
  { what: "N = 1000", mode: "cpu", n: 1000 },
  { what: "heap", mode: "heap", n: 1000 },
];

/** What one program showed: the median of its rounds, or why there is none. */
type Shown = { numbers: Numbers } | { failed: string };

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Installs a library unless this very package.json is installed already. Returns why it could not be done. */
function install(name: string): string | undefined {
  const folder = join(scratch, name);
  const wanted = readFileSync(resolveFile(`peers/${name}.package.json`), "utf8");
  const file = join(folder, "package.json");
  const marker = join(folder, "installed.json");
  mkdirSync(folder, { recursive: true });
  copyFileSync(resolveFile(`peers/${name}.mjs`), join(folder, "adapter.mjs"));
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return undefined;
  say(`installing ${TITLES[name]} …`);
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  writeFileSync(file, wanted);
  const options = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
  const npmFile = process.env.npm_execpath ?? "";
  const [command, args] = npmFile.endsWith(".js")
    ? [process.execPath, [npmFile, "install", ...options]]
    : ["npm", ["install", ...options]];
  const npm = spawnSync(command, args, { cwd: folder, encoding: "utf8", timeout: 600_000 });
  if (npm.status !== 0) return `npm install: ${(npm.error?.message ?? npm.stderr).trim()}`;
  writeFileSync(marker, wanted);
  return undefined;
}

/** One measurement in a process of its own. It counts only if the server got exactly the delegation's model calls. */
async function measureOnce(kind: string, { mode, n }: Work, serverUrl: string): Promise<Numbers> {
  const file = kind in LOOPS ? `${kind}-loop.mjs` : "peer-loop.mjs";
  const adapter = kind in LOOPS ? "" : join(scratch, kind, "adapter.mjs");
  const run = (url: string) =>
    measure(
      file,
      { ...ENV, BENCH_PEER: adapter, BENCH_URL: url, BENCH_MODE: mode, BENCH_N: `${n}` },
      { boundMs: BOUND_MS, inheritEnv: false },
    );
  if (mode === "start") {
    const server = await listenForStart();
    try {
      const begun = performance.now();
      await run(server.url);
      return { startMs: server.arrivedAt() - begun };
    } finally {
      server.stop();
    }
  }
  // What an ended process left held is let go first.
  for (const path of ["/hold?count=0", "/reset"]) await fetch(`${serverUrl}${path}`, { method: "POST" });
  const numbers = await run(serverUrl);
  const answer = await fetch(`${serverUrl}/stats`);
  const { requests, maxOpen } = (await answer.json()) as { requests: number; maxOpen: number };
  const expected = (numbers.times ?? 1) * (2 + 3 * n);
  if (requests !== expected) throw new Error(`made ${requests} model calls instead of ${expected}`);
  return { ...numbers, atOnce: maxOpen };
}

/** All rounds of one piece of work, the programs taking turns. One that fails is left out of the rounds that follow. */
async function measureInTurn(kinds: readonly string[], work: Work, url: string) {
  const taken = new Map<string, Numbers[]>();
  const failures = new Map<string, string>();
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of kinds.filter((kind) => !failures.has(kind))) {
      say(`${work.what}: ${kind}`);
      try {
        taken.set(kind, [...(taken.get(kind) ?? []), await measureOnce(kind, work, url)]);
      } catch (error) {
        failures.set(kind, error instanceof Error ? error.message : String(error));
        say(`  ${failures.get(kind)}`);
      }
    }
  const show = (kind: string): Shown => {
    const failed = failures.get(kind);
    return failed === undefined ? { numbers: takeMedians(taken.get(kind) ?? []) } : { failed };
  };
  return Object.fromEntries(kinds.map((kind) => [kind, show(kind)]));
}

function takeMedians(rounds: readonly Numbers[]): Numbers {
  const keys = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    keys.map((key) => [key, median(rounds.map((numbers) => numbers[key] ?? Number.NaN))]),
  );
}

/** The versions that npm chose for what package.json names. */
function readVersions(name: string): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(resolveFile(`peers/${name}.package.json`), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const read = (dependency: string): string =>
    JSON.parse(readFileSync(join(scratch, name, "node_modules", dependency, "package.json"), "utf8")).version;
  return Object.fromEntries(Object.keys(dependencies).map((dependency) => [dependency, read(dependency)]));
}

/** Written after each piece of work, so that a run that is broken off leaves what it has. */
function writeReport(): void {
  const report = {
    node: process.version,
    cores: os.cpus().length,
    rounds: ROUNDS,
    versions,
    missing,
    results,
  };
  writeFileSync(resolveFile("results/peers.json"), `${JSON.stringify(report, null, 2)}\n`);
}

const asked = flags.only ?? Object.keys(TITLES);
for (const name of asked)
  if (!(name in TITLES)) {
    say(`There is no peer "${name}": choose from ${Object.keys(TITLES).join(", ")}.`);
    process.exit(1);
  }

const server = await startBenchServer();
const missing: Record<string, string> = {};
const versions: Record<string, Record<string, string>> = {};
const results: Record<string, Record<string, Shown>> = {};
try {
  for (const name of asked) {
    const problem =
      install(name) ??
      (await measureOnce(name, { what: "trial", mode: "cpu", n: 2 }, server.url).then(
        () => undefined,
        (error: Error) => error.message,
      ));
    if (problem === undefined) versions[name] = readVersions(name);
    else {
      missing[name] = problem;
      say(`${TITLES[name]} cannot be measured: ${problem}`);
    }
  }
  const kinds = [...Object.keys(LOOPS), ...Object.keys(versions)];
  for (const work of WORK) {
    results[work.what] = await measureInTurn(kinds, work, server.url);
    writeReport();
  }
} finally {
  server.stop();
}

/** A cell of the table: the ratio to the fetch loop, or KB. */
function showCell(kind: string, what: string, key: string): string {
  const shown = results[what]?.[kind];
  const base = results[what]?.fetch;
  if (!shown || "failed" in shown) return "–";
  const value = shown.numbers[key] ?? Number.NaN;
  if (key.endsWith("Kb")) return `${value.toFixed(value < 10 ? 1 : 0)} KB`;
  return base && "numbers" in base ? `${(value / (base.numbers[key] ?? Number.NaN)).toFixed(2)} ×` : "–";
}

const columns = WORK.flatMap(({ what, mode }) => {
  if (mode === "heap")
    return [
      { title: "heap, live", what, key: "liveKb" },
      { title: "kept", what, key: "retainedKb" },
    ];
  return [{ title: what, what, key: mode === "start" ? "startMs" : "cpuMs" }];
});
const kinds = Object.keys(results.start ?? {});
const table = [
  ["", ...columns.map(({ title }) => title)],
  ["---", ...columns.map(() => "--:")],
  ...kinds.map((kind) => [
    LOOPS[kind] ?? TITLES[kind] ?? kind,
    ...columns.map(({ what, key }) => showCell(kind, what, key)),
  ]),
];
console.log(
  `\nNode ${process.version}, ${os.cpus().length} cores, median of ${ROUNDS}; ratios to the fetch loop\n`,
);
for (const row of table) console.log(`| ${row.join(" | ")} |`);
console.log();
for (const [what, shown] of Object.entries(results))
  for (const [kind, one] of Object.entries(shown))
    if ("failed" in one) console.log(`${TITLES[kind] ?? kind}, ${what}: ${one.failed}`);
for (const [name, problem] of Object.entries(missing))
  console.log(`${TITLES[name]} was not measured: ${problem}`);
