/** Where a run stops crawling, whatever its model asks for. */
export type CrawlLimits = {
  /** Pages read in one run. */
  successes: number;
  /** Batches of one run, over all its calls. */
  batches: number;
  /** Pages of one batch, all asked for at once. */
  batchSize: number;
  /** When a batch goes on without those that have not come. */
  batchMs: number;
  /** Pages that were too slow and are tried once more, at once. */
  retriesAtOnce: number;
};

/** The limits of every run. */
export const CRAWL_LIMITS: CrawlLimits = Object.freeze({
  successes: 10,
  batches: 2,
  batchSize: 5,
  batchMs: 20_000,
  retriesAtOnce: 2,
});
