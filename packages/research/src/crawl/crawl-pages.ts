import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { writeInside } from "@retinue/core/files/open-inside";
import { orAborted } from "@retinue/core/net/or-aborted";
import { hostOf } from "@retinue/core/net/web-address";
import { messageOf } from "@retinue/core/schema/error";
import type { ToolContext } from "@retinue/core/tools/tool";
import type { Blacklist } from "./blacklist.ts";
import { checkStatedUrl, toCanonicalUrl } from "./canonical-url.ts";
import {
  type CrawlLog,
  type CrawlRun,
  formatPage,
  type LoggedPage,
  namePageFile,
  saveLog,
} from "./crawl-log.ts";
import type { ReadPage, ReadWebPage } from "./web-host.ts";

/** Where a run stops crawling, whatever its model asks for. */
export type CrawlLimits = {
  /** Pages read in one run. */
  successes: number;
  /** Batches of one run, over all its calls. */
  batches: number;
  /** Pages of one batch, all asked for at once. */
  batchSize: number;
  /** When a batch continues without those that have not come. */
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

/** A page as it came out of a call: with its text if it was read by this call. */
export type CrawledPage = LoggedPage & { content?: string };

/** What a crawl works with. */
export type Crawl = {
  run: CrawlRun;
  limits: CrawlLimits;
  readPage: ReadWebPage;
  blacklist: Pick<Blacklist, "match" | "noteMissing">;
  images: boolean;
  /** The call that asks. */
  context: ToolContext;
};

/** An address that is asked for, in its canonical form if it has one, and what came of it once that is known. */
type Place = { readonly url: string; readonly key: string | undefined; page?: CrawledPage };

/** What came of each address, in the order given, and which were not tried. */
export type CrawlOutcome = { pages: CrawledPage[]; left: string[] };

/**
 * Crawls in batches until the run's limits are reached, then tries once more what was too slow. Addresses that were tried
 * before, are on the blacklist or are beyond the limits cost nothing. A batch is what one turn asks for: calls of one turn
 * fill it together.
 */
export async function crawlPages(urls: readonly string[], crawl: Crawl): Promise<CrawlOutcome> {
  const { limits, run, context } = crawl;
  const { log } = run;
  const places = urls.map((url): Place => ({ url, key: toCanonicalUrl(url) }));
  const pending = [...places];
  const slow: Place[] = [];
  while (pending.length > 0) {
    const open = findOpenBatch(crawl);
    const left = limits.batchSize - open.size;
    const room = limits.successes - countSuccesses(log) - run.underWay.size;
    const batch = takeBatch(pending, open.mayTake ? Math.min(left, room) : 0, crawl);
    if (batch.length === 0) {
      // What is being read now may leave room, or end a batch that must end before the next.
      if (pending.length === 0 || run.reading === null) break;
      await run.reading;
      context.signal.throwIfAborted();
      continue;
    }
    if (open.size === 0) log.batches++;
    log.last = { turn: context.turn, size: open.size + batch.length };
    context.progress(`batch ${log.batches} of ${limits.batches}: ${log.last.size} pages`);
    await readAll(batch, crawl);
    slow.push(...batch.filter(({ page }) => page?.status === "timeout"));
  }
  while (slow.length > 0 && countSuccesses(log) < limits.successes) {
    const room = Math.min(limits.retriesAtOnce, limits.successes - countSuccesses(log));
    const again = slow.splice(0, room);
    context.progress(`trying ${again.length} slow pages once more`);
    await readAll(again, crawl);
  }
  return collectOutcome(places, crawl);
}

/** How full the batch is that a call may add to, and whether it may: a new one begins when nothing is read any more. */
function findOpenBatch({ run, limits, context: { turn } }: Crawl): { size: number; mayTake: boolean } {
  const { log, reading } = run;
  const { last } = log;
  const isShared = last !== undefined && turn !== undefined && last.turn === turn;
  if (isShared && last.size < limits.batchSize) return { size: last.size, mayTake: true };
  return { size: 0, mayTake: reading === null && log.batches < limits.batches };
}

/** The next addresses worth asking for; of those before them that are not, it is noted why. */
function takeBatch(pending: Place[], size: number, crawl: Crawl): Place[] {
  const batch: Place[] = [];
  for (let [place] = pending; place; [place] = pending) {
    const known = judgeWithoutAsking(place, crawl);
    if (!known && batch.length >= size) break;
    pending.shift();
    if (known) {
      place.page = known;
      continue;
    }
    batch.push(place);
    crawl.run.underWay.set(place.key ?? place.url, place.url);
  }
  return batch;
}

/** Why nothing that is not an http or https address is tried. */
export const NO_ADDRESS = "this is no address on the web";

/** The outcome of an address that need not or must not be asked for. */
function judgeWithoutAsking({ url, key }: Place, crawl: Crawl): CrawledPage | undefined {
  if (key === undefined) return describeUnread(url, { status: "failed", reason: NO_ADDRESS });
  const twin = crawl.run.underWay.get(key);
  if (twin !== undefined) return describeDuplicate(url, twin);
  const before = crawl.run.log.pages.find(({ canonical, also }) => canonical === key || also?.includes(key));
  if (before?.status === "success") return describeDuplicate(url, before.url);
  if (before)
    return { ...before, url, reason: `${before.reason ?? before.status}; tried before in this run` };
  const entry = crawl.blacklist.match(url);
  if (!entry) return undefined;
  const reason = `blacklisted: ${entry.by === "person" ? "by a person" : `${entry.failures} pages of ${entry.domain} were not there`}`;
  crawl.context.progress(`warning: ${url} is skipped, ${reason}`);
  return describeUnread(url, { status: "skipped", reason });
}

type Unread = Pick<CrawledPage, "status" | "error_code" | "reason">;

/** What is told of an address that gave no page. */
function describeUnread(url: string, why: Unread): CrawledPage {
  return { url, canonical: toCanonicalUrl(url) ?? url, title: "", ...why };
}

/** What is said of a page that was read already. */
function describeDuplicate(url: string, other: string): CrawledPage {
  return describeUnread(url, { status: "skipped", reason: `duplicate of ${other}` });
}

/** Asks for all at once, and notes what came in the order of the addresses, so that the first of two twins is kept. */
async function readAll(places: readonly Place[], crawl: Crawl): Promise<void> {
  const { run } = crawl;
  for (const { url, key = url } of places) run.underWay.set(key, url);
  const reading = readInTime(places, crawl)
    .then((pages) => run.inOrder(() => noteRead(places, pages, crawl)))
    .finally(() => {
      for (const { url, key = url } of places) run.underWay.delete(key);
    });
  const all = Promise.allSettled([run.reading, reading]);
  run.reading = all;
  void all.then(() => {
    if (run.reading === all) run.reading = null;
  });
  await reading;
}

async function noteRead(
  places: readonly Place[],
  pages: readonly CrawledPage[],
  crawl: Crawl,
): Promise<void> {
  const { run, context } = crawl;
  const { log } = run;
  context.signal.throwIfAborted();
  for (const [at, place] of places.entries()) {
    const page = pages[at];
    if (!page) continue;
    const kept = page.status === "success" ? await keepPage(page, log, context) : page;
    const { content: _, ...logged } = kept as CrawledPage;
    const earlier = log.pages.findIndex(({ canonical }) => canonical === logged.canonical);
    const isLate = log.pages[earlier]?.status === "timeout";
    // A page that came late goes last: numbers that were told before must not change.
    if (isLate) log.pages.splice(earlier, 1);
    if (isLate || earlier < 0) log.pages.push(logged);
    place.page = kept.status === "success" ? { ...kept, content: page.content ?? "" } : kept;
    if (page.error_code === "1214") noteMissing(place.url, crawl);
  }
  await saveLog(context.workspaceDir, context.runId, log).catch((thrown) =>
    context.progress(`warning: what was crawled could not be noted: ${messageOf(thrown)}`),
  );
}

/** Gives a page that was read a file of its own, unless the run has the same page already by address or by text. */
async function keepPage(
  page: CrawledPage,
  log: CrawlLog,
  { workspaceDir, changed, takePath }: Pick<ToolContext, "workspaceDir" | "changed" | "takePath">,
): Promise<LoggedPage> {
  const { content = "", ...about } = page;
  const names = new Set([page.canonical, ...(page.also ?? [])]);
  const hash = createHash("sha256").update(content).digest("hex");
  const same = log.pages.find(
    (other) =>
      other.status === "success" &&
      (other.hash === hash || [other.canonical, ...(other.also ?? [])].some((name) => names.has(name))),
  );
  if (same) return describeDuplicate(page.url, same.url);
  const usual = join(workspaceDir, namePageFile(page.canonical, page.title));
  const path = takePath?.(usual) ?? usual;
  const file = relative(workspaceDir, path);
  try {
    changed(path, await writeInside(workspaceDir, path, formatPage({ ...about, content })));
    return { ...about, hash, file };
  } catch (thrown) {
    const reason = `it could not be saved: ${messageOf(thrown)}`;
    return { ...describeUnread(page.url, { status: "failed", reason }), title: page.title };
  }
}

function noteMissing(url: string, { blacklist, context }: Crawl): void {
  const entry = blacklist.noteMissing(url);
  if (entry)
    context.progress(
      `warning: ${entry.domain} is blacklisted now, ${entry.failures} of its pages were not there (retinue blacklist remove ${entry.domain} takes it off)`,
    );
}

function collectOutcome(places: readonly Place[], { run: { log }, limits }: Crawl): CrawlOutcome {
  const full = countSuccesses(log) >= limits.successes;
  const reason = full
    ? `not tried: this run has read its ${limits.successes} pages`
    : `not tried: this run has used its ${limits.batches} batches of ${limits.batchSize}`;
  return {
    pages: places.map(({ url, page }) => page ?? describeUnread(url, { status: "skipped", reason })),
    left: places.filter(({ page }) => page === undefined).map(({ url }) => url),
  };
}

/** Pages that a run has read. */
function countSuccesses(log: CrawlLog): number {
  return readPages(log).length;
}

/** The pages that a run has read, in the order of the numbers by which its report cites them. */
export function readPages(log: CrawlLog): LoggedPage[] {
  return log.pages.filter(({ status }) => status === "success");
}

/** Reads pages at once. When time is up, those that have not come are time-outs and the rest is not kept waiting. */
async function readInTime(places: readonly Place[], crawl: Crawl): Promise<CrawledPage[]> {
  const { limits, readPage, images, context } = crawl;
  const stop = AbortSignal.any([context.signal, AbortSignal.timeout(limits.batchMs)]);
  const mayVisit = (host: string) => context.maySee({ kind: "host", host });
  let done = 0;
  const read = async ({ url }: Place): Promise<CrawledPage> => {
    const options = { signal: stop, images, deadlineMs: limits.batchMs, mayVisit };
    const read = checkLanding(url, await untilStopped(readPage(url, options), stop), mayVisit);
    const page = toCrawledPage(url, read, limits.batchMs);
    const { status, error_code = "", words } = page;
    context.progress(
      `${++done}/${places.length} ${status}${words ? `, ${words} words` : ` ${error_code}`.trimEnd()}: ${url}`,
    );
    return page;
  };
  return await Promise.all(places.map(read));
}

/** Rules on hosts were asked about the address that was given; a redirect must not lead around them. */
function checkLanding(url: string, read: ReadPage, mayVisit: (host: string) => boolean): ReadPage {
  if (read.status === "failed") return read;
  const host = hostOf(read.url) ?? "";
  if (host === hostOf(url) || mayVisit(host)) return read;
  return { status: "failed", kind: "blocked", reason: `it led to ${host}, which your rules do not allow` };
}

const LATE: ReadPage = { status: "failed", kind: "timeout", reason: "" };

/** A page, or a time-out as soon as the signal says so, even if its reader does not listen. */
async function untilStopped(reading: Promise<ReadPage>, stop: AbortSignal): Promise<ReadPage> {
  const read = await orAborted(reading, stop).catch(
    (thrown): ReadPage => ({ status: "failed", kind: "unreadable", reason: messageOf(thrown) }),
  );
  return stop.aborted && read.status === "failed" ? LATE : read;
}

function toCrawledPage(url: string, read: ReadPage, batchMs: number): CrawledPage {
  if (read.status === "failed") return describeUnread(url, describeFailure(read, batchMs));
  const canonical = toCanonicalUrl(url) ?? url;
  const { page } = read;
  const { title, words, author, date, markdown: content } = page;
  const also = [toCanonicalUrl(read.url), checkStatedUrl(page.canonical, read.url)].flatMap((other) =>
    other === undefined || other === canonical ? [] : [other],
  );
  return {
    url,
    canonical,
    title,
    status: "success",
    content,
    words,
    ...(author !== undefined && { author }),
    ...(date !== undefined && { date }),
    ...(also.length > 0 && { also: [...new Set(also)] }),
  };
}

function describeFailure({ kind, reason }: Extract<ReadPage, { status: "failed" }>, batchMs: number): Unread {
  switch (kind) {
    case "timeout":
      return { status: "timeout", error_code: "1234", reason: `not there after ${batchMs / 1_000} s` };
    case "not_found":
      return { status: "failed", error_code: "1214", reason };
    case "not_html":
    case "robots":
      return { status: "skipped", reason };
    default:
      return { status: "failed", reason };
  }
}
