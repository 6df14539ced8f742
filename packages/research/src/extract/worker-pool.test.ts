import type { ProgramFile } from "@retinue/core/files/locate-program";
import { afterEach, expect, test } from "vitest";
import type { ExtractJob } from "./extract-page.ts";
import { createExtractionPool, type ExtractionPool, type PoolOptions } from "./worker-pool.ts";

const never = new AbortController().signal;
const pools: ExtractionPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function pool(options: PoolOptions = {}): ExtractionPool {
  const made = createExtractionPool(options);
  pools.push(made);
  return made;
}

function page(text: string): ExtractJob {
  return { text, url: "https://a.example/", contentType: "text/html", images: false };
}

/** What a thread runs instead of the real reader. */
function program(body: string): ProgramFile {
  const code = `import { parentPort } from "node:worker_threads"; parentPort.on("message", (job) => { ${body} });`;
  return { url: new URL(`data:text/javascript,${encodeURIComponent(code)}`), nodeArgs: [] };
}
const ANSWER = `parentPort.postMessage({ status: "read", page: { title: job.text, markdown: "", words: 1 } })`;

test("pages are read in threads, no more of them than allowed", async () => {
  const readers = pool({ maxReaders: 2 });
  const text = (at: number) => `<title>Page ${at}</title><p>${"Some words of the page. ".repeat(40)}</p>`;
  expect(readers.size).toBe(0);
  const reading = Array.from({ length: 9 }, (_, at) => readers.extract(page(text(at)), never));
  expect(readers.size).toBe(2);
  const read = await Promise.all(reading);
  expect(read.map((each) => each.status === "read" && each.page.title)).toEqual(
    Array.from({ length: 9 }, (_, at) => `Page ${at}`),
  );
});

test("a page that takes too long ends its thread, and the next page gets another", async () => {
  const readers = pool({
    maxReaders: 1,
    pageMs: 2_000,
    program: program(`if (job.text === "hang") while (true); ${ANSWER}`),
  });
  const [hung, next] = await Promise.all([
    readers.extract(page("hang"), never),
    readers.extract(page("next"), never),
  ]);
  expect(hung).toEqual({ status: "failed", reason: "it took longer than 2 s to read" });
  expect(next).toMatchObject({ status: "read", page: { title: "next" } });
});

test("a page that takes too much memory ends its thread and nothing else", async () => {
  const greedy = `if (job.text === "eat") { const all = []; while (true) all.push(new Array(10_000).fill(Math.random())); } ${ANSWER}`;
  const readers = pool({ maxReaders: 1, memoryMb: 32, program: program(greedy) });
  expect(await readers.extract(page("eat"), never)).toEqual({
    status: "failed",
    reason: "it took more than 32 MB to read",
  });
  expect(await readers.extract(page("next"), never)).toMatchObject({ status: "read" });
});

test("a thread that ends by itself fails its page", async () => {
  const readers = pool({ program: program("process.exit()") });
  expect(await readers.extract(page("x"), never)).toMatchObject({ status: "failed" });
});

test("threads without work end", async () => {
  const readers = pool({ idleMs: 1, program: program(ANSWER) });
  await readers.extract(page("x"), never);
  await expect.poll(() => readers.size).toBe(0);
});

test("an aborted page is given up at once", async () => {
  const stop = new AbortController();
  const readers = pool({ maxReaders: 1, program: program(`if (job.text !== "hang") ${ANSWER}`) });
  const hung = readers.extract(page("hang"), stop.signal);
  const waiting = readers.extract(page("waits"), stop.signal);
  stop.abort(new Error("enough"));
  await expect(hung).rejects.toThrow("enough");
  await expect(waiting).rejects.toThrow("enough");
  await expect(readers.extract(page("late"), stop.signal)).rejects.toThrow("enough");
});

test("a thread whose page is aborted ends with it, and the next page gets another", async () => {
  const stop = new AbortController();
  const readers = pool({
    maxReaders: 1,
    pageMs: 60_000,
    program: program(`if (job.text === "hang") while (true); ${ANSWER}`),
  });
  const hung = readers.extract(page("hang"), stop.signal);
  const next = readers.extract(page("next"), never);
  stop.abort(new Error("enough"));
  await expect(hung).rejects.toThrow("enough");
  expect(await next).toMatchObject({ status: "read", page: { title: "next" } });
});

test("a page nested deeper than a stack is refused, not crashed on", async () => {
  const read = await pool().extract(page(`${"<div>".repeat(5_000)}text`), never);
  expect(read).toEqual({ status: "failed", reason: "the page is nested too deeply to be read" });
});
