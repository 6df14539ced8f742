import { type CrawlLog, loadLog } from "./crawl-log.ts";

const MAX_RUNS = 200;

/** Runs by id. One that was pushed out is read back from its log. */
export type CrawlRuns = {
  /** Works on a run's log, one call after the other: the limits are the run's, not the call's. */
  inTurn<Value>(
    run: { runId: string; workspaceDir: string },
    work: (log: CrawlLog) => Promise<Value>,
  ): Promise<Value>;
};

/** Creates the memory of what each run has crawled. */
export function createCrawlRuns(): CrawlRuns {
  const runs = new Map<string, Promise<unknown>>();
  const logs = new Map<string, CrawlLog>();
  return {
    inTurn({ runId, workspaceDir }, work) {
      const key = `${workspaceDir}\0${runId}`;
      const before = runs.get(key) ?? Promise.resolve();
      const result = before.then(async () => {
        const log = logs.get(key) ?? (await loadLog(workspaceDir, runId));
        logs.delete(key);
        logs.set(key, log);
        for (const old of logs.keys()) if (logs.size > MAX_RUNS) logs.delete(old);
        return work(log);
      });
      const settled = result.then(
        () => {},
        () => {},
      );
      runs.set(key, settled);
      void settled.then(() => {
        if (runs.get(key) === settled) runs.delete(key);
      });
      return result;
    },
  };
}
