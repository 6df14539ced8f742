import type { AnyTool } from "../tools/tool.ts";
import type { ToolCall } from "./model/reply.ts";

/** How often the same call may come in a row before it is answered with a warning, and before the run ends. */
export const REPEATS_TO_WARN = 3;
export const REPEATS_TO_STOP = 5;

/** How badly a run repeats itself. */
export type Repeating = "no" | "warn" | "stop";

/** Remembers the last turn's calls, to notice a run that goes in circles. */
export type Repetition = { last: string; count: number };

/** Counts a turn's calls; says whether the run repeats itself, and how badly. */
export function isRepeating(seen: Repetition, calls: readonly { tool: string; input: string }[]): Repeating {
  const signature = calls
    .map((call) => `${call.tool}\n${spelling(call.input)}`)
    .sort()
    .join("\n\n");
  seen.count = signature === seen.last ? seen.count + 1 : 1;
  seen.last = signature;
  if (seen.count >= REPEATS_TO_STOP) return "stop";
  return seen.count >= REPEATS_TO_WARN ? "warn" : "no";
}

/** Counts a turn's calls for a run. To ask again whether something has ended is no repetition. */
export function countRepeats(
  run: { readonly tools: ReadonlyMap<string, AnyTool>; readonly repetition: Repetition },
  calls: readonly ToolCall[],
  guards: { isRepeating: typeof isRepeating },
): Repeating {
  const polling = calls.every((call) => run.tools.get(call.tool)?.polls);
  return polling ? "no" : guards.isRepeating(run.repetition, calls);
}

/** One spelling for the same JSON, whatever its white space. */
function spelling(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    return input;
  }
}
