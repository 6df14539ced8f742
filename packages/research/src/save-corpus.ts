import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { writeInside } from "@retinue/core/files/open-inside";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { messageOf } from "@retinue/core/schema/error";
import { nameForRun } from "@retinue/core/tools/name-for-run";
import {
  defineTool,
  type Roots,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { ARTICLE_STATUSES, type Article, CORPUS_FILE, checkCorpus, createCorpus } from "./corpus.ts";
import { toCanonicalUrl } from "./crawl/canonical-url.ts";
import { loadCrawled, loadLog } from "./crawl/crawl-log.ts";
import { readPages } from "./crawl/crawl-pages.ts";
import { parseDocumentAddress } from "./search/document-address.ts";
import { findLocalDocuments, type LocalDocuments } from "./search/local-documents.ts";
import { findOwnTarget } from "./workspace-files.ts";

type SaveInput = { articles: readonly GivenArticle[]; workspace_path?: string };

const MAX_ARTICLES = 200;
const text = { type: "string" } as const;

/** Documents of this machine that have an address like a page of the web. */
type Documents = Pick<LocalDocuments, "findTarget">;

/** Saves what was extracted as one file, which a report is then made from. */
export const saveCorpus: Tool<SaveInput> = createSaveCorpus();

/** The tool `save_corpus`, which names documents of this machine by their paths. */
function createSaveCorpus(documents?: Documents): Tool<SaveInput> {
  return defineTool<SaveInput>({
    name: "save_corpus",
    description: `Saves the articles of this research as ${CORPUS_FILE} in the workspace. Must come before the report. Of a page that crawl_parallel tried, give only its url: the host fills in title, content and status, and adds pages you leave out. Of anything else, such as a search result or a file, give url, title and content: it counts as an excerpt that you gave. Sources are numbered: pages that crawl_parallel read keep its numbers, the others follow in your order.`,
    groups: ["research"],
    risk: "medium",
    replay: "safe",
    isPublic: true,
    makes: CORPUS_FILE,
    input: {
      type: "object",
      properties: {
        articles: {
          type: "array",
          maxItems: MAX_ARTICLES,
          items: {
            type: "object",
            properties: {
              url: { ...text, minLength: 1, maxLength: 4_000 },
              title: { ...text, maxLength: 1_000 },
              content: text,
              status: { enum: ARTICLE_STATUSES },
              error_code: { enum: ["1234", "1214"] },
              reason: { ...text, maxLength: 1_000 },
              author: { ...text, maxLength: 300 },
              date: { ...text, maxLength: 100 },
            },
            required: ["url"],
          },
        },
        workspace_path: { ...text, description: "The session's workspace, if given at all." },
      },
      required: ["articles"],
      additionalProperties: false,
    },
    withSettings: ({ search }, places) => createSaveCorpus(documents ?? findLocalDocuments(search, places)),
    access: async (_, roots) => [await findOwnTarget(`workspace:${CORPUS_FILE}`, roots)],
    execute: async (input, context) => {
      try {
        return await saveArticles(input, context, documents);
      } catch (thrown) {
        return { text: `the corpus was not saved: ${messageOf(thrown)}`, isError: true };
      }
    },
  });
}

async function saveArticles(
  { articles, workspace_path }: SaveInput,
  context: ToolContext,
  documents: Documents | undefined,
): Promise<ToolOutput> {
  const { workspaceDir, runId, targets, signal } = context;
  if (workspace_path !== undefined && !(await isSameFolder(workspace_path, workspaceDir)))
    return { text: `workspace_path must be the session's workspace, ${workspaceDir}`, isError: true };
  const [session, log] = await Promise.all([loadCrawled(workspaceDir, runId), loadLog(workspaceDir, runId)]);
  const tried = [...readPages(log), ...log.pages].map(({ url }) => url);
  const complete = completeArticles(articles, { session, run: tried });
  const placed = complete.map(async (article) => {
    const place = await findPlace(article.url, context, documents).catch(() => undefined);
    return place === undefined ? article : { ...article, place };
  });
  const corpus = createCorpus(await Promise.all(placed), new Date());
  const faults = await checkCorpus(corpus);
  if (faults.length > 0) return { text: `the corpus was not saved: ${faults.join("; ")}`, isError: true };
  const target = targets.find((each) => each.kind === "path");
  const names = [CORPUS_FILE, nameForRun(CORPUS_FILE, runId)];
  if (target?.kind !== "path" || target.root !== "workspace" || !names.includes(target.relative))
    return { text: `${CORPUS_FILE} leads out of the workspace`, isError: true };
  signal.throwIfAborted();
  await context.beforeChange(target.path);
  const kind = await writeInside(workspaceDir, target.path, `${JSON.stringify(corpus, null, 2)}\n`);
  context.changed(target.path, kind);
  return {
    text: JSON.stringify({
      success: true,
      corpus_path: target.path,
      articles_saved: corpus.total_articles,
      successful: corpus.successful,
    }),
  };
}

/** The path of a document of this machine as people name it: in its project, workspace or folder; undefined for a page of the web. */
async function findPlace(
  url: string,
  roots: Roots,
  documents: Documents | undefined,
): Promise<string | undefined> {
  const isFile = !/^https?:/i.test(url.trim());
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  const target = isFile ? await pathTarget(path, "read", roots) : await documents?.findTarget(url, roots);
  if (target?.kind !== "path") return undefined;
  if (target.root !== "outside") return target.relative;
  return isFile ? basename(target.path) : parseDocumentAddress(url)?.path;
}

async function isSameFolder(given: string, workspaceDir: string): Promise<boolean> {
  const [one, other] = await Promise.all(
    [given, workspaceDir].map((path) => realpath(path).catch(() => path)),
  );
  return one === other;
}

/** An article as a model gives it: an address, and what it knows besides. */
type GivenArticle = { url: string } & Partial<Omit<Article, "url">>;

/** What the host itself knows: pages that were crawled in this session, and those of them that this run tried, the read ones first. */
type Crawled = { session: readonly Article[]; run: readonly string[] };

const MAX_CONTENT = 2_000_000;

/**
 * The articles of a corpus, each address once: first what this run tried, listed or not, in the order of the numbers that
 * `crawl_parallel` told, so that failures cannot be left out; then what else was listed. Of a page that was crawled the
 * host's own reading counts and not what is said of it.
 */
function completeArticles(given: readonly GivenArticle[], { session, run }: Crawled): Article[] {
  const read = new Map(session.map((article) => [makeKey(article.url), article]));
  const listed = new Map<string, Article>();
  for (const url of run) {
    const article = read.get(makeKey(url));
    if (article) listed.set(makeKey(url), article);
  }
  for (const article of given) {
    const key = makeKey(article.url);
    if (!listed.has(key)) listed.set(key, read.get(key) ?? toGivenArticle(article));
  }
  return [...listed.values()].map((article) => ({
    ...article,
    content: cutAt(article.content, MAX_CONTENT),
  }));
}

function makeKey(url: string): string {
  return toCanonicalUrl(url) ?? url;
}

/** An article that was not crawled, such as a search engine's excerpt: marked as supplied. Without text it cannot be a success. */
function toGivenArticle({ url, title = "", content = "", status, ...rest }: GivenArticle): Article {
  const isEmpty = content.trim() === "";
  const known: Article["status"] =
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
