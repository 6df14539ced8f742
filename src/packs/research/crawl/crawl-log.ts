import { createHash } from "node:crypto";
import { join } from "node:path";
import { listInside, openForReading, writeInside } from "../../../files/open-inside.ts";
import type { Article } from "../corpus.ts";
import { contentOf, PAGE_FOLDER } from "./page-file.ts";

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
const STATUSES: readonly unknown[] = ["success", "failed", "timeout", "skipped"];

/** What a run has crawled, as its log in the workspace says; empty if there is none. */
export async function loadLog(workspaceDir: string, runId: string): Promise<CrawlLog> {
  return (await readLog(workspaceDir, logFile(runId))) ?? { batches: 0, pages: [] };
}

/** Keeps what a run has crawled, so that its limits hold after a restart. */
export async function saveLog(workspaceDir: string, runId: string, log: CrawlLog): Promise<void> {
  await writeInside(workspaceDir, join(workspaceDir, logFile(runId)), `${JSON.stringify(log, null, 2)}\n`);
}

/** All pages that were crawled in a workspace, with their text, read back from its files; a run's own reading goes first. */
export async function crawledIn(workspaceDir: string, runId?: string): Promise<Article[]> {
  const found = new Map<string, Article>();
  const own = runId === undefined ? [] : [logFile(runId)];
  const all = (await logNames(workspaceDir)).map((name) => `${PAGE_FOLDER}/${name}`);
  for (const file of new Set([...own, ...all])) {
    const log = await readLog(workspaceDir, file);
    for (const page of log?.pages ?? []) {
      if (found.get(page.canonical)?.status === "success") continue;
      found.set(page.canonical, await withContent(workspaceDir, page));
    }
  }
  return [...found.values()];
}

async function withContent(workspaceDir: string, page: LoggedPage): Promise<Article> {
  const { canonical: _, also: __, hash: ___, ...about } = page;
  const { url, title, status, ...rest } = about;
  const text = page.file === undefined ? undefined : await readText(workspaceDir, page.file, MAX_PAGE_BYTES);
  return { url, title, content: (text && contentOf(text)) ?? "", status, ...rest };
}

async function logNames(workspaceDir: string): Promise<string[]> {
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
  try {
    const value: unknown = JSON.parse((await readText(workspaceDir, file, MAX_LOG_BYTES)) ?? "null");
    return isLog(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readText(workspaceDir: string, file: string, maxBytes: number): Promise<string | undefined> {
  try {
    const handle = await openForReading(workspaceDir, join(workspaceDir, file));
    try {
      return (await handle.stat()).size > maxBytes ? undefined : await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
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
  if (typeof value !== "object" || value === null) return false;
  const { canonical, url, title, status, file } = value as Record<string, unknown>;
  const texts = [canonical, url, title, ...(file === undefined ? [] : [file])];
  return texts.every((text) => typeof text === "string") && STATUSES.includes(status);
}

function logFile(runId: string): string {
  const name = /^[\w-]{1,100}$/.test(runId) ? runId : createHash("sha256").update(runId).digest("hex");
  return `${PAGE_FOLDER}/crawl-${name}.json`;
}
