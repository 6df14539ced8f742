import type { AnyTool } from "../../tools/tool.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

/** The tools that work on the project's files. */
export const codeTools: readonly AnyTool[] = [read, write, ls, grep, glob];
