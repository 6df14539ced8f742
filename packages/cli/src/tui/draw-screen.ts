import { showCost, showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { measureWidth } from "../text-layout.ts";
import { drawCompletion } from "./complete-input.ts";
import { drawInput } from "./editor.ts";
import { drawApproval } from "./question.ts";
import { cutSpans, fillLine, makeSpan, measureSpans, type SpanPainter, type StyledSpan } from "./spans.ts";
import { drawEntries, wrapText } from "./talk.ts";
import { drawTranscript } from "./transcript.ts";
import { findTarget, isBusy, type TuiState } from "./tui-state.ts";

/** The tree of runs in a given space: lines that fit, and which run each is about. */
export type DrawnTree = { readonly lines: readonly string[]; readonly runIds: readonly (string | null)[] };

/** What drawing needs besides the state. */
type Drawing = {
  readonly columns: number;
  readonly rows: number;
  readonly nowMs: number;
  readonly paint: SpanPainter;
  readonly drawTree: (width: number, height: number, staysOpen: boolean) => DrawnTree;
};

/** A whole screen: exactly as many lines as the window has rows, none wider than it. */
export type DrawnScreen = {
  readonly lines: readonly string[];
  readonly cursor: { x: number; y: number } | null;
  /** Runs that can be selected, in the order on the screen. */
  readonly runIds: readonly string[];
  /** How far a page key scrolls, and how far one can scroll at all. */
  readonly page: number;
  readonly most: number;
};

const BESIDE_FROM = 120;
/** Rows that a question gets at least. */
const LEAST_ASKED = 14;
const SEPARATOR = " │ ";

type Bottom = { lines: StyledSpan[][]; cursor: DrawnScreen["cursor"]; most?: number };

/** Draws everything. Pure. */
export function drawScreen(state: TuiState, drawing: Drawing): DrawnScreen {
  const { columns, rows, paint } = drawing;
  const bottom = drawBottom(state, drawing);
  const height = Math.max(0, rows - bottom.lines.length);
  const top = drawTop(state, drawing, height);
  const lines = [...top.lines, ...bottom.lines.map((line) => paint(cutSpans(line, columns)))].slice(-rows);
  const cursor = bottom.cursor && {
    x: Math.min(columns - 1, bottom.cursor.x),
    y: bottom.cursor.y + lines.length - bottom.lines.length,
  };
  return { lines, cursor, runIds: top.runIds, page: Math.max(1, height - 1), most: bottom.most ?? top.most };
}

type Top = Pane & Pick<DrawnScreen, "runIds">;

function drawTop(state: TuiState, drawing: Drawing, height: number): Top {
  const { columns, drawTree, paint } = drawing;
  const whole = { width: columns, height, paint };
  if (state.transcript) {
    const { scroll } = state.transcript;
    return { ...drawPane({ ...drawTranscript(state.transcript, columns), scroll }, whole), runIds: [] };
  }
  const isBeside = columns >= BESIDE_FROM;
  const treeWidth = isBeside ? Math.max(48, Math.floor(columns * 0.42)) : columns;
  const treeHeight = isBeside
    ? height
    : Math.min(Math.floor(height / 2), Math.max(4, Math.floor(height / 3)));
  const staysOpen = isBeside || state.focus === "tree";
  const tree = drawTree(treeWidth, isBeside ? treeHeight : Math.max(0, treeHeight - 1), staysOpen);
  const runIds = tree.runIds.filter((id) => id !== null);
  if (tree.lines.length === 0) return { ...drawTalk(state, whole), runIds };
  if (!isBeside) {
    const rule = paint([makeSpan("─".repeat(columns), "dim")]);
    const talk = drawTalk(state, { ...whole, height: Math.max(0, height - tree.lines.length - 1) });
    return { lines: [...talk.lines, rule, ...tree.lines], most: talk.most, runIds };
  }
  const width = columns - treeWidth - SEPARATOR.length;
  const talk = drawTalk(state, { width, height, paint });
  const bar = paint([makeSpan(SEPARATOR, "dim")]);
  const lines = talk.lines.map((line, index) => fillLine(line, width) + bar + (tree.lines[index] ?? ""));
  return { lines, most: talk.most, runIds };
}

/** The conversation; a short one begins at the top. */
function drawTalk(state: TuiState, { width, height, paint }: PaneSize): Pane {
  const { entries, scroll } = state;
  const body =
    entries.length === 0 ? wrapText(WELCOME, width, "dim").slice(0, height) : drawEntries(entries, width);
  return drawPane({ body, scroll }, { width, height, paint });
}

type PaneSize = { width: number; height: number; paint: SpanPainter };
type Pane = Pick<DrawnScreen, "lines" | "most">;

/** Exactly `height` lines: a head, and below it the part of the body that ends `scroll` lines above its end. */
function drawPane(
  { head = [], body, scroll }: { head?: StyledSpan[][]; body: StyledSpan[][]; scroll: number },
  { width, height, paint }: PaneSize,
): Pane {
  const room = Math.max(0, height - head.length);
  const most = Math.max(0, body.length - room);
  const end = body.length - Math.min(scroll, most);
  const shown = [...head, ...body.slice(Math.max(0, end - room), end)].slice(0, height);
  const lines = shown.map((line) => paint(cutSpans(line, width)));
  return { lines: [...lines, ...Array<string>(height - lines.length).fill("")], most };
}

function drawBottom(state: TuiState, drawing: Drawing): Bottom {
  const { columns, rows, nowMs } = drawing;
  const status = drawStatus(state, columns);
  const [asked] = state.approvals;
  const rule = drawTarget(state, columns);
  if (asked) {
    const height = Math.min(rows, Math.max(LEAST_ASKED, Math.floor(rows * 0.6))) - 2;
    const { lines, cursor, most } = drawApproval(asked, {
      width: columns,
      height,
      nowMs,
      waiting: state.approvals.length,
    });
    return { lines: [rule, ...lines, status], cursor: cursor && { ...cursor, y: cursor.y + 1 }, most };
  }
  if (state.transcript) return { lines: [status], cursor: null };
  const hint =
    findTarget(state) !== null
      ? "a message steers what runs"
      : "ask for something; / for commands, @ for files";
  const input = drawInput(state.editor, {
    width: columns,
    height: Math.max(1, Math.min(10, Math.floor(rows / 3))),
    hint,
  });
  const choices = state.completion
    ? drawCompletion(state.completion, columns, Math.max(1, Math.min(8, rows - input.lines.length - 4)))
    : [];
  const cursor =
    state.focus === "input" && !state.leaving ? { x: input.cursor.x, y: input.cursor.y + 1 } : null;
  return { lines: [rule, ...input.lines, ...choices, status], cursor };
}

/** Shown before the conversation begins. */
const WELCOME = `Retinue

Ask for something below. Agents hand parts of it to sub-agents; you see them work, and nothing risky happens without your approval.

/help lists commands and keys.`;

/** The last line: who answers, what was spent, and the key that matters now. */
function drawStatus(state: TuiState, width: number): StyledSpan[] {
  const { facts, spent, ready } = state;
  const mode = facts.mode === "default" ? "" : facts.mode;
  const left = ready
    ? [facts.agent, facts.model, mode, facts.project]
        .filter(Boolean)
        .map((part) => cutToLine(part, 60))
        .join(" · ")
    : "loading…";
  const cost = spent.tasks > 0 ? `${showCount(spent.tokens, "token")} · ${showCost(spent.costUsd)} · ` : "";
  const right = `${cost}${chooseHint(state)}`;
  const room = width - measureWidth(right) - 2;
  if (room < 10) return cutSpans([makeSpan(right, "dim")], width);
  const start = cutSpans([makeSpan(left, "dim")], room);
  const gap = width - measureWidth(right) - measureSpans(start);
  return [...start, makeSpan(" ".repeat(gap)), makeSpan(right, "dim")];
}

function chooseHint(state: TuiState): string {
  if (state.leaving) return "settling; Ctrl-C to leave at once";
  if (state.interruptedAtMs !== null)
    return isBusy(state) ? "stopping; Ctrl-C again to leave" : "Ctrl-C again to leave";
  if (state.transcript) return "↑↓ scroll · Esc back";
  if (state.approvals.length > 0) return "Esc stops the run";
  if (state.focus === "tree") return "↑↓ choose · Enter opens · Esc back";
  if (state.scroll > 0) return "Esc to the end";
  return isBusy(state) ? "Esc stops · Tab tree · Ctrl-O transcript" : "/help";
}

/** The line above the input; it names the run that a message would go to. */
function drawTarget(state: TuiState, width: number): StyledSpan[] {
  const run = state.selectedRunId === null ? undefined : state.alive.get(state.selectedRunId);
  const name = run && !state.approvals[0] ? ` to ${cutToLine(run.agent, 40)} ` : "";
  const rule = "─".repeat(Math.max(0, width - measureWidth(name) - 3));
  return cutSpans([makeSpan("───", "dim"), makeSpan(name, "accent"), makeSpan(rule, "dim")], width);
}
