import { setTimeout as wait } from "node:timers/promises";
import { assistantTools } from "@retinue/assistant/assistant-tools";
import { codeTools } from "@retinue/code/code-tools";
import type { AnyTool, ToolContext } from "@retinue/core/tools/tool";
import { researchTools } from "@retinue/research/research-tools";

/** Every tool that Retinue brings. */
export const builtInTools: readonly AnyTool[] = [...codeTools, ...researchTools, ...assistantTools];

const PAUSE_MS = 900;

/** The same tools, each call of which first waits a moment, so that a person can follow the offline model at work. */
export function paceTools(
  tools: readonly AnyTool[],
  isPaced: (context: ToolContext) => boolean = () => true,
): AnyTool[] {
  return tools.map((tool) => paceTool(tool, isPaced));
}

function paceTool(tool: AnyTool, isPaced: (context: ToolContext) => boolean): AnyTool {
  const { withSettings } = tool;
  return {
    ...tool,
    ...(withSettings && {
      withSettings: (settings, places) => paceTool(withSettings(settings, places), isPaced),
    }),
    execute: async (input, context) => {
      if (isPaced(context)) await wait(PAUSE_MS, undefined, { signal: context.signal });
      return tool.execute(input, context);
    },
  };
}
