import type { ApprovalAnswer, ApprovalRequest } from "../../loop/ports.ts";
import type { PermissionMode } from "../../runtime/approvals.ts";
import type { RetinueEvent } from "../../schema/event.ts";
import type { Completion } from "./state/complete.ts";
import { type Editor, EMPTY_EDITOR } from "./state/editor.ts";
import { type Entry, withEntry } from "./state/entry.ts";
import type { Key } from "./state/keys.ts";
import { takeApproval, takeApprovalGone } from "./state/take-approval.ts";
import { takeEvent } from "./state/take-event.ts";
import { takeKey } from "./state/take-key.ts";

/** A question that waits for the person. */
export type Asked = {
  readonly request: ApprovalRequest;
  /** What it would change in a file; null if it is no such call. */
  readonly diff: string | null;
  /** Letters answer it from then on; before, they were surely meant for something else. */
  readonly armedAtMs: number;
  readonly scroll: number;
  /** A no with words: what is being written. */
  readonly note: Editor | null;
};

/** A run that is alive, and whose it is. */
export type Alive = { readonly sessionId: string; readonly agent: string; readonly isRoot: boolean };

/** The transcript of one run, open on the screen. `scroll` counts lines from the end. */
export type OpenTranscript = {
  readonly runId: string;
  readonly title: string;
  readonly text: string;
  readonly scroll: number;
};

/** All that the screen shows, but for the tree of runs. */
export type TuiState = {
  readonly ready: boolean;
  readonly leaving: boolean;
  /** The session of the conversation; null before the first prompt. */
  readonly sessionId: string | null;
  /** The run that works on the last prompt. */
  readonly rootRunId: string | null;
  /** A prompt was sent and its run has not begun. */
  readonly starting: boolean;
  readonly alive: ReadonlyMap<string, Alive>;
  readonly entries: readonly Entry[];
  /** Lines from the end. */
  readonly scroll: number;
  readonly editor: Editor;
  readonly completion: Completion | null;
  readonly agents: readonly string[];
  readonly files: readonly string[];
  readonly history: readonly string[];
  /** The place in the history, and what was being written before. */
  readonly recalled: { readonly at: number; readonly draft: string } | null;
  readonly focus: "input" | "tree";
  readonly selectedRunId: string | null;
  readonly approvals: readonly Asked[];
  readonly transcript: OpenTranscript | null;
  readonly facts: {
    readonly agent: string;
    readonly model: string;
    readonly mode: PermissionMode;
    readonly project: string;
  };
  readonly spent: { readonly tokens: number; readonly costUsd: number | null; readonly tasks: number };
  /** When Ctrl-C was last pressed. */
  readonly interruptedAtMs: number | null;
};

/** What happens to the state. */
export type Action =
  | {
      readonly type: "ready";
      readonly agent: string;
      readonly model: string;
      readonly agents: readonly string[];
    }
  | { readonly type: "history"; readonly items: readonly string[] }
  | {
      readonly type: "key";
      readonly key: Key;
      readonly atMs: number;
      readonly rows: readonly string[];
      readonly page: number;
      readonly most: number;
    }
  | { readonly type: "event"; readonly event: RetinueEvent }
  | {
      readonly type: "asked";
      readonly request: ApprovalRequest;
      /** What it would change in a file. */
      readonly diff?: string | null;
      readonly atMs: number;
    }
  | { readonly type: "unasked"; readonly approvalId: string; readonly atMs: number }
  | { readonly type: "files"; readonly items: readonly string[] }
  | { readonly type: "say"; readonly entry: Entry }
  | { readonly type: "session"; readonly sessionId: string | null; readonly entries: readonly Entry[] }
  | { readonly type: "facts"; readonly facts: Partial<TuiState["facts"]> }
  | { readonly type: "transcript"; readonly transcript: Omit<OpenTranscript, "scroll"> }
  | { readonly type: "not-started" }
  | { readonly type: "unsteered"; readonly runId: string };

/** What is to be done outside. */
export type Effect =
  | { readonly kind: "start"; readonly text: string }
  | { readonly kind: "steer"; readonly runId: string; readonly text: string }
  | { readonly kind: "command"; readonly name: string; readonly rest: string }
  | { readonly kind: "answer"; readonly approvalId: string; readonly answer: ApprovalAnswer }
  | { readonly kind: "cancel"; readonly ids: readonly string[] }
  | { readonly kind: "remember"; readonly text: string }
  | { readonly kind: "list-files" }
  | { readonly kind: "open"; readonly runId: string }
  | { readonly kind: "leave" }
  | { readonly kind: "redraw" };

/** A state and what is to be done. */
export type Step = readonly [state: TuiState, effects: readonly Effect[]];

/** The state before anything is loaded. */
export function initialState(project: string, mode: PermissionMode): TuiState {
  return {
    ready: false,
    leaving: false,
    sessionId: null,
    rootRunId: null,
    starting: false,
    alive: new Map(),
    entries: [],
    scroll: 0,
    editor: EMPTY_EDITOR,
    completion: null,
    agents: [],
    files: [],
    history: [],
    recalled: null,
    focus: "input",
    selectedRunId: null,
    approvals: [],
    transcript: null,
    facts: { agent: "", model: "", mode, project },
    spent: { tokens: 0, costUsd: 0, tasks: 0 },
    interruptedAtMs: null,
  };
}

/** Something is under way. */
export function isBusy({ starting, alive }: TuiState): boolean {
  return starting || alive.size > 0;
}

/** The run that a message goes to: the selected one, or the one that works on the last prompt; null begins a new task. */
export function targetOf({ selectedRunId, rootRunId, alive }: TuiState): string | null {
  return [selectedRunId, rootRunId].find((id) => id !== null && alive.has(id)) ?? null;
}

/** The next state, and what is to be done outside. Pure. */
export function reduce(state: TuiState, action: Action): Step {
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
      return [{ ...state, entries: withEntry(state.entries, action.entry), scroll: 0 }, []];
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
