import { assistantTools } from "../../packs/assistant/assistant-tools.ts";
import { codeTools } from "../../packs/code/code-tools.ts";
import { researchTools } from "../../packs/research/research-tools.ts";
import type { AnyTool } from "../../tools/tool.ts";

/** Every tool that Retinue brings. */
export const builtInTools: readonly AnyTool[] = [...codeTools, ...researchTools, ...assistantTools];
