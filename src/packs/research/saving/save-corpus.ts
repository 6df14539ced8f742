import { realpath } from "node:fs/promises";
import { writeInside } from "../../../files/open-inside.ts";
import { messageOf } from "../../../schema/error.ts";
import { nameForRun } from "../../../tools/name-for-run.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { crawledIn, loadLog } from "../crawl/crawl-log.ts";
import { ownTarget } from "../own-target.ts";
import { completeArticles, type GivenArticle } from "./complete-articles.ts";
import { CORPUS_FILE, corpusOf, faultsOfCorpus } from "./corpus-file.ts";

type SaveInput = { articles: readonly GivenArticle[]; workspace_path?: string };

const MAX_ARTICLES = 200;
const text = { type: "string" } as const;

/** Saves what was extracted as one file, which a report is then made from. */
export const saveCorpus: Tool<SaveInput> = defineTool<SaveInput>({
  name: "save_corpus",
  description: `Saves the articles of this research as ${CORPUS_FILE} in the workspace. Must come before the report. Of a page that crawl_parallel tried, give only its url: the host fills in title, content and status, and adds pages you leave out. Of anything else, such as a search result, give url, title and content.`,
  groups: ["research"],
  risk: "medium",
  replay: "safe",
  isPublic: true,
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
            words: { type: "integer", minimum: 0 },
          },
          required: ["url"],
        },
      },
      workspace_path: { ...text, description: "The session's workspace, if given at all." },
    },
    required: ["articles"],
    additionalProperties: false,
  },
  access: async (_, roots) => [await ownTarget(`workspace:${CORPUS_FILE}`, roots)],
  execute: async (input, context) => {
    try {
      return await save(input, context);
    } catch (thrown) {
      return { text: `the corpus was not saved: ${messageOf(thrown)}`, isError: true };
    }
  },
});

async function save({ articles, workspace_path }: SaveInput, context: ToolContext): Promise<ToolOutput> {
  const { workspaceDir, runId, targets, signal } = context;
  if (workspace_path !== undefined && !(await isSameFolder(workspace_path, workspaceDir)))
    return { text: `workspace_path must be the session's workspace, ${workspaceDir}`, isError: true };
  const [session, log] = await Promise.all([crawledIn(workspaceDir, runId), loadLog(workspaceDir, runId)]);
  const complete = completeArticles(articles, { session, run: log.pages.map(({ url }) => url) });
  const corpus = corpusOf(complete, new Date());
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

async function isSameFolder(given: string, workspaceDir: string): Promise<boolean> {
  const [one, other] = await Promise.all(
    [given, workspaceDir].map((path) => realpath(path).catch(() => path)),
  );
  return one === other;
}
