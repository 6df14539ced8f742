import { createRunTree, type RunTree } from "../tree/run-tree.ts";
import type { Key } from "./state/keys.ts";
import { type Action, type Effect, isBusy, reduce, type TuiState } from "./tui-state.ts";
import type { Screen } from "./view/draw-screen.ts";

/** What is drawn at one moment; a new object whenever something can be seen to have changed. */
export type Snapshot = { readonly state: TuiState; readonly nowMs: number };

/** The state of the screen over time. */
export type Tui = {
  readonly tree: RunTree;
  snapshot(): Snapshot;
  subscribe(listener: () => void): () => void;
  dispatch(action: Action): void;
  /** A key, pressed while this screen was seen. */
  press(key: Key, screen: Pick<Screen, "runIds" | "page" | "most">): void;
  /** Ends its timers. */
  stop(): void;
};

/** Changes that no key made are drawn at most this often. */
export const FRAME_MS = 40;
const TICK_MS = 1_000;

/** Creates it; `perform` does what has to be done outside. */
export function createTui(first: TuiState, perform: (effect: Effect) => void): Tui {
  const tree = createRunTree();
  const listeners = new Set<() => void>();
  let state = first;
  let shown: Snapshot = { state, nowMs: Date.now() };
  let frame: NodeJS.Timeout | undefined;
  let arming: NodeJS.Timeout | undefined;

  function show(): void {
    clearTimeout(frame);
    frame = undefined;
    shown = { state, nowMs: Date.now() };
    for (const listener of listeners) listener();
  }
  function dispatch(action: Action): void {
    if (action.type === "event") tree.take(action.event);
    const [next, effects] = reduce(state, action);
    const isSame = next === state;
    state = next;
    if (action.type === "key") show();
    else if (!isSame || action.type === "event") frame ??= setTimeout(show, FRAME_MS);
    watchArming();
    for (const effect of effects) perform(effect);
  }
  /** A question changes its look when letters begin to count. */
  function watchArming(): void {
    const armedAtMs = state.approvals[0]?.armedAtMs;
    clearTimeout(arming);
    if (armedAtMs !== undefined && armedAtMs > shown.nowMs)
      arming = setTimeout(show, Math.max(0, armedAtMs - Date.now()) + 1);
  }
  const ticking = setInterval(() => {
    if (isBusy(state) || state.interruptedAtMs !== null) show();
  }, TICK_MS);
  return {
    tree,
    snapshot: () => shown,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dispatch,
    press: (key, { runIds, page, most }) =>
      dispatch({ type: "key", key, atMs: Date.now(), rows: runIds, page, most }),
    stop() {
      clearInterval(ticking);
      // The last changes are in the snapshot that is read afterwards.
      if (frame) show();
      clearTimeout(arming);
    },
  };
}
