import { join } from "node:path";
import { openForReading } from "../../../files/open-inside.ts";
import { checkJson } from "../../../schema/check-json.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { Article, Corpus } from "../corpus.ts";

/** The corpus in the session's workspace. */
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
          status: { enum: ["success", "failed", "timeout", "skipped"] },
        },
      },
    },
  },
});

/** Articles with their counts; whatever was not read counts as failed. */
export function corpusOf(articles: readonly Article[], now: Date): Corpus {
  const successful = articles.filter(({ status }) => status === "success").length;
  return {
    extraction_timestamp: now.toISOString(),
    total_articles: articles.length,
    successful,
    failed: articles.length - successful,
    articles: [...articles],
  };
}

/** What is wrong with a corpus, a sentence each. */
export async function faultsOfCorpus(value: unknown): Promise<string[]> {
  return checkJson(CORPUS_SCHEMA, value);
}

/** Reads the corpus of a workspace; a text says why it cannot be used. */
export async function loadCorpus(workspaceDir: string): Promise<Corpus | string> {
  try {
    const handle = await openForReading(workspaceDir, join(workspaceDir, CORPUS_FILE));
    try {
      if ((await handle.stat()).size > MAX_BYTES) return `${CORPUS_FILE} is larger than ${MAX_BYTES} bytes`;
      const value: unknown = JSON.parse(await handle.readFile("utf8"));
      const faults = await faultsOfCorpus(value);
      return faults.length > 0 ? `${CORPUS_FILE} is not a corpus: ${faults.join("; ")}` : (value as Corpus);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOENT"
      ? `there is no ${CORPUS_FILE} yet; call save_corpus first`
      : `${CORPUS_FILE} cannot be read: ${(thrown as Error).message}`;
  }
}
