import type { Run } from "../run.ts";
import type { ToolCall } from "./read-stream.ts";

/** Ids of providers are far shorter; a longer one is no id but text, and would not fit into a file's name. */
const MAX_ID_CHARS = 128;

/** Gives every call an id that is its own within the run, whatever the model sent. */
export function distinctCalls(run: Pick<Run, "turn" | "callIds">, calls: readonly ToolCall[]): ToolCall[] {
  return calls.map((call, index) => {
    const usable = call.callId && call.callId.length <= MAX_ID_CHARS && !run.callIds.has(call.callId);
    const callId = usable ? call.callId : freeId(run, index);
    run.callIds.add(callId);
    return usable ? call : { ...call, callId };
  });
}

/** A model may well have sent an id that looks like ours. */
function freeId({ turn, callIds }: Pick<Run, "turn" | "callIds">, index: number): string {
  let id = `call_${turn}_${index}`;
  for (let copy = 2; callIds.has(id); copy++) id = `call_${turn}_${index}_${copy}`;
  return id;
}
