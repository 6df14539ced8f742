import { type CrawlLog, loadLog } from "./crawl-log.ts";

const MAX_RUNS = 200;

/** What a run has crawled, and what it is reading just now: its calls of one turn crawl together. */
export type CrawlRun = {
  readonly log: CrawlLog;
  /** The addresses that are being asked for, each with its canonical one. */
  readonly underWay: Map<string, string>;
  /** Settles when what is being read now has been read and noted; null if nothing is. */
  reading: Promise<unknown> | null;
  /** Does one piece of work on the log after the other. */
  inOrder<Value>(work: () => Promise<Value>): Promise<Value>;
};

/** Runs by id. One that was pushed out is read back from its log. */
export type CrawlRuns = {
  find(run: { runId: string; workspaceDir: string }): Promise<CrawlRun>;
};

/** Creates the memory of what each run has crawled. */
export function createCrawlRuns(): CrawlRuns {
  const runs = new Map<string, Promise<CrawlRun>>();
  return {
    find({ runId, workspaceDir }) {
      const key = `${workspaceDir}\0${runId}`;
      const run = runs.get(key) ?? loadLog(workspaceDir, runId).then(createCrawlRun);
      runs.delete(key);
      runs.set(key, run);
      for (const old of runs.keys()) if (runs.size > MAX_RUNS) runs.delete(old);
      return run;
    },
  };
}

function createCrawlRun(log: CrawlLog): CrawlRun {
  let last: Promise<unknown> = Promise.resolve();
  return {
    log,
    underWay: new Map(),
    reading: null,
    inOrder(work) {
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
  };
}
