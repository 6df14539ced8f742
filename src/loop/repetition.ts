/** How often the same call may come in a row before it is answered with a warning, and before the run ends. */
export const REPEATS_TO_WARN = 3;
export const REPEATS_TO_STOP = 5;

/** Remembers the last turn's calls, to notice a run that goes in circles. */
export type Repetition = { last: string; count: number };

/** Counts a turn's calls; says whether the run repeats itself, and how badly. */
export function isRepeating(
  seen: Repetition,
  calls: readonly { tool: string; input: string }[],
): "no" | "warn" | "stop" {
  const signature = calls
    .map((call) => `${call.tool}\n${spelling(call.input)}`)
    .sort()
    .join("\n\n");
  seen.count = signature === seen.last ? seen.count + 1 : 1;
  seen.last = signature;
  if (seen.count >= REPEATS_TO_STOP) return "stop";
  return seen.count >= REPEATS_TO_WARN ? "warn" : "no";
}

/** One spelling for the same JSON, whatever its white space. */
function spelling(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    return input;
  }
}
