import type { Terminal } from "../terminal.ts";
import { createRunTree, type RunTree } from "../tree/run-tree.ts";
import type { Key } from "./editor.ts";
import { takeApproval, takeApprovalGone } from "./question.ts";
import { takeKey } from "./take-key.ts";
import { takeEvent } from "./talk.ts";
import {
  type Action,
  addEntry,
  type Effect,
  isBusy,
  type KeyPress,
  type NextState,
  type TuiState,
} from "./tui-state.ts";

/** What is drawn at one moment; a new object whenever something can be seen to have changed. */
type ScreenMoment = { readonly state: TuiState; readonly nowMs: number };

/** What a key needs to know of the screen that it was pressed on. */
type SeenScreen = Pick<KeyPress, "page" | "most"> & { readonly runIds: KeyPress["rows"] };

/** The state of the screen over time. */
export type Tui = {
  readonly tree: RunTree;
  snapshot(): ScreenMoment;
  subscribe(listener: () => void): () => void;
  dispatch(action: Action): void;
  /** A key, pressed while this screen was seen. */
  press(key: Key, screen: SeenScreen): void;
  /** Ends its timers. */
  stop(): void;
};

/** Changes that no key made are drawn at most this often. */
export const FRAME_MS = 40;
const TICK_MS = 1_000;

/** Creates it; `perform` carries out the effects. */
export function createTui(first: TuiState, perform: (effect: Effect) => void): Tui {
  const tree = createRunTree();
  const listeners = new Set<() => void>();
  let state = first;
  let shown: ScreenMoment = { state, nowMs: Date.now() };
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

/** The next state and its effects. Pure. */
export function reduce(state: TuiState, action: Action): NextState {
  switch (action.type) {
    case "key":
      return takeKey(state, action);
    case "event":
      return [takeEvent(state, action.event), []];
    case "asked":
      return [takeApproval(state, action), []];
    case "unasked":
      return [takeApprovalGone(state, action.approvalId, action.atMs), []];
    case "ready": {
      const { agent, agents, model } = action;
      return [{ ...state, ready: true, agents, facts: { ...state.facts, agent, model } }, []];
    }
    case "history":
      return [{ ...state, history: [...action.items, ...state.history] }, []];
    case "files":
      return takeKey({ ...state, files: action.items }, null);
    case "say":
      return [{ ...state, entries: addEntry(state.entries, action.entry), scroll: 0 }, []];
    case "session":
      return [
        { ...state, sessionId: action.sessionId, entries: action.entries, scroll: 0, selectedRunId: null },
        [],
      ];
    case "facts":
      return [{ ...state, facts: { ...state.facts, ...action.facts } }, []];
    case "transcript": {
      const scroll = state.transcript?.runId === action.transcript.runId ? state.transcript.scroll : 0;
      return [{ ...state, transcript: { ...action.transcript, scroll } }, []];
    }
    case "not-started":
      return [{ ...state, starting: false }, []];
    case "unsteered":
      return [takeEvent(state, null, action.runId), []];
  }
}

/** Says how to continue the conversation later, if there was one. */
export function sayFarewell(tui: Tui, terminal: Terminal): void {
  const { sessionId } = tui.snapshot().state;
  if (sessionId !== null) terminal.tell(`session ${sessionId} · go on with: retinue tui -r ${sessionId}`);
}
