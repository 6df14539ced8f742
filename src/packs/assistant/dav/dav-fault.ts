import { ToolFault } from "../errors/tool-fault.ts";

/** Runs work of the DAV client; what it raises by itself becomes a fault too. */
export async function davCall<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  if (signal.aborted) throw new ToolFault("network", "the call was stopped");
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFault) throw error;
    const words = error instanceof Error ? error.message : "it cannot be read";
    throw new ToolFault("tool_error", `the server's answer is of no use: ${words.slice(0, 300)}`, {
      cause: error,
    });
  }
}

/** A value that is found once and kept; a failed search is made again at the next call. */
export function keptOnce<Value>(find: (signal: AbortSignal) => Promise<Value>) {
  let kept: Value | undefined;
  return async (signal: AbortSignal): Promise<Value> => {
    kept ??= await find(signal);
    return kept;
  };
}
