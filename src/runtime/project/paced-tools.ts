import { setTimeout as wait } from "node:timers/promises";
import type { AnyTool, ToolContext } from "../../tools/tool.ts";

const PAUSE_MS = 900;

/** The tools, each call of which waits a moment first where it is to be watched: rules are done before an eye has seen them begin. */
export function pacedTools(
  tools: readonly AnyTool[],
  isPaced: (context: ToolContext) => boolean = () => true,
): AnyTool[] {
  return tools.map((tool) => paced(tool, isPaced));
}

function paced(tool: AnyTool, isPaced: (context: ToolContext) => boolean): AnyTool {
  const { withSettings } = tool;
  return {
    ...tool,
    ...(withSettings && {
      withSettings: (settings, places) => paced(withSettings(settings, places), isPaced),
    }),
    execute: async (input, context) => {
      if (isPaced(context)) await wait(PAUSE_MS, undefined, { signal: context.signal });
      return tool.execute(input, context);
    },
  };
}
