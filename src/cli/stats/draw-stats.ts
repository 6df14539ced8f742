import type { RunStats, Stats, StatsBy, StatsGroup } from "../../schema/stats.ts";
import { countOf, showCost, showDuration } from "../measures.ts";
import { plainLine, table } from "../plain-text.ts";

const MAX_NAME = 40;
const NONE = "–";
const FIGURES = ["RUNS", "OK", "PARTIAL", "FAILED", "SUCCESS", "P50", "P95", "TOKENS", "COST", "COST/OK"];
/** The only one of them that is text. */
const SUCCESS = FIGURES.indexOf("SUCCESS");

/** Columns in the order in which they are given up where there is no room. */
const DISPENSABLE = ["TOKENS", "COST", "P50", "PARTIAL", "OK", "NOTES"];

/**
 * The figures as a table with a line for each group and one for all; there must be at least one group. On a screen of
 * `width` columns what does not fit is left out and named.
 */
export function drawStats({ groups, total }: Stats, by: StatsBy, width = Number.POSITIVE_INFINITY): string[] {
  const names = by === "both" ? ["ROLE", "MODEL"] : [by.toUpperCase()];
  const rows = [
    [...names, ...FIGURES, "NOTES"],
    ...groups.map((group) => [...namesOf(group, by), ...cellsOf(group)]),
    [...names.map((_, index) => (index === 0 ? "TOTAL" : "")), ...cellsOf(total)],
  ];
  const numeric = FIGURES.flatMap((_, index) => (index === SUCCESS ? [] : [names.length + index]));
  return fitting(toTheRight(rows, numeric), width);
}

function fitting(rows: readonly (readonly string[])[], width: number): string[] {
  const lines = (kept: readonly (readonly string[])[]) => table(kept).map((line) => line.trimEnd());
  const left: string[] = [];
  let kept = rows;
  for (const name of DISPENSABLE) {
    if (lines(kept).every((line) => [...line].length <= width)) break;
    const at = kept[0]?.findIndex((cell) => cell.trim() === name) ?? -1;
    kept = kept.map((row) => row.toSpliced(at, 1));
    left.push(name);
  }
  if (left.length === 0) return lines(kept);
  return [...lines(kept), `left out because there is no room: ${left.join(", ")}; see --json`];
}

/** `83 % (44–97, n=6)`. */
export function showSuccess({ success, runs, open, cancelled }: RunStats): string {
  if (!success) return `not enough data (n=${runs - open - cancelled})`;
  const { rate, low, high, n } = success;
  return `${percent(rate)} % (${percent(low)}–${percent(high)}, n=${n})`;
}

/** Rounded, but all and nothing are said only where they are meant. */
function percent(share: number): number {
  if (share === 0 || share === 1) return share * 100;
  return Math.min(99, Math.max(1, Math.round(share * 100)));
}

function namesOf({ role, model }: StatsGroup, by: StatsBy): string[] {
  const name = (text: string | null | undefined) => plainLine(text || "?", MAX_NAME);
  return [...(by === "model" ? [] : [name(role)]), ...(by === "role" ? [] : [name(model)])];
}

function cellsOf(stats: RunStats): string[] {
  const { runs, open, successes, partials, cancelled, durationMs, tokens, costUsd, costPerSuccessUsd } =
    stats;
  return [
    number(runs),
    number(successes),
    number(partials),
    number(runs - open - successes - partials - cancelled),
    showSuccess(stats),
    durationMs ? showDuration(durationMs.p50) : NONE,
    durationMs ? showDuration(durationMs.p95) : NONE,
    number(tokens.total),
    showCost(costUsd),
    successes === 0 ? NONE : showCost(costPerSuccessUsd),
    notesOf(stats),
  ];
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function notesOf({ failures, bailouts, retries, open, cancelled, work, subtree, tokens }: RunStats): string {
  const ended = Object.entries(failures).filter(([status]) => status !== "failed");
  const reasons = Object.entries(bailouts);
  return [
    ended.map(([status, runs]) => `${number(runs)} ${plainLine(status, MAX_NAME)}`).join(", "),
    cancelled === 0 ? "" : `${number(cancelled)} cancelled`,
    work.testsRun === null || work.testsPassed === null
      ? ""
      : `${number(work.testsPassed)} of ${countOf(work.testsRun, "test")} passed`,
    work.files === 0 ? "" : countOf(work.files, "file"),
    subtree.tokens <= tokens.total
      ? ""
      : `with sub-agents ${countOf(subtree.tokens, "token")}, ${showCost(subtree.costUsd)}`,
    retries === 0 ? "" : `${number(retries)} ${retries === 1 ? "retry" : "retries"}`,
    reasons.length === 0 ? "" : `stopped by ${reasons.map(times).join(", ")}`,
    open === 0 ? "" : `${number(open)} not ended`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function times([reason, runs]: [string, number]): string {
  return `${plainLine(reason, MAX_NAME)}${runs > 1 ? ` ×${number(runs)}` : ""}`;
}

/** Pads the cells of some columns in front, so that their digits stand below each other. */
function toTheRight(rows: readonly (readonly string[])[], columns: readonly number[]): string[][] {
  const widths = new Map(
    columns.map((column) => [column, Math.max(...rows.map((row) => row[column]?.length ?? 0))]),
  );
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths.get(column) ?? 0)));
}
