import { findCompletion, findMention, parseSlash } from "./complete-input.ts";
import { createEditor, type Editor, EMPTY_EDITOR, editKey, type Key } from "./editor.ts";
import { approvalKey } from "./question.ts";
import {
  addEntry,
  type Effect,
  findTarget,
  type KeyPress,
  type NextState,
  type TuiState,
} from "./tui-state.ts";

const MOST_HISTORY = 500;

/** The state after a key; without one, what there is to complete is looked for again. */
export function takeKey(state: TuiState, press: KeyPress | null): NextState {
  if (press === null) return [{ ...state, completion: findCompletion(state.editor, state) }, []];
  const { key, atMs } = press;
  if (key.name === "redraw") return [state, [{ kind: "redraw" }]];
  if (key.name === "interrupt") return interruptKey(state, atMs);
  if (state.leaving) return [state, []];
  const calm = state.interruptedAtMs === null ? state : { ...state, interruptedAtMs: null };
  const [asked] = calm.approvals;
  if (asked) {
    const step = approvalKey(calm, asked, press);
    if (step) return step;
  }
  if (calm.transcript) return transcriptKey(calm, calm.transcript, press);
  if (key.name === "open") return openTranscript(calm, press.rows);
  if (calm.focus === "tree") return treeKey(calm, press);
  return inputKey(calm, press);
}

function inputKey(state: TuiState, press: KeyPress): NextState {
  const { key, page, rows, most } = press;
  if (state.completion) {
    const step = completionKey(state, state.completion, key);
    if (step) return step;
  }
  switch (key.name) {
    case "enter":
      return takeEnter(state);
    case "esc":
      return leaveOrStop(state);
    case "tab":
      return rows.length === 0 ? [state, []] : [select({ ...state, focus: "tree" }, rows, 0), []];
    case "pageup":
      return [{ ...state, scroll: Math.min(most, state.scroll + page) }, []];
    case "pagedown":
      return [{ ...state, scroll: Math.max(0, Math.min(most, state.scroll) - page) }, []];
    case "end-of-input":
      if (state.editor.text === "") return [{ ...state, leaving: true }, [{ kind: "leave" }]];
      return takeEdit(state, editKey(state.editor, { name: "delete" }) ?? state.editor);
    case "up":
    case "down": {
      const moved = editKey(state.editor, key);
      return moved ? [{ ...state, editor: moved }, []] : recall(state, key.name === "up" ? -1 : 1);
    }
    default: {
      const editor = editKey(state.editor, key);
      return editor ? takeEdit(state, editor) : [state, []];
    }
  }
}

/** The state with another text; files are listed when the first `@` is typed. */
function takeEdit(state: TuiState, editor: Editor): NextState {
  const next = { ...state, editor, recalled: null, scroll: 0 };
  const wantsFiles =
    state.files.length === 0 && findMention(editor.text.slice(0, editor.cursor)) !== undefined;
  return [{ ...next, completion: findCompletion(editor, next) }, wantsFiles ? [{ kind: "list-files" }] : []];
}

function completionKey(
  state: TuiState,
  completion: NonNullable<TuiState["completion"]>,
  key: Key,
): NextState | null {
  const { items, at, from, word, kind } = completion;
  const chosen = items[at];
  const isWhole = chosen?.value === word;
  if (key.name === "up" || key.name === "down") {
    if (items.length === 1) return null;
    const next = (at + (key.name === "up" ? -1 : 1) + items.length) % items.length;
    return [{ ...state, completion: { ...completion, at: next } }, []];
  }
  if (key.name === "esc") return [{ ...state, completion: null }, []];
  if ((key.name === "enter" && !isWhole) || key.name === "tab") {
    if (!chosen) return null;
    const { text, cursor } = state.editor;
    const before = `${text.slice(0, from)}${chosen.value} `;
    const editor = { text: before + text.slice(cursor).replace(/^ /, ""), cursor: before.length };
    const needsMore = kind !== "command" || /^[A-Z]/.test(chosen.about);
    const next = { ...state, editor, completion: null };
    // A command that takes nothing is sent by the Enter that chose it.
    return key.name === "enter" && !needsMore
      ? takeEnter(next)
      : [{ ...next, completion: findCompletion(editor, next) }, []];
  }
  return null;
}

function takeEnter(state: TuiState): NextState {
  const { editor } = state;
  if (editor.text.slice(0, editor.cursor).endsWith("\\") && editor.cursor === editor.text.length)
    return [{ ...state, editor: createEditor(`${editor.text.slice(0, -1)}\n`) }, []];
  const text = editor.text.trim();
  if (text === "") return [state, []];
  const isRepeated = state.history.at(-1) === text;
  const history = isRepeated ? state.history : [...state.history.slice(-MOST_HISTORY), text];
  const sent = { ...state, editor: EMPTY_EDITOR, completion: null, recalled: null, history, scroll: 0 };
  // As in shells: what begins with a blank is not kept.
  const remember: Effect[] = isRepeated || editor.text.startsWith(" ") ? [] : [{ kind: "remember", text }];
  const slash = parseSlash(text);
  if (slash?.name === "quit") return [{ ...sent, leaving: true }, [...remember, { kind: "leave" }]];
  if (slash)
    return [
      { ...sent, entries: addEntry(sent.entries, { kind: "person", text }) },
      [...remember, { kind: "command", ...slash }],
    ];
  return deliver(sent, text, remember);
}

/** A message steers the run that it goes to; without one it is a new task. */
function deliver(state: TuiState, text: string, remember: readonly Effect[]): NextState {
  const runId = findTarget(state);
  const run = runId === null ? undefined : state.alive.get(runId);
  if (runId !== null && run) {
    const to = { runId, agent: run.agent, fate: "sent" } as const;
    return [
      { ...state, entries: addEntry(state.entries, { kind: "person", text, to }) },
      [...remember, { kind: "steer", runId, text }],
    ];
  }
  if (state.starting) return [{ ...state, editor: createEditor(text) }, []];
  return [
    { ...state, starting: true, entries: addEntry(state.entries, { kind: "person", text }) },
    [...remember, { kind: "start", text }],
  ];
}

/** Esc ends one thing at a time: scrolling back, the conversation's run, whatever else runs. */
function leaveOrStop(state: TuiState): NextState {
  if (state.scroll > 0) return [{ ...state, scroll: 0 }, []];
  const root = state.rootRunId === null ? undefined : state.alive.get(state.rootRunId);
  const ids = root ? [root.sessionId] : [...state.alive.values()].map(({ sessionId }) => sessionId);
  if (ids.length > 0) return [state, [{ kind: "cancel", ids: [...new Set(ids)] }]];
  return [{ ...state, selectedRunId: null }, []];
}

function recall(state: TuiState, direction: -1 | 1): NextState {
  const { history, recalled, editor } = state;
  const at = (recalled?.at ?? history.length) + direction;
  if (at < 0 || at > history.length || (at === history.length && !recalled)) return [state, []];
  const draft = recalled?.draft ?? editor.text;
  const text = at === history.length ? draft : (history[at] ?? "");
  return [
    { ...state, editor: createEditor(text), recalled: at === history.length ? null : { at, draft } },
    [],
  ];
}

function treeKey(state: TuiState, { key, rows, page }: KeyPress): NextState {
  switch (key.name) {
    case "up":
      return [select(state, rows, -1), []];
    case "down":
      return [select(state, rows, 1), []];
    case "pageup":
      return [select(state, rows, -page), []];
    case "pagedown":
      return [select(state, rows, page), []];
    case "enter":
      return openTranscript(state, rows);
    case "esc":
      return [{ ...state, focus: "input", selectedRunId: null }, []];
    case "tab":
    case "shift-tab":
      return [{ ...state, focus: "input" }, []];
    default: {
      const editor = key.name === "text" ? editKey(state.editor, key) : undefined;
      return editor ? takeEdit({ ...state, focus: "input" }, editor) : [state, []];
    }
  }
}

function select(state: TuiState, rows: readonly string[], by: number): TuiState {
  const now = state.selectedRunId === null ? -1 : rows.indexOf(state.selectedRunId);
  const at = Math.min(rows.length - 1, Math.max(0, now < 0 ? 0 : now + by));
  return { ...state, selectedRunId: rows[at] ?? null };
}

/** Opens the selected run, or else the last sub-agent, or the last run there is. */
function openTranscript(state: TuiState, rows: readonly string[]): NextState {
  const subagents = [...state.alive].filter(([, run]) => !run.isRoot);
  const runId = state.selectedRunId ?? subagents.at(-1)?.[0] ?? rows.at(-1);
  return runId === undefined ? [state, []] : [{ ...state, selectedRunId: runId }, [{ kind: "open", runId }]];
}

function transcriptKey(
  state: TuiState,
  transcript: NonNullable<TuiState["transcript"]>,
  { key, page, most }: KeyPress,
): NextState {
  const by = {
    up: 1,
    down: -1,
    pageup: page,
    pagedown: -page,
    home: most,
    end: -most,
  }[key.name as "up"];
  if (by !== undefined) {
    const scroll = Math.min(most, Math.max(0, Math.min(most, transcript.scroll) + by));
    return [{ ...state, transcript: { ...transcript, scroll } }, []];
  }
  const isClosing = key.name === "esc" || key.name === "open" || (key.name === "text" && key.text === "q");
  return [isClosing ? { ...state, transcript: null } : state, []];
}

/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 2_000;

/** Ctrl-C: ends what runs, or empties the input; twice in a row it leaves, and once more while leaving it leaves at once. */
function interruptKey(state: TuiState, atMs: number): NextState {
  const isSecond = state.interruptedAtMs !== null && atMs - state.interruptedAtMs <= TWICE_MS;
  if (state.leaving || isSecond) return [{ ...state, leaving: true }, [{ kind: "leave" }]];
  const next = { ...state, interruptedAtMs: atMs, completion: null };
  const ids = [...new Set([...state.alive.values()].map(({ sessionId }) => sessionId))];
  if (ids.length > 0) return [next, [{ kind: "cancel", ids }]];
  return [{ ...next, editor: EMPTY_EDITOR, recalled: null }, []];
}
