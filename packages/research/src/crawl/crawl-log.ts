import { createHash } from "node:crypto";
import { join } from "node:path";
import { listInside, readTextInside, writeInside } from "@retinue/core/files/open-inside";
import { parseObject, readObject } from "@retinue/core/schema/json-object";
import { ARTICLE_STATUSES, type Article } from "../corpus.ts";
import { toSlug } from "../workspace-files.ts";

/** A page that a run has tried, under its canonical address. */
export type LoggedPage = Omit<Article, "content"> & {
  canonical: string;
  /** Other addresses that led to the same page. */
  also?: readonly string[];
  /** Of its text. */
  hash?: string;
};

/** What a run has crawled so far. */
export type CrawlLog = {
  batches: number;
  pages: LoggedPage[];
  /** The batch that was begun last: the turn that asked for it, and how many addresses are in it. */
  last?: { turn: number | undefined; size: number };
};

const MAX_LOG_BYTES = 4_000_000;
const MAX_PAGE_BYTES = 64_000_000;

/** What a run has crawled, as its log in the workspace says; empty if there is none. */
export async function loadLog(workspaceDir: string, runId: string): Promise<CrawlLog> {
  return (await readLog(workspaceDir, nameLogFile(runId))) ?? { batches: 0, pages: [] };
}

/** Keeps what a run has crawled, so that its limits hold after a restart. */
export async function saveLog(workspaceDir: string, runId: string, log: CrawlLog): Promise<void> {
  await writeInside(
    workspaceDir,
    join(workspaceDir, nameLogFile(runId)),
    `${JSON.stringify(log, null, 2)}\n`,
  );
}

/** All pages that were crawled in a workspace, with their text, read back from its files; a run's own reading goes first. */
export async function loadCrawled(workspaceDir: string, runId?: string): Promise<Article[]> {
  const found = new Map<string, Article>();
  const own = runId === undefined ? [] : [nameLogFile(runId)];
  const all = (await listLogs(workspaceDir)).map((name) => `${PAGE_FOLDER}/${name}`);
  for (const file of new Set([...own, ...all])) {
    const log = await readLog(workspaceDir, file);
    for (const page of log?.pages ?? []) {
      if (found.get(page.canonical)?.status === "success") continue;
      found.set(page.canonical, await addContent(workspaceDir, page));
    }
  }
  return [...found.values()];
}

async function addContent(workspaceDir: string, page: LoggedPage): Promise<Article> {
  const { canonical: _, also: __, hash: ___, ...about } = page;
  const { url, title, status, ...rest } = about;
  const text = page.file === undefined ? undefined : await readText(workspaceDir, page.file, MAX_PAGE_BYTES);
  return { url, title, content: (text && readPageContent(text)) ?? "", status, ...rest };
}

async function listLogs(workspaceDir: string): Promise<string[]> {
  try {
    const entries = await listInside(workspaceDir, join(workspaceDir, PAGE_FOLDER));
    return entries
      .map(({ name }) => name)
      .filter((name) => /^crawl-[\w-]+\.json$/.test(name))
      .sort();
  } catch {
    return [];
  }
}

async function readLog(workspaceDir: string, file: string): Promise<CrawlLog | undefined> {
  const value: unknown = parseObject((await readText(workspaceDir, file, MAX_LOG_BYTES)) ?? "");
  return isLog(value) ? value : undefined;
}

function readText(workspaceDir: string, file: string, maxBytes: number): Promise<string | undefined> {
  return readTextInside(workspaceDir, join(workspaceDir, file), maxBytes);
}

function isLog(value: unknown): value is CrawlLog {
  if (typeof value !== "object" || value === null || !("pages" in value) || !("batches" in value))
    return false;
  if ("last" in value && !isBatch(value.last)) return false;
  return Number.isSafeInteger(value.batches) && Array.isArray(value.pages) && value.pages.every(isPage);
}

function isBatch(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("size" in value)) return false;
  return Number.isSafeInteger(value.size) && (!("turn" in value) || Number.isSafeInteger(value.turn));
}

function isPage(value: unknown): value is LoggedPage {
  const { canonical, url, title, status, file } = readObject(value);
  const texts = [canonical, url, title, ...(file === undefined ? [] : [file])];
  return (
    texts.every((text) => typeof text === "string") && ARTICLE_STATUSES.some((known) => known === status)
  );
}

function nameLogFile(runId: string): string {
  const name = /^[\w-]{1,100}$/.test(runId) ? runId : createHash("sha256").update(runId).digest("hex");
  return `${PAGE_FOLDER}/crawl-${name}.json`;
}

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

/** Creates the memory of what each run has crawled. A run that was pushed out of it is read back from its log. */
export function createCrawlRuns(): (run: { runId: string; workspaceDir: string }) => Promise<CrawlRun> {
  const runs = new Map<string, Promise<CrawlRun>>();
  return ({ runId, workspaceDir }) => {
    const key = `${workspaceDir}\0${runId}`;
    const run = runs.get(key) ?? loadLog(workspaceDir, runId).then(createCrawlRun);
    runs.delete(key);
    runs.set(key, run);
    for (const old of runs.keys()) if (runs.size > MAX_RUNS) runs.delete(old);
    return run;
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

/** The folder of the workspace that crawled pages go to. */
const PAGE_FOLDER = "search_results";
const MAX_SLUG = 60;
const FENCE = "---";
const FIELDS = ["url", "title", "author", "date", "words", "status"] as const;

/** Where a page is kept, relative to the workspace: readable, safe on every system, and the same for the same address. */
export function namePageFile(canonical: string, title: string): string {
  const slug = toSlug(title, MAX_SLUG) || "page";
  return `${PAGE_FOLDER}/${slug}-${createHash("sha256").update(canonical).digest("hex").slice(0, 10)}.md`;
}

/** A page as Markdown below its frontmatter; each value is JSON on one line, which is YAML too. */
export function formatPage(article: Article): string {
  const lines = FIELDS.flatMap((field) => {
    const value = article[field];
    return value === undefined ? [] : [`${field}: ${typeof value === "number" ? value : yamlText(value)}`];
  });
  return [FENCE, ...lines, FENCE, "", article.content, ""].join("\n");
}

/** The Markdown of a page that `formatPage` wrote; undefined if it is something else. */
export function readPageContent(file: string): string | undefined {
  if (!file.startsWith(`${FENCE}\n`)) return undefined;
  const end = file.indexOf(`\n${FENCE}\n`, FENCE.length);
  return end < 0 ? undefined : file.slice(end + FENCE.length + 2).trim();
}

/** JSON leaves some control characters as they are, which YAML does not allow. */
function yamlText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
