import type { Step, TuiState } from "../tui-state.ts";
import { EMPTY_EDITOR } from "./editor.ts";

/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 2_000;

/** Ctrl-C: ends what runs, or empties the input; twice in a row it leaves, and once more while leaving it leaves at once. */
export function interruptKey(state: TuiState, atMs: number): Step {
  const isSecond = state.interruptedAtMs !== null && atMs - state.interruptedAtMs <= TWICE_MS;
  if (state.leaving || isSecond) return [{ ...state, leaving: true }, [{ kind: "leave" }]];
  const next = { ...state, interruptedAtMs: atMs, completion: null };
  const ids = [...new Set([...state.alive.values()].map(({ sessionId }) => sessionId))];
  if (ids.length > 0) return [next, [{ kind: "cancel", ids }]];
  return [{ ...next, editor: EMPTY_EDITOR, recalled: null }, []];
}
