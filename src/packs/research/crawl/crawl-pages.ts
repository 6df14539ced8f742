import type { Blacklist } from "./blacklist.ts";
import { canonicalUrl } from "./canonical-url.ts";
import type { CrawlLog, LoggedPage } from "./crawl-log.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import type { CrawlLimits } from "./limits.ts";
import { readInTime } from "./read-in-time.ts";
import type { ReadWebPage } from "./web-host.ts";

/** A page as it came out of a call: with its text if it was read by this call. */
export type CrawledPage = LoggedPage & { content?: string };

/** What a crawl works with. */
export type Crawl = {
  run: CrawlRun;
  /** The run's turn that asks. */
  turn: number | undefined;
  limits: CrawlLimits;
  readPage: ReadWebPage;
  blacklist: Pick<Blacklist, "match" | "noteMissing">;
  images: boolean;
  signal: AbortSignal;
  progress(message: string): void;
  /** Whether the run may read pages of a host that it was redirected to. */
  mayRead(host: string): boolean;
  /** Gives a page that was read its place: a duplicate of another, or a file of its own. */
  keep(page: CrawledPage): Promise<LoggedPage>;
  /** Called when a batch has ended. */
  save(): Promise<void>;
};

/** What came of each address, in the order given, and which were not tried. */
export type CrawlOutcome = { pages: CrawledPage[]; left: string[] };

/**
 * Crawls in batches until the run's limits are reached, then tries once more what was too slow. Addresses that were tried
 * before, are on the blacklist or are beyond the limits cost nothing. A batch is what one turn asks for: calls of one turn
 * fill it together.
 */
export async function crawlPages(urls: readonly string[], crawl: Crawl): Promise<CrawlOutcome> {
  const { limits, run } = crawl;
  const { log } = run;
  const outcomes = new Map<number, CrawledPage>();
  const pending = urls.map((url, at) => ({ url, at }));
  const slow: Place[] = [];
  while (pending.length > 0) {
    const open = findOpenBatch(crawl);
    const left = limits.batchSize - open.size;
    const room = limits.successes - successesOf(log) - run.underWay.size;
    const batch = takeBatch(pending, open.mayTake ? Math.min(left, room) : 0, crawl, outcomes);
    if (batch.length === 0) {
      // What is being read now may leave room, or end a batch that must end before the next.
      if (pending.length === 0 || run.reading === null) break;
      await run.reading;
      crawl.signal.throwIfAborted();
      continue;
    }
    if (open.size === 0) log.batches++;
    log.last = { turn: crawl.turn, size: open.size + batch.length };
    crawl.progress(`batch ${log.batches} of ${limits.batches}: ${log.last.size} pages`);
    await readAll(batch, crawl, outcomes);
    slow.push(...batch.filter(({ at }) => outcomes.get(at)?.status === "timeout"));
  }
  while (slow.length > 0 && successesOf(log) < limits.successes) {
    const room = Math.min(limits.retriesAtOnce, limits.successes - successesOf(log));
    const again = slow.splice(0, room);
    crawl.progress(`trying ${again.length} slow pages once more`);
    await readAll(again, crawl, outcomes);
  }
  return collect(urls, outcomes, crawl);
}

/** How full the batch is that a call may add to, and whether it may: a new one begins when nothing is read any more. */
function findOpenBatch({ run: { log, reading }, turn, limits }: Crawl): { size: number; mayTake: boolean } {
  const { last } = log;
  const isShared = last !== undefined && turn !== undefined && last.turn === turn;
  if (isShared && last.size < limits.batchSize) return { size: last.size, mayTake: true };
  return { size: 0, mayTake: reading === null && log.batches < limits.batches };
}

type Place = { url: string; at: number };
type Outcomes = Map<number, CrawledPage>;

/** The next addresses worth asking for; for those before them that are not, the outcome is noted. */
function takeBatch(pending: Place[], size: number, crawl: Crawl, outcomes: Outcomes): Place[] {
  const batch: Place[] = [];
  const keys = new Map<string, string>();
  while (pending.length > 0) {
    const [place] = pending;
    if (!place) break;
    const key = canonicalUrl(place.url);
    const twin = key === undefined ? undefined : keys.get(key);
    const known = twin ? duplicateOf(place.url, twin) : withoutAsking(place.url, key, crawl);
    if (!known && batch.length >= size) break;
    pending.shift();
    if (known) outcomes.set(place.at, known);
    else {
      batch.push(place);
      keys.set(key ?? place.url, place.url);
    }
  }
  return batch;
}

/** Why nothing that is not an http or https address is tried. */
export const NO_ADDRESS = "this is no address on the web";

/** The outcome of an address that need not or must not be asked for. */
function withoutAsking(url: string, key: string | undefined, crawl: Crawl): CrawledPage | undefined {
  if (key === undefined) return { url, canonical: url, title: "", status: "failed", reason: NO_ADDRESS };
  const twin = crawl.run.underWay.get(key);
  if (twin !== undefined) return duplicateOf(url, twin);
  const before = crawl.run.log.pages.find(({ canonical, also }) => canonical === key || also?.includes(key));
  if (before?.status === "success") return duplicateOf(url, before.url);
  if (before)
    return { ...before, url, reason: `${before.reason ?? before.status}; tried before in this run` };
  const entry = crawl.blacklist.match(url);
  if (!entry) return undefined;
  const reason = `blacklisted: ${entry.by === "person" ? "by a person" : `${entry.failures} pages of ${entry.domain} were not there`}`;
  crawl.progress(`warning: ${url} is skipped, ${reason}`);
  return { url, canonical: key, title: "", status: "skipped", reason };
}

/** What is said of a page that was read already. */
export function duplicateOf(url: string, other: string): CrawledPage {
  return {
    url,
    canonical: canonicalUrl(url) ?? url,
    title: "",
    status: "skipped",
    reason: `duplicate of ${other}`,
  };
}

/** Asks for all at once, and notes what came in the order of the addresses, so that the first of two twins is kept. */
async function readAll(places: readonly Place[], crawl: Crawl, outcomes: Outcomes): Promise<void> {
  const { run, signal } = crawl;
  const keys = places.map(({ url }) => canonicalUrl(url) ?? url);
  for (const [at, { url }] of places.entries()) run.underWay.set(keys[at] ?? url, url);
  const reading = readInTime(
    places.map(({ url }) => url),
    crawl,
  )
    .then((read) =>
      run.inOrder(async () => {
        signal.throwIfAborted();
        await note(places, read, crawl, outcomes);
      }),
    )
    .finally(() => {
      for (const key of keys) run.underWay.delete(key);
    });
  const all = Promise.allSettled([run.reading, reading]);
  run.reading = all;
  void all.then(() => {
    if (run.reading === all) run.reading = null;
  });
  await reading;
}

async function note(
  places: readonly Place[],
  read: readonly CrawledPage[],
  crawl: Crawl,
  outcomes: Outcomes,
): Promise<void> {
  const { log } = crawl.run;
  for (const [index, { url, at }] of places.entries()) {
    const page = read[index];
    if (!page) continue;
    const kept = page.status === "success" ? await crawl.keep(page) : page;
    const { content: _, ...logged } = kept as CrawledPage;
    const earlier = log.pages.findIndex(({ canonical }) => canonical === logged.canonical);
    const isLate = log.pages[earlier]?.status === "timeout";
    // A page that came late goes last: numbers that were told before must not change.
    if (isLate) log.pages.splice(earlier, 1);
    if (isLate || earlier < 0) log.pages.push(logged);
    outcomes.set(at, kept.status === "success" ? { ...kept, content: page.content ?? "" } : kept);
    if (page.error_code === "1214") noteMissing(url, crawl);
  }
  await crawl.save();
}

function noteMissing(url: string, { blacklist, progress }: Crawl): void {
  const entry = blacklist.noteMissing(url);
  if (entry)
    progress(
      `warning: ${entry.domain} is blacklisted now, ${entry.failures} of its pages were not there (retinue blacklist remove ${entry.domain} takes it off)`,
    );
}

function collect(urls: readonly string[], outcomes: Outcomes, { run: { log }, limits }: Crawl): CrawlOutcome {
  const full = successesOf(log) >= limits.successes;
  const reason = full
    ? `not tried: this run has read its ${limits.successes} pages`
    : `not tried: this run has used its ${limits.batches} batches of ${limits.batchSize}`;
  const left: string[] = [];
  const pages = urls.map((url, at): CrawledPage => {
    const page = outcomes.get(at);
    if (page) return page;
    left.push(url);
    return { url, canonical: canonicalUrl(url) ?? url, title: "", status: "skipped", reason };
  });
  return { pages, left };
}

/** Pages that a run has read. */
export function successesOf(log: CrawlLog): number {
  return readPages(log).length;
}

/** The pages that a run has read, in the order of the numbers by which its report cites them. */
export function readPages(log: CrawlLog): LoggedPage[] {
  return log.pages.filter(({ status }) => status === "success");
}
