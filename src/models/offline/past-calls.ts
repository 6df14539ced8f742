import type { Move, OfflineCall, PastCall, Situation } from "./procedure.ts";

/** Calls that a procedure wants made before it goes on, worked out from the answers to earlier ones. */
export type Stage = () => readonly OfflineCall[];

/** The call as it was made and answered, if it was made in exactly this form. */
export function answerTo(calls: readonly PastCall[], { tool, input }: OfflineCall): PastCall | undefined {
  const written = JSON.stringify(input);
  return calls.find((past) => past.tool === tool && JSON.stringify(past.input) === written);
}

/** The calls of the first stage that has some to make; null when it is time to report, be it by a limit. */
export function nextCalls(situation: Situation, stages: readonly Stage[]): Move | null {
  if (situation.wrapUp || situation.condensed) return null;
  for (const stage of stages) {
    const calls = stage().filter((call) => !answerTo(situation.calls, call));
    if (calls.length > 0) return { calls };
  }
  return null;
}

/** Calls that did not work, one line each. */
export function faultsIn(calls: readonly PastCall[]): string[] {
  return calls
    .filter(({ failed }) => failed)
    .map(({ tool, input, result }) => {
      const about = input.path ?? input.pattern ?? input.query ?? input.command ?? "";
      return `${[tool, String(about)].filter(Boolean).join(" ")}: ${result.split("\n", 1)[0]}`;
    });
}
