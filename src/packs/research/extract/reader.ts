import { Worker } from "node:worker_threads";
import { messageOf } from "../../../schema/error.ts";
import type { ExtractedPage, ExtractJob } from "./extract-page.ts";

/** What came of reading a page. */
export type ExtractOutcome = { status: "read"; page: ExtractedPage } | { status: "failed"; reason: string };

/** How much one reader may take. */
export type ReaderLimits = {
  /** Heap; a page that needs more ends the reader. */
  memoryMb: number;
  /** Time for one page; a page that takes longer ends the reader. */
  pageMs: number;
  /** How long it stays without work. */
  idleMs: number;
  /** What its thread runs. */
  program: URL;
};

/** A thread that reads one page at a time. */
export type Reader = {
  readonly isFree: boolean;
  /** Never rejects: whatever happens to the thread is an outcome. */
  read(job: ExtractJob): Promise<ExtractOutcome>;
  end(): Promise<void>;
};

/** Starts a reader. It keeps the process alive only while it reads, and `onEnded` is called once its thread is gone. */
export function startReader(limits: ReaderLimits, onEnded: () => void): Reader {
  const { memoryMb, pageMs, idleMs, program } = limits;
  const worker = new Worker(program, {
    execArgv: [],
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
  worker.on("error", (error) => void end(faultOf(error, memoryMb)));
  worker.on("exit", () => {
    isEnding = true;
    finish({ status: "failed", reason: "the page ended the program that read it" });
    onEnded();
  });
  return {
    get isFree() {
      return !isEnding && settle === undefined;
    },
    read: (job) =>
      new Promise((resolve) => {
        clearTimeout(timer);
        settle = resolve;
        worker.ref();
        timer = setTimeout(() => void end(`it took longer than ${pageMs / 1_000} s to read`), pageMs);
        worker.postMessage(job);
      }),
    end: () => end("reading was stopped"),
  };
}

function faultOf(error: unknown, memoryMb: number): string {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory ? `it took more than ${memoryMb} MB to read` : messageOf(error);
}
