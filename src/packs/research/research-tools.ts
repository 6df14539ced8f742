import type { AnyTool } from "../../tools/tool.ts";
import { createCrawlParallel } from "./crawl/crawl-parallel.ts";
import { webFetch } from "./crawl/web-fetch.ts";
import { writeLocalFile } from "./report/write-local-file.ts";
import { saveCorpus } from "./saving/save-corpus.ts";
import { webSearch } from "./search/web-search.ts";
import { workbenchTools } from "./workbench/workbench-tools.ts";

/** The tools that find, read and write about sources: search, pages, the corpus, the report, the workbench. */
export const researchTools: readonly AnyTool[] = [
  ...[webSearch, webFetch, createCrawlParallel()],
  ...[saveCorpus, writeLocalFile, ...workbenchTools],
];
