import { parentPort } from "node:worker_threads";
import { messageOf } from "../../../schema/error.ts";
import { type ExtractJob, extractPage } from "./extract-page.ts";
import type { ExtractOutcome } from "./reader.ts";

parentPort?.on("message", (job: ExtractJob) => parentPort?.postMessage(outcomeOf(job)));

function outcomeOf(job: ExtractJob): ExtractOutcome {
  try {
    const page = extractPage(job);
    return page ? { status: "read", page } : { status: "failed", reason: "no readable text" };
  } catch (thrown) {
    const reason =
      thrown instanceof RangeError ? "the page is nested too deeply to be read" : messageOf(thrown);
    return { status: "failed", reason };
  }
}
