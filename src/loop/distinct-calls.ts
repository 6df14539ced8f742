import type { ToolCall } from "./read-stream.ts";
import type { Run } from "./run.ts";

/** Gives every call an id that is its own within the run, whatever the model sent. */
export function distinctCalls(run: Run, calls: readonly ToolCall[]): ToolCall[] {
  return calls.map((call, index) => {
    const taken = !call.callId || run.callIds.has(call.callId);
    const callId = taken ? `call_${run.turn}_${index}` : call.callId;
    run.callIds.add(callId);
    return taken ? { ...call, callId } : call;
  });
}
