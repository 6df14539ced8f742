// 200 real pages through crawl_parallel, read by our threads or by the same threads with jsdom and turndown.
// BENCH_MODE: `count` (how many pages there are), `serve`, `retinue`, `jsdom`.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { measureCpu, report } from "./measure.mjs";

const PAGES = 200;
const FOLDER = "/usr/share/doc";
const { BENCH_MODE: mode, BENCH_URL: origin } = process.env;

function findPages() {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size > 2_000 && statSync(path).size < 1_000_000)
    .sort()
    .slice(0, PAGES);
}

function serve() {
  const pages = findPages();
  const server = http.createServer((request, response) => {
    const path = pages[Number(/^\/(\d+)$/.exec(request.url)?.[1] ?? -1)];
    if (!path) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html" }).end(readFileSync(path));
  });
  server.listen(0, "127.0.0.1", () => report({ port: server.address().port }));
}

/** One crawl of all pages in one run whose limits are wide enough. */
async function crawl(pool) {
  const { createCrawlParallel } = await import("@retinue/research/crawl/crawl-parallel");
  const limits = { successes: PAGES, batches: PAGES / 5, batchMs: 600_000 };
  const web = { allowHosts: [new URL(origin).host], maxPageMb: 5 };
  const tool = createCrawlParallel({ limits, pool, web });
  const workspaceDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
  const context = {
    projectDir: workspaceDir,
    workspaceDir,
    runId: "bench",
    signal: new AbortController().signal,
    maySee: () => true,
    progress() {},
    changed() {},
  };
  let read = 0;
  const work = async () => {
    for (let at = 0; at < PAGES; at += 100) {
      const urls = Array.from({ length: 100 }, (_, offset) => `${origin}/${at + offset}`);
      const text = await tool.execute({ urls }, context);
      read += Number(/crawled (\d+)\//.exec(text)?.[1]);
    }
  };
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const used = await measureCpu(work);
  delay.disable();
  rmSync(workspaceDir, { recursive: true, force: true });
  await tool.close();
  report({ ...used, read, maxDelayMs: delay.max / 1e6 });
}

if (mode === "count") report({ pages: findPages().length });
else if (mode === "serve") serve();
else {
  const { createExtractionPool } = await import("@retinue/research/extract/worker-pool");
  const program = mode === "jsdom" && {
    program: { url: new URL("./jsdom-worker.mjs", import.meta.url), nodeArgs: [] },
    memoryMb: 2_000,
  };
  const pool = createExtractionPool({ pageMs: 300_000, ...program });
  await crawl(pool);
  await pool.close();
}
