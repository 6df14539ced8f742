import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { locateProgram, type ProgramFile } from "@retinue/core/files/locate-program";
import { orAborted } from "@retinue/core/net/or-aborted";
import { messageOf } from "@retinue/core/schema/error";
import type { ExtractedPage, ExtractJob } from "./extract-page.ts";

/** Reads pages away from the event loop. */
export type ExtractionPool = ReturnType<typeof createExtractionPool>;

/** How many threads read, and how much each may take. */
export type PoolOptions = Partial<ReaderLimits> & { maxReaders?: number };

type Task = { job: ExtractJob; reader?: PageReader; resolve(outcome: ExtractOutcome): void };

const DEFAULTS: ReaderLimits = {
  memoryMb: 512,
  pageMs: 10_000,
  idleMs: 5_000,
  program: locateProgram("extract-worker", import.meta.url),
};

/** Creates a pool; threads start with the first page, are at most as many as there are cores, and end without work. */
export function createExtractionPool(options: PoolOptions = {}) {
  const limits = { ...DEFAULTS, ...options };
  const maxReaders = Math.max(1, options.maxReaders ?? availableParallelism());
  const readers = new Set<PageReader>();
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
    /** Threads alive now. */
    get size() {
      return readers.size;
    },
    /** Rejects only when the signal aborts: a page that cannot be read is an outcome. */
    async extract(job: ExtractJob, signal: AbortSignal): Promise<ExtractOutcome> {
      signal.throwIfAborted();
      const { promise, resolve } = Promise.withResolvers<ExtractOutcome>();
      const task: Task = { job, resolve };
      waiting.push(task);
      assign();
      return await orAborted(promise, signal).catch((reason) => {
        const at = waiting.indexOf(task);
        if (at >= 0) waiting.splice(at, 1);
        // A page that nobody waits for any more would keep a thread, and the process, busy for its full time.
        void task.reader?.end();
        throw reason;
      });
    },
    async close(): Promise<void> {
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

/** What came of reading a page. */
export type ExtractOutcome = { status: "read"; page: ExtractedPage } | { status: "failed"; reason: string };

/** How much one reader may take. */
type ReaderLimits = {
  /** Heap; a page that needs more ends the reader. */
  memoryMb: number;
  /** Time for one page; a page that takes longer ends the reader. */
  pageMs: number;
  /** How long it stays without work. */
  idleMs: number;
  /** What its thread runs. */
  program: ProgramFile;
};

/** A thread that reads one page at a time. */
type PageReader = ReturnType<typeof startReader>;

/** Starts a reader. It keeps the process alive only while it reads, and `onEnded` is called once its thread is gone. */
function startReader(limits: ReaderLimits, onEnded: () => void) {
  const { memoryMb, pageMs, idleMs, program } = limits;
  const worker = new Worker(program.url, {
    execArgv: program.nodeArgs,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 64 },
  });
  let isEnding = false;
  let settle: ((outcome: ExtractOutcome) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const end = async (reason: string) => {
    isEnding = true;
    finish({ status: "failed", reason });
    await worker.terminate();
  };
  const finish = (outcome: ExtractOutcome) => {
    clearTimeout(timer);
    worker.unref();
    if (!isEnding) timer = setTimeout(() => void end("unused"), idleMs).unref();
    const done = settle;
    settle = undefined;
    done?.(outcome);
  };
  worker.on("message", finish);
  worker.on("error", (error) => void end(describeWorkerFault(error, memoryMb)));
  worker.on("exit", () => {
    isEnding = true;
    finish({ status: "failed", reason: "the page ended the program that read it" });
    onEnded();
  });
  return {
    get isFree(): boolean {
      return !isEnding && settle === undefined;
    },
    /** Never rejects: whatever happens to the thread is an outcome. */
    read: (job: ExtractJob) =>
      new Promise<ExtractOutcome>((resolve) => {
        clearTimeout(timer);
        settle = resolve;
        worker.ref();
        timer = setTimeout(() => void end(`it took longer than ${pageMs / 1_000} s to read`), pageMs);
        worker.postMessage(job);
      }),
    end: () => end("reading was stopped"),
  };
}

function describeWorkerFault(error: unknown, memoryMb: number): string {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory ? `it took more than ${memoryMb} MB to read` : messageOf(error);
}
