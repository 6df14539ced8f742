import type { ApprovalAnswer } from "@retinue/core/run/ports";
import { cutToLine } from "@retinue/core/text/plain-text";
import { describeAskedCall, PERSON_HERE } from "../work/waiting.ts";
import { type DrawnInput, drawInput, EMPTY_EDITOR, editKey, type Key } from "./editor.ts";
import { cutSpans, makeSpan, type Style, type StyledSpan, wrapSpans } from "./spans.ts";
import { wrapText } from "./talk.ts";
import type { Action, KeyPress, NextState, OpenQuestion, TuiState } from "./tui-state.ts";

/** How long a person must have stopped typing before a letter counts as an answer. */
export const ARMING_MS = 600;

/** The state with one more question. */
export function takeApproval(
  state: TuiState,
  { request, diff = null, atMs }: Extract<Action, { type: "asked" }>,
): TuiState {
  const asked: OpenQuestion = { request, diff, armedAtMs: atMs + ARMING_MS, scroll: 0, note: null };
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
export function approvalKey(
  state: TuiState,
  asked: OpenQuestion,
  { key, atMs, page, most }: KeyPress,
): NextState | null {
  if (asked.note) return noteKey(state, asked, key, atMs);
  if (key.name === "text") {
    const choice = key.text.length === 1 ? CHOICES[key.text.toLowerCase()] : undefined;
    if (atMs < asked.armedAtMs || !choice) {
      const waiting = withFirst(state, { ...asked, armedAtMs: Math.max(asked.armedAtMs, atMs + ARMING_MS) });
      return atMs < asked.armedAtMs || state.editor.text !== "" ? typedOn(waiting, key) : [state, []];
    }
    if (choice === "note") return [withFirst(state, { ...asked, note: EMPTY_EDITOR }), []];
    return answerQuestion(state, asked, { allowed: true, by: PERSON_HERE, scope: choice }, atMs);
  }
  const by = { up: -1, down: 1, pageup: -page, pagedown: page }[key.name as "up"];
  if (by !== undefined)
    return [withFirst(state, { ...asked, scroll: Math.min(most, Math.max(0, asked.scroll + by)) }), []];
  return key.name === "enter" || key.name === "tab" ? [state, []] : null;
}

const CHOICES: Readonly<Record<string, "once" | "run" | "note">> = { y: "once", a: "run", n: "note" };

function noteKey(state: TuiState, asked: OpenQuestion, key: Key, atMs: number): NextState | null {
  if (key.name === "esc") return [withFirst(state, { ...asked, note: null }), []];
  if (key.name === "enter") {
    const note = asked.note?.text.trim() ?? "";
    return answerQuestion(
      state,
      asked,
      { allowed: false, by: PERSON_HERE, ...(note !== "" && { note }) },
      atMs,
    );
  }
  const note = asked.note && editKey(asked.note, key);
  return note ? [withFirst(state, { ...asked, note }), []] : null;
}

/** Letters typed before the question counts go into the input. */
function typedOn(state: TuiState, key: Key): NextState {
  return [{ ...state, editor: editKey(state.editor, key) ?? state.editor }, []];
}

function answerQuestion(
  state: TuiState,
  { request }: OpenQuestion,
  answer: ApprovalAnswer,
  atMs: number,
): NextState {
  const { approvalId } = request;
  return [takeApprovalGone(state, approvalId, atMs), [{ kind: "answer", approvalId, answer }]];
}

function withFirst(state: TuiState, first: OpenQuestion): TuiState {
  return { ...state, approvals: [first, ...state.approvals.slice(1)] };
}

/** Columns that the answers take in full. */
const WIDE_KEYS = 60;
/** With fewer rows than this, facts are shortened so that the tool's name and the call stay in sight. */
const LOW = 12;

/** A question in place of the input: who asks, for what, why, the whole call, and the keys that answer. */
export function drawApproval(
  asked: OpenQuestion,
  { width, height, nowMs, waiting }: { width: number; height: number; nowMs: number; waiting: number },
): { lines: StyledSpan[][]; cursor: DrawnInput["cursor"] | null; most: number } {
  const { note, armedAtMs } = asked;
  const inner = Math.max(1, width - 2);
  const head = [drawTitle(asked, waiting, inner), ...drawFacts(asked, inner, height < LOW)];
  const body = drawCall(asked, inner);
  const drawnNote =
    note && drawInput(note, { width: inner, height: 3, hint: "why not? (Enter to deny, Esc to go back)" });
  const foot: StyledSpan[][] = drawnNote ? drawnNote.lines : [drawKeys(nowMs >= armedAtMs, inner)];
  const room = Math.max(1, height - head.length - foot.length - 2);
  const most = Math.max(0, body.length - room);
  const at = Math.min(asked.scroll, most);
  const seen = `lines ${at + 1}–${Math.min(body.length, at + room)} of ${body.length} · ↑↓ scroll`;
  const more = most > 0 ? [makeSpan(seen, "dim")] : [];
  const lines = [...head, ...body.slice(at, at + room), more, ...foot].map((line) =>
    cutSpans([makeSpan("│ ", "warn"), ...line], width),
  );
  const cursor = drawnNote
    ? { x: drawnNote.cursor.x + 2, y: lines.length - drawnNote.lines.length + drawnNote.cursor.y }
    : null;
  return { lines, cursor, most };
}

function drawTitle({ request }: OpenQuestion, waiting: number, width: number): StyledSpan[] {
  const title = makeSpan(`Approval needed: ${cutToLine(request.tool, 80)}`, "bold");
  return cutSpans([title, makeSpan(waiting > 1 ? ` · ${waiting - 1} more waiting` : "", "dim")], width);
}

function drawFacts({ request }: OpenQuestion, width: number, isLow: boolean): StyledSpan[][] {
  const chain = request.chain.map((name) => cutToLine(name, 60)).join(" › ");
  const risk = [
    makeSpan("risk    ", "dim"),
    makeSpan(request.risk, request.risk === "low" ? "good" : "bad"),
    makeSpan(request.tainted ? " · untrusted text has entered this run" : ""),
  ];
  const reason = [makeSpan("reason  ", "dim"), makeSpan(cutToLine(request.reason, 500))];
  return [
    ...wrapSpans([makeSpan("asks    ", "dim"), makeSpan(chain)], width).slice(0, isLow ? 2 : 3),
    cutSpans(risk, width),
    ...(isLow ? [cutSpans(reason, width)] : [...wrapSpans(reason, width).slice(0, 3), []]),
  ];
}

/** The call as a person reads it: the change, the tool's own words, or what it is given; all of it. */
function drawCall({ request, diff }: OpenQuestion, width: number): StyledSpan[][] {
  const text = describeAskedCall({ ...request, diff });
  if (diff === null) return wrapText(text, width);
  // The signs stay, so that colour is not all there is.
  const lines = text.replaceAll("\t", "    ").trimEnd().split("\n");
  return lines.flatMap((line) => wrapSpans([makeSpan(line, DIFF_STYLES[line[0] ?? ""])], width));
}

const DIFF_STYLES: Readonly<Record<string, Style>> = { "+": "good", "-": "bad", "@": "accent" };

function drawKeys(isArmed: boolean, width: number): StyledSpan[] {
  if (!isArmed) return [makeSpan("one moment…", "dim")];
  const key = (letter: string, does: string) => [makeSpan(letter, "accent"), makeSpan(` ${does}   `, "dim")];
  // Every answer is seen, however narrow the window is.
  if (width < WIDE_KEYS) return [...key("y", "once"), ...key("a", "this run"), ...key("n", "deny")];
  return [...key("y", "allow once"), ...key("a", "allow for this run"), ...key("n", "deny, with a note")];
}
