import { basename } from "node:path";
import type { SessionSummary } from "../../schema/inspect/session-summary.ts";
import { showCost, showDuration } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import type { Canvas } from "../trace/canvas.ts";
import { statusWord } from "../trace/describe-run.ts";
import { cutTo, padTo, widthOf } from "../tree/text-width.ts";

/** What a list is drawn with. */
export type SessionsDrawing = { nowMs: number; canvas: Canvas };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LEAST_TASK = 24;
/** Columns in the order in which they are given up where there is no room. */
const DISPENSABLE = ["RUNS", "PROJECT", "TIME", "COST"];

/** Sessions as a table that fits, and what to do next. */
export function drawSessions(
  sessions: readonly SessionSummary[],
  { nowMs, canvas }: SessionsDrawing,
): string[] {
  const { glyphs, paint, width } = canvas;
  const table = sessions.map((session) => cellsOf(session, nowMs, canvas));
  const columns = fittingColumns(table, width);
  const line = (cells: Readonly<Record<string, string>>) => columns.map((name) => cells[name] ?? "");
  const widths = columns.map((name) =>
    Math.max(name.length, ...table.map((cells) => widthOf(cells[name] ?? ""))),
  );
  const draw = (cells: readonly string[]) =>
    cutTo(
      cells
        .map((cell, index) => padTo(cell, widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
      width,
      glyphs.cut,
    );
  const rows = sessions.flatMap((session, index) => [
    draw(line(table[index] ?? {})),
    ...foundLine(session, canvas),
  ]);
  return [paint.dim(draw(columns)), ...rows, "", ...nextSteps(sessions).map((text) => paint.dim(text))];
}

/** How long ago, or the day. */
export function showWhen(iso: string, nowMs: number): string {
  const ms = Date.parse(iso);
  const ago = nowMs - ms;
  if (Number.isNaN(ms)) return "?";
  if (ago < 0 || ago >= 7 * DAY) return iso.slice(0, 16).replace("T", " ");
  if (ago < MINUTE) return "just now";
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)}m ago`;
  return ago < DAY ? `${Math.floor(ago / HOUR)}h ago` : `${Math.floor(ago / DAY)}d ago`;
}

function cellsOf(session: SessionSummary, nowMs: number, { glyphs }: Canvas): Record<string, string> {
  const { runs, duration_ms: ms, cost_usd: cost } = session;
  return {
    SESSION: session.session_id,
    STARTED: showWhen(session.created_at, nowMs),
    STATUS: statusWord({ status: session.status, partial: false }, session.state, glyphs.status),
    RUNS: runs.toLocaleString("en-US"),
    TIME: ms > 0 ? showDuration(ms) : "",
    COST: showCost(cost),
    PROJECT: glyphs.text(plainLine(basename(session.project) || session.project, 24)),
    TASK: glyphs.text(plainLine(session.title, 120)),
  };
}

function fittingColumns(table: readonly Readonly<Record<string, string>>[], width: number): string[] {
  let columns = ["SESSION", "STARTED", "STATUS", "RUNS", "TIME", "COST", "PROJECT", "TASK"];
  const needed = () =>
    columns.reduce((sum, name) => {
      const widest = Math.max(name.length, ...table.map((cells) => widthOf(cells[name] ?? "")));
      return sum + (name === "TASK" ? Math.min(widest, LEAST_TASK) : widest) + 2;
    }, 0);
  for (const name of DISPENSABLE) if (needed() > width) columns = columns.filter((each) => each !== name);
  return columns;
}

function foundLine({ found }: SessionSummary, { glyphs, paint, width }: Canvas): string[] {
  if (!found) return [];
  const text = `  ${found.in} of ${plainLine(found.agent, 40)}: ${plainLine(found.excerpt, 160)}`;
  return [paint.dim(cutTo(glyphs.text(text), width, glyphs.cut))];
}

/** With the ids at hand, so that they can be copied as they are. */
function nextSteps(sessions: readonly SessionSummary[]): string[] {
  const [first] = sessions;
  const idOf = (state: string) => sessions.find((session) => session.state === state)?.session_id;
  const interrupted = idOf("interrupted");
  const waiting = idOf("waiting");
  return [
    ...(first ? [`look closer: retinue trace ${first.session_id}`] : []),
    ...(interrupted ? [`go on where it was interrupted: retinue resume ${interrupted}`] : []),
    ...(waiting ? ["answer what waits for you: retinue approve"] : []),
  ];
}
