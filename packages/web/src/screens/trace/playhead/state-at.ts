import type { Course } from "./course.ts";
import { upperBound } from "./moments.ts";
import { spentAt } from "./spending.ts";

/** How a session stood at a moment. */
export type State = {
  /** Runs that had begun, and of these the ones that had not ended, and those that had failed. */
  begun: number;
  live: number;
  failed: number;
  /** Questions that waited for a person's answer. */
  waiting: number;
  turns: number;
  calls: number;
  tokens: number;
  /** Unknown is null, never 0. */
  costUsd: number | null;
};

/** How the session stood at a moment: what began or ended exactly then has. */
export function stateAt(course: Course, atMs: number): State {
  const until = (times: Float64Array) => upperBound(times, atMs);
  const begun = until(course.began);
  return {
    begun,
    live: begun - until(course.ended),
    failed: until(course.failed),
    waiting: until(course.asked) - until(course.settled),
    turns: until(course.turns),
    calls: until(course.calls),
    ...spentAt(course.spending, atMs),
  };
}
