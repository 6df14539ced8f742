import { hostOf } from "../../../net/web-address.ts";
import { messageOf } from "../../../schema/error.ts";
import { canonicalUrl, statedUrl } from "./canonical-url.ts";
import type { Crawl, CrawledPage } from "./crawl-pages.ts";
import type { ReadPage } from "./web-host.ts";

/** Reads pages at once. When time is up, those that have not come are time-outs and the rest is not kept waiting. */
export async function readInTime(urls: readonly string[], crawl: Crawl): Promise<CrawledPage[]> {
  const { limits, signal, readPage, images, progress, mayRead: mayVisit } = crawl;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limits.batchMs);
  const stop = AbortSignal.any([signal, late.signal]);
  let done = 0;
  const read = async (url: string): Promise<CrawledPage> => {
    const options = { signal: stop, images, deadlineMs: limits.batchMs, mayVisit };
    const read = await untilStopped(readPage(url, options), stop);
    const page = pageOf(url, checkLanding(url, read, crawl), limits.batchMs);
    const { status, error_code = "", words } = page;
    progress(
      `${++done}/${urls.length} ${status}${words ? `, ${words} words` : ` ${error_code}`.trimEnd()}: ${url}`,
    );
    return page;
  };
  try {
    return await Promise.all(urls.map(read));
  } finally {
    clearTimeout(timer);
  }
}

/** Rules on hosts were asked about the address that was given; a redirect must not lead around them. */
function checkLanding(url: string, read: ReadPage, { mayRead }: Crawl): ReadPage {
  if (read.status === "failed") return read;
  const host = hostOf(read.url) ?? "";
  if (host === hostOf(url) || mayRead(host)) return read;
  return { status: "failed", kind: "blocked", reason: `it led to ${host}, which your rules do not allow` };
}

const LATE: ReadPage = { status: "failed", kind: "timeout", reason: "" };

/** A page, or a time-out as soon as the signal says so, even if whoever reads it does not listen. */
function untilStopped(reading: Promise<ReadPage>, stop: AbortSignal): Promise<ReadPage> {
  const { promise, resolve } = Promise.withResolvers<ReadPage>();
  const onStop = () => resolve(LATE);
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  const failed = (thrown: unknown): ReadPage => ({
    status: "failed",
    kind: "unreadable",
    reason: messageOf(thrown),
  });
  const inTime = reading
    .catch(failed)
    .then((read) => (stop.aborted && read.status === "failed" ? LATE : read));
  return Promise.race([promise, inTime]).finally(() => stop.removeEventListener("abort", onStop));
}

function pageOf(url: string, read: ReadPage, batchMs: number): CrawledPage {
  const canonical = canonicalUrl(url) ?? url;
  if (read.status === "failed") return { url, canonical, title: "", ...failureOf(read, batchMs) };
  const { page } = read;
  const { title, words, author, date, markdown: content } = page;
  const also = [canonicalUrl(read.url), statedUrl(page.canonical, read.url)].flatMap((other) =>
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

type Failure = Pick<CrawledPage, "status" | "error_code" | "reason">;

function failureOf({ kind, reason }: Extract<ReadPage, { status: "failed" }>, batchMs: number): Failure {
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
