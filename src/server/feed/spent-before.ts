import { tokensOf } from "../../runtime/record/read-row.ts";
import type { Store } from "../../store/create-store.ts";
import type { SpentBefore } from "./live-runs.ts";

/** What the ended model calls of a run took before this process went on with it; nothing if that cannot be read. */
export function spentBefore(store: Pick<Store, "stepsOf">): SpentBefore {
  return (sessionId, runId) => {
    try {
      const turns = store
        .stepsOf(sessionId, [runId])
        .filter((row) => row.request_type === "continuation" && row.closed_seq !== null);
      const isKnown = turns.every((row) => row.cost_usd !== null);
      return {
        tokens: turns.reduce((sum, row) => sum + tokensOf(row), 0),
        costUsd: isKnown ? turns.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0) : null,
      };
    } catch {
      return { tokens: 0, costUsd: null };
    }
  };
}
