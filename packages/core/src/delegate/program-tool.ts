import { readTree } from "../record/read-tree.ts";
import type { Conduct } from "../run/conductor.ts";
import type { Session } from "../run/run.ts";
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

/** Leaves the run to its program for one call, and ends it with what the program reports. */
export function conductProgram({ id: sessionId, host: { record } }: Session): Conduct {
  const answer = async () => {
    const rows = (await readTree(record, sessionId)).flatMap((root) =>
      root.children.flatMap((turn) => turn.children),
    );
    const { response_content: said, status } = rows.find((row) => row.call_id === PROGRAM_TOOL) ?? {};
    return said ? { said, isFailed: status === "failed" } : undefined;
  };
  return {
    async next() {
      await record.committed();
      const { said, isFailed } = (await answer()) ?? {};
      if (said === undefined) return { call: { id: PROGRAM_TOOL, tool: PROGRAM_TOOL, input: {} } };
      return isFailed ? { fail: said, type: "failed" } : { say: said };
    },
    report: async () => (await answer())?.said ?? "the session ended before its program did",
  };
}
