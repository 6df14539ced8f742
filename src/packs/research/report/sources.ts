import type { Article, Corpus } from "../corpus.ts";
import type { Source, Unread } from "./report.ts";

/** A page of the corpus as a source of a report. */
export function describeSource({ url, title, author, date, words, file, supplied, place }: Article): Source {
  return {
    url,
    title: title.trim() || place || url,
    ...(author && { author }),
    ...(date && { date }),
    ...(words !== undefined && { words }),
    ...(file && { file }),
    ...(supplied && { supplied }),
    ...(place && { place }),
  };
}

/** The pages that could not be read, with the reason and its code. */
export function unreadIn({ articles }: Corpus): Unread[] {
  return articles
    .filter(({ status, content }) => status !== "success" || content.trim() === "")
    .map(({ url, title, status, reason, place, error_code: code }) => ({
      url,
      title: title.trim() || url,
      ...(place && { place }),
      reason: `${reason || (status === "success" ? "no text was found in it" : WORDS[status])}${code ? ` (${code})` : ""}`,
    }));
}

const WORDS = {
  failed: "it could not be read",
  timeout: "it took too long",
  skipped: "it was left out",
} as const;
