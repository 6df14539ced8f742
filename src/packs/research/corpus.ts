/** What became of one page. */
export type ArticleStatus = "success" | "failed" | "timeout" | "skipped";

/** One page of the corpus; the first four fields are the file format, the others say more about it. */
export type Article = {
  url: string;
  title: string;
  /** The page's text as Markdown; empty if it could not be read. */
  content: string;
  status: ArticleStatus;
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
