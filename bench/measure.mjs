// What the measured processes share: CPU of a piece of work, once or warm, and heap while all its model calls are held open.
const { BENCH_URL: base, BENCH_N: count, BENCH_MODE: mode } = process.env;
const WARM_UPS = 10;
const MEASURED = 31;

/**
 * Does what BENCH_MODE says with a loop's three pieces of work, and prints the numbers: `start` is one agent without a
 * delegation, `fanOut(n)` n delegations at once, `chain(n)` n delegations one below the other.
 */
export async function measureAgents({ start, fanOut, chain }) {
  const n = Number(count);
  if (mode === "start") await start();
  else if (mode === "heap") report(await measureHeap(n, fanOut));
  else if (mode === "chain") report(await measureWarm(() => chain(n)));
  else if (mode === "warm") report(await measureWarm(() => fanOut(n)));
  else report(await measureCpu(() => fanOut(n)));
}

const get = (url, method = "GET") => fetch(url, { method }).then((response) => response.json());

/** Prints the numbers for the process that asked for them. */
export function report(numbers) {
  console.log(JSON.stringify(numbers));
}

/** CPU milliseconds, wall milliseconds, of doing it once. */
export async function measureCpu(work) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const used = process.cpuUsage(cpu);
  return { cpuMs: (used.user + used.system) / 1000, wallMs: performance.now() - start };
}

/** The same as a median, after some rounds that do not count; `times` says how often it was done. */
async function measureWarm(work) {
  const taken = [];
  for (let round = 0; round < WARM_UPS + MEASURED; round++) taken.push(await measureCpu(work));
  const median = (key) => {
    const values = taken.slice(WARM_UPS).map((numbers) => numbers[key]);
    return values.sort((a, b) => a - b)[Math.floor(MEASURED / 2)];
  };
  return { cpuMs: median("cpuMs"), wallMs: median("wallMs"), times: taken.length };
}

/** Heap kept alive per child while all of them wait for the model at once, and after the run. A small run warms up first. */
async function measureHeap(n, work) {
  await holdAll(20, work);
  return holdAll(n, work);
}

async function holdAll(n, work) {
  const before = heap();
  await get(`${base}/reset`, "POST");
  await get(`${base}/hold?count=${n + 1}`, "POST");
  const done = work(n);
  while ((await get(`${base}/stats`)).held < n) await new Promise((resolve) => setTimeout(resolve, 20));
  const live = heap();
  const { maxOpen } = await get(`${base}/stats`);
  await get(`${base}/hold?count=${n}`, "POST");
  await done;
  return { liveKb: (live - before) / 1024 / n, retainedKb: (heap() - before) / 1024 / n, atOnce: maxOpen };
}

function heap() {
  for (let i = 0; i < 4; i++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}
