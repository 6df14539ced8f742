import { availableParallelism } from "node:os";
import type { ExtractJob } from "./extract-page.ts";
import { type ExtractOutcome, type Reader, type ReaderLimits, startReader } from "./reader.ts";

/** Reads pages away from the event loop. */
export type ExtractionPool = {
  /** Rejects only when the signal aborts: a page that cannot be read is an outcome. */
  extract(job: ExtractJob, signal: AbortSignal): Promise<ExtractOutcome>;
  /** Threads alive now. */
  readonly size: number;
  close(): Promise<void>;
};

/** How many threads read, and how much each may take. */
export type PoolOptions = Partial<ReaderLimits> & { maxReaders?: number };

type Task = { job: ExtractJob; reader?: Reader; resolve(outcome: ExtractOutcome): void };

const DEFAULTS: ReaderLimits = {
  memoryMb: 512,
  pageMs: 10_000,
  idleMs: 5_000,
  /** The file beside this one: TypeScript as it is written, JavaScript once it is built. */
  program: new URL(`./extract-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url),
};

/** Creates a pool; threads start with the first page, are at most as many as there are cores, and end without work. */
export function createExtractionPool(options: PoolOptions = {}): ExtractionPool {
  const limits = { ...DEFAULTS, ...options };
  const maxReaders = Math.max(1, options.maxReaders ?? availableParallelism());
  const readers = new Set<Reader>();
  const waiting: Task[] = [];

  const assign = () => {
    while (waiting.length > 0) {
      const reader = [...readers].find(({ isFree }) => isFree) ?? start();
      const task = reader && waiting.shift();
      if (!task) return;
      task.reader = reader;
      void reader.read(task.job).then((outcome) => {
        task.resolve(outcome);
        assign();
      });
    }
  };
  const start = () => {
    if (readers.size >= maxReaders) return undefined;
    const reader = startReader(limits, () => {
      readers.delete(reader);
      assign();
    });
    readers.add(reader);
    return reader;
  };
  return {
    get size() {
      return readers.size;
    },
    extract: (job, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const task: Task = { job, resolve };
        const onAbort = () => {
          const at = waiting.indexOf(task);
          if (at >= 0) waiting.splice(at, 1);
          // A page that nobody waits for any more would keep a thread, and the process, busy for its full time.
          void task.reader?.end();
          reject(signal.reason);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        task.resolve = (outcome) => {
          signal.removeEventListener("abort", onAbort);
          resolve(outcome);
        };
        waiting.push(task);
        assign();
      }),
    async close() {
      await Promise.all([...readers].map((reader) => reader.end()));
    },
  };
}

let shared: ExtractionPool | undefined;

/** The pool of this process, made when it is first needed. */
export function sharedExtractionPool(): ExtractionPool {
  shared ??= createExtractionPool();
  return shared;
}
