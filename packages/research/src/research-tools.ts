import type { AnyTool } from "@retinue/core/tools/tool";
import { createCrawlParallel } from "./crawl/crawl-parallel.ts";
import { writeLocalFile } from "./report/write-local-file.ts";
import { saveCorpus } from "./save-corpus.ts";
import { webFetch, webSearch } from "./web-tools.ts";
import { workbenchTools } from "./workbench/workbench-tools.ts";

/** The tools that find, read and write about sources: search, pages, the corpus, the report, the workbench. */
export const researchTools: readonly AnyTool[] = [
  ...[webSearch, webFetch, createCrawlParallel()],
  ...[saveCorpus, writeLocalFile, ...workbenchTools],
];
