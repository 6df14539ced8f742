import { join } from "node:path";
import { openForReading } from "@retinue/core/files/open-inside";
import { checkJson } from "@retinue/core/schema/check-json";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import { nameForRun } from "@retinue/core/tools/name-for-run";

/** What can become of one page. */
export const ARTICLE_STATUSES = ["success", "failed", "timeout", "skipped"] as const;

/** One page of the corpus; the first four fields are the file format, the others say more about it. */
export type Article = {
  url: string;
  title: string;
  /** The page's text as Markdown; empty if it could not be read. */
  content: string;
  status: (typeof ARTICLE_STATUSES)[number];
  /** 1234: took too long; 1214: not there (404 or 410). */
  error_code?: "1234" | "1214";
  reason?: string;
  author?: string;
  date?: string;
  words?: number;
  /** The page's file, relative to the workspace. */
  file?: string;
  /** Its text was given by an agent, such as a search engine's excerpt, and not read by the host. */
  supplied?: true;
  /** For a document of this machine: its path as people name it, instead of the address by which it was read. */
  place?: string;
};

/** The pages of one piece of research, as `expanded_corpus.json` holds them. */
export type Corpus = {
  /** ISO 8601, UTC. */
  extraction_timestamp: string;
  total_articles: number;
  successful: number;
  failed: number;
  articles: Article[];
};

/** The corpus in the session's workspace; that of a second run of the session has the run in its name. */
export const CORPUS_FILE = "expanded_corpus.json";

const MAX_BYTES = 64_000_000;

/** The shape of the corpus; the expert's contract demands the same. */
export const CORPUS_SCHEMA: JsonSchema = Object.freeze({
  type: "object",
  required: ["extraction_timestamp", "total_articles", "successful", "failed", "articles"],
  properties: {
    extraction_timestamp: { type: "string", minLength: 20 },
    total_articles: { type: "integer", minimum: 1 },
    successful: { type: "integer", minimum: 0 },
    failed: { type: "integer", minimum: 0 },
    articles: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["url", "title", "content", "status"],
        properties: {
          url: { type: "string", minLength: 1 },
          title: { type: "string" },
          content: { type: "string" },
          status: { enum: ARTICLE_STATUSES },
        },
      },
    },
  },
});

/** Articles with their counts; whatever was not read counts as failed. */
export function createCorpus(articles: readonly Article[], now: Date): Corpus {
  const successful = articles.filter(({ status }) => status === "success").length;
  return {
    extraction_timestamp: now.toISOString(),
    total_articles: articles.length,
    successful,
    failed: articles.length - successful,
    articles: [...articles],
  };
}

/** Whether a page was read and says something. */
export function hasText({ status, content }: Article): boolean {
  return status === "success" && content.trim() !== "";
}

/** What is wrong with a corpus, a sentence each. */
export async function checkCorpus(value: unknown): Promise<string[]> {
  return checkJson(CORPUS_SCHEMA, value);
}

/** Reads the corpus of a run, or, if it has saved none of its own, the workspace's; a text says why it cannot be used. */
export async function loadCorpus(workspaceDir: string, runId: string): Promise<Corpus | string> {
  const own = await readCorpus(workspaceDir, nameForRun(CORPUS_FILE, runId));
  const corpus = own ?? (await readCorpus(workspaceDir, CORPUS_FILE));
  return corpus ?? `there is no ${CORPUS_FILE} yet; call save_corpus first`;
}

async function readCorpus(workspaceDir: string, name: string): Promise<Corpus | string | null> {
  try {
    await using handle = await openForReading(workspaceDir, join(workspaceDir, name));
    if ((await handle.stat()).size > MAX_BYTES) return `${name} is larger than ${MAX_BYTES} bytes`;
    const value: unknown = JSON.parse(await handle.readFile("utf8"));
    const faults = await checkCorpus(value);
    return faults.length > 0 ? `${name} is not a corpus: ${faults.join("; ")}` : (value as Corpus);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    return `${name} cannot be read: ${(thrown as Error).message}`;
  }
}
