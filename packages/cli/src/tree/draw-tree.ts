import {
  showCost,
  showCount,
  showDuration,
  showElapsed,
  showNumber,
  showShort,
} from "@retinue/core/show/measures";
import { WAITS } from "@retinue/core/show/standing";
import { cutTo, findFirstSign, measureWidth, padTo } from "../text-layout.ts";
import { chooseColour, chooseGlyphs, createPaint, type Glyphs, type Paint, walkTree } from "./canvas.ts";
import { isFailed, isLive, type NodeStatus, type RunNode, type RunTree } from "./run-tree.ts";

/** How a tree is drawn. */
export type TreeDrawing = {
  /** Columns; no line is wider. */
  width: number;
  /** Lines at most. */
  height: number;
  nowMs: number;
  /** False draws with ASCII alone. */
  unicode?: boolean;
  paint?: Paint;
  /** Whether the runs below a run are shown; by default those of a run that has not ended, or that has such runs below it. */
  isOpen?: IsOpen;
  /** Draws only what is below this run. */
  below?: RunNode;
};

/** One line, and the run it tells of; null for the line about those that do not fit. */
export type TreeRow = { readonly text: string; readonly runId: string | null };

/** Draws the tree: one line a run, what has ended without those below it, and one line for all that does not fit. */
export function drawTree({ roots }: Pick<RunTree, "roots">, drawing: TreeDrawing): TreeRow[] {
  const {
    width,
    height,
    nowMs,
    unicode = true,
    paint = createPaint(false),
    isOpen = goesOn,
    below,
  } = drawing;
  const glyphs = chooseGlyphs(unicode);
  const style: RowStyle = { width, nowMs, glyphs, paint };
  const choice = chooseRows({ roots, below }, height, isOpen);
  const listShown = (nodes: readonly RunNode[]) => nodes.filter((node) => choice.shown.has(node));
  const listBelow = (node: RunNode) => (isOpen(node) ? listShown(node.children) : []);
  const rows: TreeRow[] = [];
  for (const { node, guides } of walkTree(listShown(below?.children ?? roots), listBelow, glyphs))
    rows.push({ text: drawRow(node, guides, isOpen(node), style), runId: node.runId });
  const left = describeHidden(choice.hidden, glyphs.cut);
  if (left !== "" && rows.length < height)
    rows.push({ text: paint.dim(cutTo(left, width, glyphs.cut)), runId: null });
  return rows;
}

function goesOn(node: RunNode): boolean {
  return isLive(node) || node.below.live > 0;
}

/** `… 14 more running, 3 waiting`; empty if all runs have a line. */
function describeHidden(hidden: Hidden, mark: string): string {
  const parts = Object.entries(hidden)
    .filter(([, count]) => count > 0)
    .map(([word, count], index) => `${showNumber(count)}${index === 0 ? " more" : ""} ${word}`);
  return parts.length > 0 ? `${mark} ${parts.join(", ")}` : "";
}

/** What all lines of a drawing have in common. */
type RowStyle = { width: number; nowMs: number; glyphs: Glyphs; paint: Paint };

const STATUS_WORD = 9;
const MAX_NAME = 24;
const MIN_LEFT = 24;
/** What happens now is not cut if it is no longer than this. */
const MAX_SHORT = 20;

/** One run on one line: icon, name, task and what it does on the left; its measures and its status on the right. */
function drawRow(node: RunNode, guides: string, open: boolean, style: RowStyle): string {
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
  const sign = findFirstSign(glyphs.text(node.icon ?? ""));
  const icon = sign === "" || sign === "?" || measureWidth(sign) > 2 ? "" : `${padTo(sign, 2)} `;
  const retry = node.attempt > 0 ? ` (retry ${node.attempt})` : "";
  let room = width - measureWidth(lead) - measureWidth(icon);
  const name = cutTo(glyphs.text(`${node.displayName}${retry}`), Math.min(MAX_NAME, room), glyphs.cut);
  room -= measureWidth(name);
  const detail = describeActivity(node, open, glyphs);
  const [task, doing] = shareRoom(glyphs.text(node.task), detail && glyphs.text(detail), room, glyphs);
  const colour = isFailed(node) ? paint.bad : node.waitingOn === "approval" ? paint.warn : paint.dim;
  return {
    text: `${paint.dim(lead)}${icon}${paint.bold(name)}${task}${colour(doing)}`,
    width: measureWidth(lead + icon + name + task + doing),
  };
}

/** Both texts with their gaps, in the room there is; if it is small, what happens now goes before what was asked. */
function shareRoom(task: string, detail: string, room: number, { cut }: Glyphs): [string, string] {
  const gapped = (text: string, most: number) =>
    text === "" || most < 6 ? "" : `  ${cutTo(text, most - 2, cut)}`;
  if (detail === "") return [gapped(task, room), ""];
  const need = measureWidth(detail) + 2;
  const forTask = need <= MAX_SHORT ? room - need : Math.max(room - need, Math.floor(room * 0.4));
  const first = forTask < 10 ? "" : gapped(task, forTask);
  return [first, gapped(detail, room - measureWidth(first))];
}

function describeActivity(node: RunNode, open: boolean, { arrow, dot }: Glyphs): string {
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
  const below = runs > 0 && !open ? [`${showCount(runs, "sub-agent")}${bad}`] : [];
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
  const sign = padTo(glyphs.status[node.status], Math.max(...Object.values(glyphs.status).map(measureWidth)));
  const status = `${sign} ${padTo(node.status, STATUS_WORD)}`;
  while (columns.length > 0 && measureWidth(columns.join(" ")) + measureWidth(status) + 4 + MIN_LEFT > width)
    columns.pop();
  const text = columns.length > 0 ? `${columns.join(" ")}  ` : "";
  return { text, status, width: measureWidth(text) + measureWidth(status) };
}

function paintStatus(status: NodeStatus, paint: Paint, right: Right): string {
  const colour = chooseColour(status, paint) ?? paint.dim;
  return `${paint.dim(right.text)}${colour(right.status.trimEnd())}`;
}

/** Which runs get a line of their own, and counts of those that do not. */
type Choice = { readonly shown: ReadonlySet<RunNode>; readonly hidden: Hidden };

/** Runs without a line. */
type Hidden = { running: number; waiting: number; failed: number; completed: number };

/** Whether the runs below a run are shown. */
type IsOpen = (node: RunNode) => boolean;

/**
 * Chooses at most `height` lines, one of them for the rest if not all fit. First come who waits for a person, failures and
 * what runs, each with all above it; then what ended, the latest first.
 */
function chooseRows(
  { roots, below }: { roots: readonly RunNode[]; below?: RunNode | undefined },
  height: number,
  isOpen: IsOpen,
): Choice {
  const all = listOpen(below?.children ?? roots, isOpen);
  const open = all.filter(isOpen);
  const hidden = countLost(below ? [below, ...open] : open);
  if (height <= 0) return { shown: new Set(), hidden: NONE };
  if (all.length <= height && hidden.failed + hidden.completed === 0) return { shown: new Set(all), hidden };
  const listed = new Set(all);
  const shown = new Set<RunNode>();
  const room = Math.max(1, height - 1);
  for (const node of byImportance(all, room)) {
    if (shown.size >= room) break;
    const missing = [...node.line].filter((each) => listed.has(each) && !shown.has(each));
    if (shown.size + missing.length <= room) for (const each of missing) shown.add(each);
  }
  for (const node of all) if (!shown.has(node)) addHidden(node, isOpen(node), hidden);
  return { shown, hidden };
}

const NONE: Hidden = { running: 0, waiting: 0, failed: 0, completed: 0 };

function listOpen(nodes: readonly RunNode[], isOpen: IsOpen): RunNode[] {
  return nodes.flatMap((node) => (isOpen(node) ? [node, ...listOpen(node.children, isOpen)] : [node]));
}

function byImportance(all: readonly RunNode[], room: number): RunNode[] {
  const newest = (some: RunNode[]) => some.sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  const asking = all.filter(({ waitingOn }) => waitingOn === "approval");
  const failed = newest(all.filter(isFailed));
  const live = all.filter(isLive);
  const ended = newest(all.filter((node) => !isLive(node) && !isFailed(node)));
  const most = Math.ceil(room / 3);
  return [...asking, ...failed.slice(0, most), ...live, ...failed.slice(most), ...ended];
}

/** Counts runs that the tree no longer holds; all of them had ended. */
function countLost(open: readonly RunNode[]): Hidden {
  const hidden = { ...NONE };
  for (const { lost } of open) {
    hidden.failed += lost.failed;
    hidden.completed += lost.runs - lost.failed;
  }
  return hidden;
}

/** Counts a run, and everything below it unless its children are counted one by one. */
function addHidden(node: RunNode, open: boolean, hidden: Hidden): void {
  if (isFailed(node)) hidden.failed++;
  else if (node.status === "waiting") hidden.waiting++;
  else if (isLive(node)) hidden.running++;
  else hidden.completed++;
  if (open) return;
  const { runs, live, failed } = node.below;
  hidden.running += live;
  hidden.failed += failed;
  hidden.completed += runs - live - failed;
}
