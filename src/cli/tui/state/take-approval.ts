import type { ApprovalAnswer } from "../../../loop/ports.ts";
import type { Action, Asked, Step, TuiState } from "../tui-state.ts";
import { editKey } from "./edit-key.ts";
import { EMPTY_EDITOR } from "./editor.ts";
import type { Key } from "./keys.ts";

type KeyPress = Extract<Action, { type: "key" }>;

/** How long a person must have stopped typing before a letter counts as an answer. */
export const ARMING_MS = 600;
const BY = "the person at the terminal";

/** The state with one more question. */
export function takeApproval(
  state: TuiState,
  { request, diff = null, atMs }: Extract<Action, { type: "asked" }>,
): TuiState {
  const asked: Asked = { request, diff, armedAtMs: atMs + ARMING_MS, scroll: 0, note: null };
  return { ...state, approvals: [...state.approvals, asked], completion: null };
}

/** The state without a question that needs no answer any more; letters meant for it do not answer the next one. */
export function takeApprovalGone(state: TuiState, approvalId: string, atMs: number): TuiState {
  const [first, ...rest] = state.approvals.filter(({ request }) => request.approvalId !== approvalId);
  if (!first) return { ...state, approvals: [] };
  const isNext = first !== state.approvals[0];
  return { ...state, approvals: [isNext ? { ...first, armedAtMs: atMs + ARMING_MS } : first, ...rest] };
}

/** A key while a question is open; null if it is meant for something else. */
export function approvalKey(state: TuiState, asked: Asked, { key, atMs, page, most }: KeyPress): Step | null {
  if (asked.note) return noteKey(state, asked, key, atMs);
  if (key.name === "text") {
    const choice = key.text.length === 1 ? CHOICES[key.text.toLowerCase()] : undefined;
    if (atMs < asked.armedAtMs || !choice) {
      const waiting = withFirst(state, { ...asked, armedAtMs: Math.max(asked.armedAtMs, atMs + ARMING_MS) });
      return atMs < asked.armedAtMs || state.editor.text !== "" ? typedOn(waiting, key) : [state, []];
    }
    if (choice === "note") return [withFirst(state, { ...asked, note: EMPTY_EDITOR }), []];
    return answered(state, asked, { allowed: true, by: BY, scope: choice }, atMs);
  }
  const by = { up: -1, down: 1, pageup: -page, pagedown: page }[key.name as "up"];
  if (by !== undefined)
    return [withFirst(state, { ...asked, scroll: Math.min(most, Math.max(0, asked.scroll + by)) }), []];
  return key.name === "enter" || key.name === "tab" ? [state, []] : null;
}

const CHOICES: Readonly<Record<string, "once" | "run" | "note">> = { y: "once", a: "run", n: "note" };

function noteKey(state: TuiState, asked: Asked, key: Key, atMs: number): Step | null {
  if (key.name === "esc") return [withFirst(state, { ...asked, note: null }), []];
  if (key.name === "enter") {
    const note = asked.note?.text.trim() ?? "";
    return answered(state, asked, { allowed: false, by: BY, ...(note !== "" && { note }) }, atMs);
  }
  const note = asked.note && editKey(asked.note, key);
  return note ? [withFirst(state, { ...asked, note }), []] : null;
}

/** Letters before the question counts go where they were going. */
function typedOn(state: TuiState, key: Key): Step {
  return [{ ...state, editor: editKey(state.editor, key) ?? state.editor }, []];
}

function answered(state: TuiState, { request }: Asked, answer: ApprovalAnswer, atMs: number): Step {
  const { approvalId } = request;
  return [takeApprovalGone(state, approvalId, atMs), [{ kind: "answer", approvalId, answer }]];
}

function withFirst(state: TuiState, first: Asked): TuiState {
  return { ...state, approvals: [first, ...state.approvals.slice(1)] };
}
