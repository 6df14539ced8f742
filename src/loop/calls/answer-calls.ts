import type { ToolCall } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { type CallResult, dispatch } from "./dispatch.ts";
import { recordRefusal } from "./record-call.ts";

/** Answers the calls of a turn, all at once and in their order. */
export async function answerCalls(
  run: Run,
  calls: readonly ToolCall[],
  ports: LoopPorts,
  one = (call: ToolCall): Promise<CallResult> => dispatch(run, call, ports),
): Promise<CallResult[]> {
  const limit = ports.guards.maxCallsPerTurn;
  return Promise.all(
    calls.map((call, index) => {
      if (index < limit) return one(call);
      const text = `only the first ${limit} calls of a turn are run; make this call again later if it is still needed`;
      recordRefusal(run, call, { outcome: "error", text, effects: { uncounted: true } }, ports);
      return { callId: call.callId, tool: call.tool, text, outcome: "error" as const };
    }),
  );
}
