import { setTimeout as wait } from "node:timers/promises";
import { builtInTools } from "../../runtime/project/built-in-tools.ts";
import type { AnyTool } from "../../tools/tool.ts";

const PAUSE_MS = 900;

/** The built-in tools, each call of which waits a moment first: rules are done before an eye has seen them begin. */
export function pacedTools(): AnyTool[] {
  return builtInTools.map((tool) => ({
    ...tool,
    execute: async (input, context) => {
      await wait(PAUSE_MS, undefined, { signal: context.signal });
      return tool.execute(input, context);
    },
  }));
}
