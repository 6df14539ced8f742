import { createHash } from "node:crypto";
import { cutAt } from "../../../tools/truncate.ts";
import type { Article } from "../corpus.ts";

/** The folder of the workspace that crawled pages go to. */
export const PAGE_FOLDER = "search_results";

const MAX_SLUG = 60;
const FENCE = "---";
const FIELDS = ["url", "title", "author", "date", "words", "status"] as const;

/** Where a page is kept, relative to the workspace: readable, safe on every system, and the same for the same address. */
export function pageFile(canonical: string, title: string): string {
  const words =
    title
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = cutAt(words.join("-"), MAX_SLUG).replace(/-$/, "") || "page";
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
export function contentOf(file: string): string | undefined {
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
