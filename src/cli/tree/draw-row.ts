import { countOf, showCost, showDuration, showElapsed, showShort, WAITS } from "../measures.ts";
import type { Glyphs } from "./glyphs.ts";
import type { Paint } from "./paint.ts";
import { isFailed, isLive, type NodeStatus, type RunNode } from "./run-node.ts";
import { cutTo, firstSign, padTo, widthOf } from "./text-width.ts";

/** What all lines of a drawing have in common. */
export type RowStyle = { width: number; nowMs: number; glyphs: Glyphs; paint: Paint };

const STATUS_WORD = 9;
const MAX_NAME = 24;
const MIN_LEFT = 24;
/** What happens now is not cut if it is no longer than this. */
const MAX_SHORT = 20;

/** One run on one line: icon, name, task and what it does on the left; its measures and its status on the right. */
export function drawRow(node: RunNode, guides: string, open: boolean, style: RowStyle): string {
  const { width, glyphs, paint } = style;
  const right = drawRight(node, style);
  if (right.width + 2 >= width)
    return cutTo(`${glyphs.status[node.status]} ${node.status}`, width, glyphs.cut);
  const room = width - right.width - 2;
  const left = drawLeft(node, guides, open, { ...style, width: room });
  return `${left.text}${" ".repeat(room - left.width + 2)}${paintStatus(node.status, paint, right)}`;
}

type Piece = { text: string; width: number };

function drawLeft(node: RunNode, guides: string, open: boolean, { width, glyphs, paint }: RowStyle): Piece {
  const lead = cutTo(guides, Math.floor(width / 2), "");
  const sign = firstSign(glyphs.text(node.icon ?? ""));
  const icon = sign === "" || sign === "?" || widthOf(sign) > 2 ? "" : `${padTo(sign, 2)} `;
  const retry = node.attempt > 0 ? ` (retry ${node.attempt})` : "";
  let room = width - widthOf(lead) - widthOf(icon);
  const name = cutTo(glyphs.text(`${node.displayName}${retry}`), Math.min(MAX_NAME, room), glyphs.cut);
  room -= widthOf(name);
  const detail = detailOf(node, open, glyphs);
  const [task, doing] = share(glyphs.text(node.task), detail && glyphs.text(detail), room, glyphs);
  const colour = isFailed(node) ? paint.bad : node.waitingOn === "approval" ? paint.warn : paint.dim;
  return {
    text: `${paint.dim(lead)}${icon}${paint.bold(name)}${task}${colour(doing)}`,
    width: widthOf(lead + icon + name + task + doing),
  };
}

/** Both texts with their gaps, in the room there is; if it is small, what happens now goes before what was asked. */
function share(task: string, detail: string, room: number, { cut }: Glyphs): [string, string] {
  const gapped = (text: string, most: number) =>
    text === "" || most < 6 ? "" : `  ${cutTo(text, most - 2, cut)}`;
  if (detail === "") return [gapped(task, room), ""];
  const need = widthOf(detail) + 2;
  const forTask = need <= MAX_SHORT ? room - need : Math.max(room - need, Math.floor(room * 0.4));
  const first = forTask < 10 ? "" : gapped(task, forTask);
  return [first, gapped(detail, room - widthOf(first))];
}

function detailOf(node: RunNode, open: boolean, { arrow, dot }: Glyphs): string {
  if (isLive(node)) {
    const { currentTool: tool, waitingOn, phase, activity } = node;
    if (waitingOn === "approval") return `${dot} for your approval`;
    if (tool) return `${arrow} ${tool.name} ${tool.progress || tool.input}`.trimEnd();
    if (waitingOn && waitingOn !== "children") return `${dot} for ${WAITS[waitingOn]}`;
    if (activity === "writing") return `${dot} writing`;
    return phase ? `${dot} phase ${phase}` : "";
  }
  const { runs, failed } = node.below;
  const bad = failed > 0 && node.status !== "cancelled" ? `, ${failed} failed` : "";
  const below = runs > 0 && !open ? [`${countOf(runs, "sub-agent")}${bad}`] : [];
  const why = node.error && node.error !== node.status ? [node.error] : [];
  const facts = [...why, ...below];
  return facts.length > 0 ? `${dot} ${facts.join(` ${dot} `)}` : "";
}

type Right = Piece & { status: string };

/** Elapsed, tokens, cost and status in columns; a narrow terminal gets fewer of them, the status last to go. */
function drawRight(node: RunNode, { width, nowMs, glyphs }: RowStyle): Right {
  const ms = (node.endedAtMs ?? nowMs) - node.startedAtMs;
  const elapsed = isLive(node) ? showElapsed(ms) : showDuration(Math.max(0, ms));
  const spent = node.tokens > 0;
  const word = width >= 100 ? " tok" : "";
  const columns = [
    padTo(elapsed, 6, "right"),
    padTo(spent ? `${showShort(node.tokens)}${word}` : "", 5 + word.length, "right"),
    padTo(spent ? showCost(node.costUsd) : "", 7, "right"),
  ];
  const sign = padTo(glyphs.status[node.status], Math.max(...Object.values(glyphs.status).map(widthOf)));
  const status = `${sign} ${padTo(node.status, STATUS_WORD)}`;
  while (columns.length > 0 && widthOf(columns.join(" ")) + widthOf(status) + 4 + MIN_LEFT > width)
    columns.pop();
  const text = columns.length > 0 ? `${columns.join(" ")}  ` : "";
  return { text, status, width: widthOf(text) + widthOf(status) };
}

function paintStatus(status: NodeStatus, paint: Paint, right: Right): string {
  const colours: Partial<Record<NodeStatus, Paint["dim"]>> = {
    running: paint.busy,
    completed: paint.good,
    partial: paint.warn,
    failed: paint.bad,
    timeout: paint.bad,
    cancelled: paint.warn,
  };
  return `${paint.dim(right.text)}${(colours[status] ?? paint.dim)(right.status.trimEnd())}`;
}
