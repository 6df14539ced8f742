import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { writeInside } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { messageOf } from "../../../schema/error.ts";
import { nameForRun } from "../../../tools/name-for-run.ts";
import { defineTool, type Roots, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { crawledIn, loadLog } from "../crawl/crawl-log.ts";
import { readPages } from "../crawl/crawl-pages.ts";
import { ownTarget } from "../own-target.ts";
import { addressParts } from "../search/document-server.ts";
import { type LocalDocuments, localDocumentsOf } from "../search/local-documents.ts";
import { completeArticles, type GivenArticle } from "./complete-articles.ts";
import { CORPUS_FILE, corpusOf, faultsOfCorpus } from "./corpus-file.ts";

type SaveInput = { articles: readonly GivenArticle[]; workspace_path?: string };

const MAX_ARTICLES = 200;
const text = { type: "string" } as const;

/** Documents of this machine that have an address like a page of the web. */
type Documents = Pick<LocalDocuments, "targetOf">;

/** Saves what was extracted as one file, which a report is then made from. */
export const saveCorpus: Tool<SaveInput> = createSaveCorpus();

/** The tool `save_corpus`, which names documents of this machine by their paths. */
export function createSaveCorpus(documents?: Documents): Tool<SaveInput> {
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
              status: { enum: ["success", "failed", "timeout", "skipped"] },
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
    withSettings: ({ search }, places) => createSaveCorpus(documents ?? localDocumentsOf(search, places)),
    access: async (_, roots) => [await ownTarget(`workspace:${CORPUS_FILE}`, roots)],
    execute: async (input, context) => {
      try {
        return await save(input, context, documents);
      } catch (thrown) {
        return { text: `the corpus was not saved: ${messageOf(thrown)}`, isError: true };
      }
    },
  });
}

async function save(
  { articles, workspace_path }: SaveInput,
  context: ToolContext,
  documents: Documents | undefined,
): Promise<ToolOutput> {
  const { workspaceDir, runId, targets, signal } = context;
  if (workspace_path !== undefined && !(await isSameFolder(workspace_path, workspaceDir)))
    return { text: `workspace_path must be the session's workspace, ${workspaceDir}`, isError: true };
  const [session, log] = await Promise.all([crawledIn(workspaceDir, runId), loadLog(workspaceDir, runId)]);
  const tried = [...readPages(log), ...log.pages].map(({ url }) => url);
  const complete = completeArticles(articles, { session, run: tried });
  const placed = complete.map(async (article) => {
    const place = await findPlace(article.url, context, documents).catch(() => undefined);
    return place === undefined ? article : { ...article, place };
  });
  const corpus = corpusOf(await Promise.all(placed), new Date());
  const faults = await faultsOfCorpus(corpus);
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
  const target = isFile ? await pathTarget(path, "read", roots) : await documents?.targetOf(url, roots);
  if (target?.kind !== "path") return undefined;
  if (target.root !== "outside") return target.relative;
  return isFile ? basename(target.path) : addressParts(new URL(url).pathname)?.path;
}

async function isSameFolder(given: string, workspaceDir: string): Promise<boolean> {
  const [one, other] = await Promise.all(
    [given, workspaceDir].map((path) => realpath(path).catch(() => path)),
  );
  return one === other;
}
