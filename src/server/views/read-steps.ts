import { sessionState } from "../../runtime/trace/session-state.ts";
import type { StepList } from "../../schema/api/session.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { STEP_CHARS, stepView } from "./step-view.ts";

/** Which model and tool calls are wanted, and where to go on. */
export type WantedSteps = { runId?: string | undefined; after: number; limit: number };

/** A page of the model and tool calls of a session, or of one run, in the order they opened. */
export function readSteps(store: Store, session: SessionRow, { runId, after, limit }: WantedSteps): StepList {
  const isAtWork = sessionState(store, session) === "running";
  const rows = store.stepsAfter({
    sessionId: session.session_id,
    runId,
    after,
    limit: limit + 1,
    chars: STEP_CHARS + 1,
  });
  const page = rows.slice(0, limit);
  const next = rows.length > limit ? (page.at(-1)?.opened_seq ?? null) : null;
  return { steps: page.map((row) => stepView(row, isAtWork)), next };
}
