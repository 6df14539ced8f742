import { parentPort } from "node:worker_threads";
import { type ExtractJob, extractPage } from "./extract-page.ts";
import type { ExtractOutcome } from "./worker-pool.ts";

// Imports nothing of the program but the reader: whatever else it loaded would be loaded once for every thread.
parentPort?.on("message", (job: ExtractJob) => parentPort?.postMessage(readJob(job)));

function readJob(job: ExtractJob): ExtractOutcome {
  try {
    const page = extractPage(job);
    return page ? { status: "read", page } : { status: "failed", reason: "no readable text" };
  } catch (thrown) {
    const reason = thrown instanceof RangeError ? "the page is nested too deeply to be read" : String(thrown);
    return { status: "failed", reason };
  }
}
