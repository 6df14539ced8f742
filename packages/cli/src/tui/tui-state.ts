import type { ApprovalAnswer, ApprovalRequest } from "@retinue/core/run/ports";
import type { RetinueEvent } from "@retinue/core/schema/event";
import type { PermissionMode } from "@retinue/core/schema/rights";
import type { Completion } from "./complete-input.ts";
import { type Editor, EMPTY_EDITOR, type Key } from "./editor.ts";

/** A question that waits for the person. */
export type OpenQuestion = {
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
type Alive = { readonly sessionId: string; readonly agent: string; readonly isRoot: boolean };

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
  readonly entries: readonly TalkEntry[];
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
  readonly approvals: readonly OpenQuestion[];
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
  | { readonly type: "say"; readonly entry: TalkEntry }
  | { readonly type: "session"; readonly sessionId: string | null; readonly entries: readonly TalkEntry[] }
  | { readonly type: "facts"; readonly facts: Partial<TuiState["facts"]> }
  | { readonly type: "transcript"; readonly transcript: Omit<OpenTranscript, "scroll"> }
  | { readonly type: "not-started" }
  | { readonly type: "unsteered"; readonly runId: string };

/** A key, pressed while a screen was seen. */
export type KeyPress = Extract<Action, { type: "key" }>;

/** What a change of the state asks the engine to do. */
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

/** A state and its effects. */
export type NextState = readonly [state: TuiState, effects: readonly Effect[]];

/** The state before anything is loaded. */
export function createState(project: string, mode: PermissionMode): TuiState {
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

/** Whether a task is running or starting. */
export function isBusy({ starting, alive }: TuiState): boolean {
  return starting || alive.size > 0;
}

/** The run that a message goes to: the selected one, or the one that works on the last prompt; null begins a new task. */
export function findTarget({ selectedRunId, rootRunId, alive }: TuiState): string | null {
  return [selectedRunId, rootRunId].find((id) => id !== null && alive.has(id)) ?? null;
}

/** One piece of the conversation as it is shown. Entries never change in place, so that their lines can be kept. */
export type TalkEntry =
  /** What the person wrote; `to` names the run that a message steers. */
  | {
      readonly kind: "person";
      readonly text: string;
      readonly to?: {
        readonly runId: string;
        readonly agent: string;
        readonly fate: "sent" | "read" | "unread";
      };
    }
  | {
      readonly kind: "agent";
      readonly runId: string;
      readonly agent: string;
      readonly text: string;
      readonly streaming: boolean;
    }
  /** A tool call of the first agent. */
  | { readonly kind: "call"; readonly runId: string; readonly callId: string; readonly text: string }
  /** How a task ended. */
  | { readonly kind: "ended"; readonly good: boolean; readonly text: string }
  | { readonly kind: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  /** What a slash command has to say; its lines are shown as they are. */
  | { readonly kind: "output"; readonly text: string };

/** Older entries than this many are forgotten on the screen; the record has them. */
const MOST_ENTRIES = 1_000;
/** Streamed text beyond this is not shown until the turn has ended. */
export const MOST_STREAMED = 200_000;

/** The entries with one more. */
export function addEntry(entries: readonly TalkEntry[], entry: TalkEntry): readonly TalkEntry[] {
  return [...entries.slice(-(MOST_ENTRIES - 1)), entry];
}

/** The entries with the last one that fits replaced; unchanged if none does. */
export function replaceEntry(
  entries: readonly TalkEntry[],
  fits: (entry: TalkEntry) => boolean,
  change: (entry: TalkEntry) => TalkEntry | null,
): readonly TalkEntry[] {
  const index = entries.findLastIndex(fits);
  const found = entries[index];
  if (!found) return entries;
  const changed = change(found);
  return [...entries.slice(0, index), ...(changed ? [changed] : []), ...entries.slice(index + 1)];
}
