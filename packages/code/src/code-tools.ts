import type { AnyTool } from "@retinue/core/tools/tool";
import { read } from "./file-tools/read.ts";
import { glob, grep, ls } from "./file-tools/search-tools.ts";
import { edit, write } from "./file-tools/write-tools.ts";
import { git, gitCommit, gitDiff } from "./repository/git-tools.ts";
import { shell } from "./shell/shell.ts";
import { overview } from "./survey/overview.ts";
import { planFilesTool } from "./survey/plan-files.ts";
import { codeSearch } from "./symbols/code-search.ts";
import { docsCoverage } from "./symbols/docs-coverage.ts";
import { test } from "./test-runs/test-tool.ts";
import { todo } from "./todo.ts";

/** The tools that work on a project: its files, its symbols, its tests, its history, and a shell. */
export const codeTools: readonly AnyTool[] = [
  ...[read, write, edit, ls, glob, grep],
  ...[codeSearch, overview, docsCoverage, planFilesTool],
  ...[test, git, gitDiff, gitCommit, shell, todo],
];
