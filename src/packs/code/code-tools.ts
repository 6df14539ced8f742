import type { AnyTool } from "../../tools/tool.ts";
import { glob } from "./files/glob.ts";
import { grep } from "./files/grep.ts";
import { ls } from "./files/ls.ts";
import { read } from "./files/read.ts";
import { write } from "./files/write.ts";

/** The tools that work on the project's files. */
export const codeTools: readonly AnyTool[] = [read, write, ls, grep, glob];
