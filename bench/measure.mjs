// What the measured processes share: CPU of a piece of work, and heap while all its model calls are held open.
const get = (url, method = "GET") => fetch(url, { method }).then((response) => response.json());

/** Prints the numbers for the process that asked for them. */
export function report(numbers) {
  console.log(JSON.stringify(numbers));
}

/** CPU milliseconds, wall milliseconds. */
export async function cpuOf(work) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const used = process.cpuUsage(cpu);
  return { cpuMs: (used.user + used.system) / 1000, wallMs: performance.now() - start };
}

/** Heap kept alive per child while all of them wait for the model at once, and after the run. */
export async function heapWhileHeld(base, n, work, settle = async () => {}) {
  const held = await holdAll(base, 20, work, settle);
  void held;
  return holdAll(base, n, work, settle);
}

async function holdAll(base, n, work, settle) {
  await settle();
  const before = heap();
  await get(`${base}/reset`, "POST");
  await get(`${base}/hold?count=${n + 1}`, "POST");
  const done = work(n);
  while ((await get(`${base}/stats`)).held < n) await new Promise((resolve) => setTimeout(resolve, 20));
  const live = heap();
  const { maxOpen } = await get(`${base}/stats`);
  await get(`${base}/hold?count=${n}`, "POST");
  await done;
  await settle();
  return { liveKb: (live - before) / 1024 / n, retainedKb: (heap() - before) / 1024 / n, atOnce: maxOpen };
}

function heap() {
  for (let i = 0; i < 4; i++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}
