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
export type Action = Readonly<
  | { type: "ready"; agent: string; model: string; agents: readonly string[] }
  | { type: "history" | "files"; items: readonly string[] }
  | { type: "key"; key: Key; atMs: number; rows: readonly string[]; page: number; most: number }
  | { type: "event"; event: RetinueEvent }
  /** `diff` is what the call would change in a file. */
  | { type: "asked"; request: ApprovalRequest; diff?: string | null; atMs: number }
  | { type: "unasked"; approvalId: string; atMs: number }
  | { type: "say"; entry: TalkEntry }
  | { type: "session"; sessionId: string | null; entries: readonly TalkEntry[] }
  | { type: "facts"; facts: Partial<TuiState["facts"]> }
  | { type: "transcript"; transcript: Omit<OpenTranscript, "scroll"> }
  | { type: "not-started" }
  | { type: "unsteered"; runId: string }
>;

/** A key, pressed while a screen was seen. */
export type KeyPress = Extract<Action, { type: "key" }>;

/** What a change of the state asks the engine to do. */
export type Effect = Readonly<
  | { kind: "start"; text: string }
  | { kind: "steer"; runId: string; text: string }
  | { kind: "command"; name: string; rest: string }
  | { kind: "answer"; approvalId: string; answer: ApprovalAnswer }
  | { kind: "cancel"; ids: readonly string[] }
  | { kind: "remember"; text: string }
  | { kind: "open"; runId: string }
  | { kind: "list-files" | "leave" | "redraw" }
>;

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
export type TalkEntry = Readonly<
  /** What the person wrote; `to` names the run that a message steers. */
  | { kind: "person"; text: string; to?: Readonly<{ runId: string; agent: string; fate: Fate }> }
  | { kind: "agent"; runId: string; agent: string; text: string; streaming: boolean }
  /** A tool call of the first agent. */
  | { kind: "call"; runId: string; callId: string; text: string }
  /** How a task ended. */
  | { kind: "ended"; good: boolean; text: string }
  | { kind: "notice"; level: "info" | "warning" | "error"; text: string }
  /** What a slash command has to say; its lines are shown as they are. */
  | { kind: "output"; text: string }
>;

/** What became of a message to a run. */
type Fate = "sent" | "read" | "unread";

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
