import { cutAt } from "../../../tools/truncate.ts";
import type { Article, ArticleStatus } from "../corpus.ts";
import { canonicalUrl } from "../crawl/canonical-url.ts";

/** An article as a model gives it: an address, and what it knows besides. */
export type GivenArticle = { url: string } & Partial<Omit<Article, "url">>;

/** What the host itself knows: pages that were crawled in this session, and those of them that this run tried, the read ones first. */
export type Crawled = { session: readonly Article[]; run: readonly string[] };

const MAX_CONTENT = 2_000_000;

/**
 * The articles of a corpus, each address once: first what this run tried, listed or not, in the order of the numbers that
 * `crawl_parallel` told, so that failures cannot be left out; then what else was listed. Of a page that was crawled the
 * host's own reading counts and not what is said of it.
 */
export function completeArticles(given: readonly GivenArticle[], { session, run }: Crawled): Article[] {
  const read = new Map(session.map((article) => [keyOf(article.url), article]));
  const listed = new Map<string, Article>();
  for (const url of run) {
    const article = read.get(keyOf(url));
    if (article) listed.set(keyOf(url), article);
  }
  for (const article of given) {
    const key = keyOf(article.url);
    if (!listed.has(key)) listed.set(key, read.get(key) ?? asGiven(article));
  }
  return [...listed.values()].map((article) => ({
    ...article,
    content: cutAt(article.content, MAX_CONTENT),
  }));
}

function keyOf(url: string): string {
  return canonicalUrl(url) ?? url;
}

/** An article that was not crawled, such as a search engine's excerpt: marked as supplied. Without text it cannot be a success. */
function asGiven({ url, title = "", content = "", status, ...rest }: GivenArticle): Article {
  const isEmpty = content.trim() === "";
  const known: ArticleStatus =
    isEmpty && (status ?? "success") === "success" ? "failed" : (status ?? "success");
  const reason = rest.reason ?? (isEmpty ? "it was not crawled, and no text was given" : undefined);
  return {
    url,
    title,
    content,
    status: known,
    ...(!isEmpty && { supplied: true as const }),
    ...(rest.error_code && { error_code: rest.error_code }),
    ...(reason && { reason }),
    ...(rest.author && { author: rest.author }),
    ...(rest.date && { date: rest.date }),
  };
}
