import { showInput } from "../../../schema/show-input.ts";
import { exactText, plainLine } from "../../plain-text.ts";
import type { Asked } from "../tui-state.ts";
import { wrapped } from "./draw-entries.ts";
import { type DrawnInput, drawInput } from "./draw-input.ts";
import { cutSpans, type Span, type Style, wrapSpans } from "./spans.ts";

/** Columns that the answers take in full. */
const WIDE_KEYS = 60;
/** With fewer rows than this, facts are shortened so that the tool's name and the call stay in sight. */
const LOW = 12;

/** A question in place of the input: who asks, for what, why, the whole call, and the keys that answer. */
export function drawApproval(
  asked: Asked,
  { width, height, nowMs, waiting }: { width: number; height: number; nowMs: number; waiting: number },
): { lines: Span[][]; cursor: DrawnInput["cursor"] | null; most: number } {
  const { note, armedAtMs } = asked;
  const inner = Math.max(1, width - 2);
  const head = [...title(asked, waiting, inner), ...facts(asked, inner, height < LOW)];
  const body = drawCall(asked, inner);
  const drawnNote =
    note && drawInput(note, { width: inner, height: 3, hint: "why not? (Enter to deny, Esc to go back)" });
  const foot: Span[][] = drawnNote ? drawnNote.lines : [keys(nowMs >= armedAtMs, inner)];
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

function title({ request }: Asked, waiting: number, width: number): Span[][] {
  const more = waiting > 1 ? ` · ${waiting - 1} more waiting` : "";
  return [
    cutSpans(
      [
        { text: `Approval needed: ${plainLine(request.tool, 80)}`, style: "bold" },
        { text: more, style: "dim" },
      ],
      width,
    ),
  ];
}

function facts({ request }: Asked, width: number, isLow: boolean): Span[][] {
  const chain = request.chain.map((name) => plainLine(name, 60)).join(" › ");
  const risk: Span[] = [
    { text: "risk    ", style: "dim" },
    { text: request.risk, style: request.risk === "low" ? "good" : "bad" },
    { text: request.tainted ? " · untrusted text has entered this run" : "" },
  ];
  const reason: Span[] = [{ text: "reason  ", style: "dim" }, { text: plainLine(request.reason, 500) }];
  return [
    ...wrapSpans([{ text: "asks    ", style: "dim" }, { text: chain }], width).slice(0, isLow ? 2 : 3),
    cutSpans(risk, width),
    ...(isLow ? [cutSpans(reason, width)] : [...wrapSpans(reason, width).slice(0, 3), []]),
  ];
}

/** The call as a person reads it: the change, the tool's own words, or what it is given; all of it. */
function drawCall({ request, diff }: Asked, width: number): Span[][] {
  if (diff !== null)
    return exactText(diff)
      .trimEnd()
      .split("\n")
      .flatMap((line) => drawDiffLine(line, width));
  return wrapped(exactText(request.presented ?? showInput(request.input)), width);
}

const DIFF_STYLES: Readonly<Record<string, Style>> = { "+": "good", "-": "bad", "@": "accent" };

/** The signs stay, so that colour is not all there is. */
function drawDiffLine(line: string, width: number): Span[][] {
  const style = DIFF_STYLES[line[0] ?? ""];
  return wrapSpans([{ text: line.replaceAll("\t", "    "), ...(style && { style }) }], width);
}

function keys(isArmed: boolean, width: number): Span[] {
  if (!isArmed) return [{ text: "one moment…", style: "dim" }];
  const key = (letter: string, does: string): Span[] => [
    { text: letter, style: "accent" },
    { text: ` ${does}   `, style: "dim" },
  ];
  // Every answer is seen, however narrow the window is.
  if (width < WIDE_KEYS) return [...key("y", "once"), ...key("a", "this run"), ...key("n", "deny")];
  return [...key("y", "allow once"), ...key("a", "allow for this run"), ...key("n", "deny, with a note")];
}
