import { showInput } from "@retinue/core/schema/show-input";
import { cutToLine, escapeControls } from "@retinue/core/text/plain-text";
import { measureWidth } from "../../text-layout.ts";
import type { Completion } from "../state/complete.ts";
import type { Editor } from "../state/editor.ts";
import type { OpenQuestion } from "../state/tui-state.ts";
import { wrapText } from "./draw-entries.ts";
import { cutSpans, type Style, type StyledSpan, splitAt, wrapSpans } from "./spans.ts";

/** Lines of the input, and where in them the cursor stands. */
type DrawnInput = { lines: StyledSpan[][]; cursor: { x: number; y: number } };

const MARGIN = 2;
/** Code units that a character takes at most, as far as rows are concerned. */
const MOST_UNITS = 16;

/** The text being written, broken at the width, with as many lines as fit around the cursor. */
export function drawInput(
  { text, cursor }: Editor,
  { width, height, hint, sign = "❯ " }: { width: number; height: number; hint: string; sign?: string },
): DrawnInput {
  const columns = Math.max(1, width - MARGIN - 1);
  if (text === "")
    return {
      lines: [
        cutSpans(
          [
            { text: sign, style: "accent" },
            { text: hint, style: "dim" },
          ],
          width,
        ),
      ],
      cursor: { x: MARGIN, y: 0 },
    };
  const { rows, at } = breakRows(text, cursor, columns);
  const first = Math.max(0, Math.min(at.y - Math.floor(height / 2), rows.length - height));
  const lines = rows
    .slice(first, first + height)
    .map((row, index): StyledSpan[] => [
      first + index === 0
        ? { text: sign, style: "accent" }
        : { text: first + index === first && first > 0 ? "↑ " : "  ", style: "dim" },
      { text: row },
    ]);
  return { lines, cursor: { x: MARGIN + at.x, y: at.y - first } };
}

/** Rows of a text and the place of an offset in them. */
function breakRows(
  text: string,
  cursor: number,
  columns: number,
): { rows: string[]; at: { x: number; y: number } } {
  const rows: string[] = [];
  const at = { x: 0, y: 0 };
  let offset = 0;
  for (const line of text.split("\n")) {
    let rest = line;
    let isFirst = true;
    while (isFirst || rest !== "") {
      isFirst = false;
      // Only the beginning is measured: what follows may be a pasted book.
      const [head] = splitAt(rest.slice(0, columns * MOST_UNITS), columns);
      // A character wider than the window gets its own row, or this would loop forever.
      const row = head === "" ? rest.slice(0, MOST_UNITS) : head;
      if (cursor >= offset && cursor <= offset + row.length)
        Object.assign(at, {
          x: Math.min(columns, measureWidth(row.slice(0, cursor - offset))),
          y: rows.length,
        });
      rows.push(row);
      offset += row.length;
      rest = rest.slice(row.length);
    }
    offset += 1;
  }
  return { rows, at };
}

/** The choices of a completion, at most `height` of them around the chosen one. */
export function drawCompletion(
  { items, at, kind }: Completion,
  width: number,
  height: number,
): StyledSpan[][] {
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), items.length - height));
  const sign = kind === "command" ? "/" : kind === "file" ? "@" : "";
  const shown = items.slice(first, first + height);
  const widest = Math.min(40, Math.max(...shown.map(({ value }) => measureWidth(value))));
  return shown.map(({ value, about }, index) => {
    const isChosen = first + index === at;
    const gap = " ".repeat(Math.max(2, widest - measureWidth(value) + 2));
    return cutSpans(
      [
        { text: isChosen ? "› " : "  ", style: "accent" },
        { text: `${sign}${value}`, style: isChosen ? "bold" : "dim" },
        { text: about === "" ? "" : `${gap}${about}`, style: "dim" },
      ],
      width,
    );
  });
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
  const head = [...drawTitle(asked, waiting, inner), ...drawFacts(asked, inner, height < LOW)];
  const body = drawCall(asked, inner);
  const drawnNote =
    note && drawInput(note, { width: inner, height: 3, hint: "why not? (Enter to deny, Esc to go back)" });
  const foot: StyledSpan[][] = drawnNote ? drawnNote.lines : [drawKeys(nowMs >= armedAtMs, inner)];
  const room = Math.max(1, height - head.length - foot.length - 2);
  const most = Math.max(0, body.length - room);
  const at = Math.min(asked.scroll, most);
  const more =
    most > 0
      ? [
          {
            text: `lines ${at + 1}–${Math.min(body.length, at + room)} of ${body.length} · ↑↓ scroll`,
            style: "dim",
          } as const,
        ]
      : [];
  const lines = [...head, ...body.slice(at, at + room), more, ...foot].map((line) =>
    cutSpans([{ text: "│ ", style: "warn" }, ...line], width),
  );
  const cursor = drawnNote
    ? { x: drawnNote.cursor.x + 2, y: lines.length - drawnNote.lines.length + drawnNote.cursor.y }
    : null;
  return { lines, cursor, most };
}

function drawTitle({ request }: OpenQuestion, waiting: number, width: number): StyledSpan[][] {
  const more = waiting > 1 ? ` · ${waiting - 1} more waiting` : "";
  return [
    cutSpans(
      [
        { text: `Approval needed: ${cutToLine(request.tool, 80)}`, style: "bold" },
        { text: more, style: "dim" },
      ],
      width,
    ),
  ];
}

function drawFacts({ request }: OpenQuestion, width: number, isLow: boolean): StyledSpan[][] {
  const chain = request.chain.map((name) => cutToLine(name, 60)).join(" › ");
  const risk: StyledSpan[] = [
    { text: "risk    ", style: "dim" },
    { text: request.risk, style: request.risk === "low" ? "good" : "bad" },
    { text: request.tainted ? " · untrusted text has entered this run" : "" },
  ];
  const reason: StyledSpan[] = [{ text: "reason  ", style: "dim" }, { text: cutToLine(request.reason, 500) }];
  return [
    ...wrapSpans([{ text: "asks    ", style: "dim" }, { text: chain }], width).slice(0, isLow ? 2 : 3),
    cutSpans(risk, width),
    ...(isLow ? [cutSpans(reason, width)] : [...wrapSpans(reason, width).slice(0, 3), []]),
  ];
}

/** The call as a person reads it: the change, the tool's own words, or what it is given; all of it. */
function drawCall({ request, diff }: OpenQuestion, width: number): StyledSpan[][] {
  if (diff !== null)
    return escapeControls(diff)
      .trimEnd()
      .split("\n")
      .flatMap((line) => drawDiffLine(line, width));
  return wrapText(escapeControls(request.presented ?? showInput(request.input)), width);
}

const DIFF_STYLES: Readonly<Record<string, Style>> = { "+": "good", "-": "bad", "@": "accent" };

/** The signs stay, so that colour is not all there is. */
function drawDiffLine(line: string, width: number): StyledSpan[][] {
  const style = DIFF_STYLES[line[0] ?? ""];
  return wrapSpans([{ text: line.replaceAll("\t", "    "), ...(style && { style }) }], width);
}

function drawKeys(isArmed: boolean, width: number): StyledSpan[] {
  if (!isArmed) return [{ text: "one moment…", style: "dim" }];
  const key = (letter: string, does: string): StyledSpan[] => [
    { text: letter, style: "accent" },
    { text: ` ${does}   `, style: "dim" },
  ];
  // Every answer is seen, however narrow the window is.
  if (width < WIDE_KEYS) return [...key("y", "once"), ...key("a", "this run"), ...key("n", "deny")];
  return [...key("y", "allow once"), ...key("a", "allow for this run"), ...key("n", "deny, with a note")];
}
