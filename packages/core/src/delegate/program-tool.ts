import { type AnyTool, defineTool, type Program } from "../tools/tool.ts";
import type { Children } from "./children.ts";

/** The name of the tool, and the id of its one call in a session. */
export const PROGRAM_TOOL = "program";

/**
 * The call in which a program starts the children of its session, so that they hang from a row like those of a model. Where
 * the program is gone, as after a crash, what it had begun goes on to its end.
 */
export function programTool(children: Children, program: Program | null): AnyTool {
  return defineTool<object>({
    name: PROGRAM_TOOL,
    description: "Lets the program that opened the session start agents.",
    groups: ["delegation"],
    risk: "low",
    replay: "safe",
    offered: false,
    // It names no agent: each child is judged by itself.
    judgedAs: "collect_results",
    delegates: "program",
    input: { type: "object" },
    execute: async (_, context) => {
      if (program && context.children) return program.lead(context.children);
      await children.finish(context.callId);
      return "the program has ended; what it had started was finished";
    },
  });
}
