import type { MessageNode } from "../../schema/record.ts";
import { countOf, showCost, showDuration, statusLabel } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import { drawPhases } from "./draw-phases.ts";

/** How a trace is drawn. */
export type TraceDrawing = {
  /** Every tool call, instead of their counts. */
  calls?: boolean;
  /** Now, for what still runs. */
  nowMs?: number;
};

const MAX_TASK = 60;
const MAX_ERROR = 200;

/** What stands below a run: other runs, and its tool calls, in the order they began. */
type Below = { runs: MessageNode[]; calls: MessageNode[]; all: MessageNode[] };

/** The tree of runs, one line each, with what went wrong and what was called below it. */
export function drawTrace(nodes: readonly MessageNode[], drawing: TraceDrawing = {}): string[] {
  const roots = nodes.filter(isRun);
  const lines = roots.flatMap((root) =>
    drawRun(root, { head: "", rest: "" }, isParallel(root, roots), drawing),
  );
  return lines.some((line) => line.includes(PARALLEL))
    ? [...lines, `${PARALLEL} at the same time as a sibling`]
    : lines;
}

const PARALLEL = "∥";

type Prefix = { head: string; rest: string };

function drawRun(run: MessageNode, prefix: Prefix, parallel: boolean, drawing: TraceDrawing): string[] {
  const below = belowRun(run);
  const lines = [`${prefix.head}${parallel ? `${PARALLEL} ` : ""}${describeRun(run, drawing)}`];
  const shown = drawing.calls ? below.all : below.runs;
  const note = shown.length > 0 ? `${prefix.rest}│  ` : `${prefix.rest}   `;
  if (run.error_message) lines.push(`${note}error: ${plainLine(run.error_message, MAX_ERROR)}`);
  for (const line of drawPhases(run, drawing.calls === true)) lines.push(`${note}${line}`);
  if (!drawing.calls && below.calls.length > 0) lines.push(`${note}tools: ${countCalls(below.calls)}`);
  for (const [index, node] of shown.entries()) {
    const last = index === shown.length - 1;
    const inner = {
      head: `${prefix.rest}${last ? "└─" : "├─"} `,
      rest: `${prefix.rest}${last ? "   " : "│  "}`,
    };
    if (isRun(node)) lines.push(...drawRun(node, inner, isParallel(node, below.runs), drawing));
    else lines.push(`${inner.head}${describeCall(node)}`);
  }
  return lines;
}

function describeRun(run: MessageNode, { nowMs }: TraceDrawing): string {
  const { attempt, task, result } = metadataOf(run);
  const elapsed = run.duration_ms ?? (nowMs === undefined ? null : nowMs - Date.parse(run.started_at));
  const turns = run.children.filter((node) => node.request_type === "continuation");
  const failed = turns.slice(0, -1).filter((turn) => turn.status === "failed").length;
  const open = run.completed_at === null;
  const facts = [
    elapsed === null ? "" : `${showDuration(elapsed)}${open ? " so far" : ""}`,
    countOf(open ? turns.length : run.iteration_count, "turn"),
    open ? "" : countOf(run.total_tokens ?? 0, "token"),
    open ? "" : showCost(run.cost_usd),
    attempt > 0 ? `retry ${attempt}` : "",
    failed > 0 ? `${countOf(failed, "model call")} repeated` : "",
    run.bailout_reason ? `stopped by ${run.bailout_reason}` : "",
  ];
  const label = statusLabel(run.status, result?.partial === true);
  const said = plainLine(task ?? run.request_content ?? "", MAX_TASK);
  return `${label} ${run.agent_role ?? "?"} "${said}"  ${facts.filter(Boolean).join(" · ")}`;
}

function describeCall(call: MessageNode): string {
  const { tool, outcome } = metadataOf(call);
  const took = call.duration_ms === null ? "" : `  ${showDuration(call.duration_ms)}`;
  const input = plainLine(call.request_content ?? "", MAX_TASK);
  const why = call.error_message ? `  ${plainLine(call.error_message, MAX_ERROR)}` : "";
  const word = outcome ?? call.status;
  return `${outcomeIcon(word)} ${word} ${tool ?? "?"} ${input}${took}${why}`;
}

function outcomeIcon(outcome: string): string {
  if (outcome === "ok" || outcome === "cached") return "✅";
  return outcome === "denied" ? "🚫" : outcome === "running" ? "⏳" : "❌";
}

/** `read ×3, write (1 denied)`. */
function countCalls(calls: readonly MessageNode[]): string {
  const byTool = Map.groupBy(calls, (call) => metadataOf(call).tool ?? "?");
  return [...byTool]
    .map(([tool, group]) => {
      const bad = Map.groupBy(group, (call) => metadataOf(call).outcome ?? call.status);
      const notes = [...bad].flatMap(([outcome, some]) =>
        isGood(outcome) ? [] : [`${some.length} ${wordFor(outcome)}`],
      );
      return `${tool}${group.length > 1 ? ` ×${group.length}` : ""}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
    })
    .join(", ");
}

function isGood(outcome: string): boolean {
  return outcome === "ok" || outcome === "cached" || outcome === "completed";
}

function wordFor(outcome: string): string {
  return outcome === "error" ? "failed" : outcome;
}

/** A `delegate` call is its child's own row; the runs of `delegate_many` hang from the call. */
function belowRun(run: MessageNode): Below {
  const all: MessageNode[] = [];
  const visit = (node: MessageNode): void => {
    for (const child of node.children) {
      if (child.request_type !== "continuation") all.push(child);
      if (!isRun(child)) visit(child);
    }
  };
  visit(run);
  return { all, runs: all.filter(isRun), calls: all.filter((node) => !isRun(node)) };
}

function isRun(node: MessageNode): boolean {
  return node.request_type === "prompt" || node.request_type === "delegation";
}

/** The record counts every opening and closing, so this is exact where clocks are not. */
function isParallel(run: MessageNode, siblings: readonly MessageNode[]): boolean {
  const endOf = (node: MessageNode) => node.closed_seq ?? Number.POSITIVE_INFINITY;
  return siblings.some(
    (other) => other !== run && other.opened_seq < endOf(run) && run.opened_seq < endOf(other),
  );
}

type Metadata = {
  attempt: number;
  task?: string;
  tool?: string;
  outcome?: string;
  result?: { partial?: boolean };
};

function metadataOf({ metadata_json: json }: MessageNode): Metadata {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return { attempt: 0, ...(typeof value === "object" ? value : {}) };
  } catch {
    return { attempt: 0 };
  }
}
