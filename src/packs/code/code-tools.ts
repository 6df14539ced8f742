import type { AnyTool } from "../../tools/tool.ts";
import { edit } from "./files/edit.ts";
import { glob } from "./files/glob.ts";
import { grep } from "./files/grep.ts";
import { ls } from "./files/ls.ts";
import { read } from "./files/read.ts";
import { write } from "./files/write.ts";
import { git } from "./git/git.ts";
import { gitCommit } from "./git/git-commit.ts";
import { gitDiff } from "./git/git-diff.ts";
import { shell } from "./shell/shell.ts";
import { overview } from "./survey/overview.ts";
import { planFiles } from "./survey/plan-files.ts";
import { codeSearch } from "./symbols/code-search.ts";
import { docsCoverage } from "./symbols/docs-coverage.ts";
import { test } from "./testing/test-tool.ts";
import { todo } from "./todo.ts";

/** The tools that work on a project: its files, its symbols, its tests, its history, and a shell. */
export const codeTools: readonly AnyTool[] = [
  ...[read, write, edit, ls, glob, grep],
  ...[codeSearch, overview, docsCoverage, planFiles],
  ...[test, git, gitDiff, gitCommit, shell, todo],
];
