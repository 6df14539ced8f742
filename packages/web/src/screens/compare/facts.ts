import type { SessionCard } from "@retinue/core/schema/api/session";
import type { Trace, TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showCount, showNumber, showShort } from "@retinue/core/show/measures";
import { nameSessionStatus } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { showSpan } from "../trace-screen/time-axis.ts";

/** What a session amounts to, as far as it can be compared with another. */
export type SessionFacts = ReturnType<typeof gatherFacts>;

/** Adds up what a trace says. `aheadMs` has passed since it was read, which counts while the session is at work. */
export function gatherFacts(trace: Trace, card: SessionCard, aheadMs: number) {
  const { totals, runs: roots } = trace;
  const all = [...walkRuns(roots)];
  const count = (status: string) => totals.statuses[status] ?? 0;
  const approvals = all.flatMap((run) => run.approvals);
  const verdicts = all.flatMap((run) => run.deliverables);
  return {
    standing: nameOutcome(card, roots.at(-1)),
    /** The run that the session ended with, or is at; undefined if nothing has run. */
    last: roots.at(-1),
    task: roots[0]?.task ?? trace.session.title,
    agent: roots[0]?.agent ?? null,
    /** Of all runs, the most used first. */
    models: mostUsed(all.flatMap(({ model }) => model ?? [])),
    prompts: roots.length,
    runs: totals.runs,
    agents: totals.agents,
    levels: roots.length === 0 ? 0 : totals.depth + 1,
    atOnce: totals.atOnce,
    turns: totals.turns,
    calls: totals.calls,
    tokens: totals.tokens,
    /** Unknown is null, never 0. */
    costUsd: totals.costUsd,
    activeMs: totals.activeMs + (card.state === "running" ? Math.max(0, aheadMs) : 0),
    failed: count("failed") + count("timeout"),
    cutShort: count("partial"),
    stopped: count("cancelled"),
    asked: approvals.length,
    denied: approvals.filter(({ allowed }) => allowed === false).length,
    deliverables: { there: verdicts.filter(({ ok }) => ok).length, all: verdicts.length },
    /** Paths below the project or the session's workspace, each once. */
    files: [
      ...new Set(all.flatMap(({ files }) => files.map((file) => shortPath(file, trace.session)))),
    ].sort(),
  };
}

/** A session whose last run was cut short is not simply done. */
function nameOutcome(card: SessionCard, last: TraceRun | undefined): string {
  return card.state === "completed" && last?.partial ? "partial" : nameSessionStatus(card);
}

function mostUsed(names: readonly string[]): string[] {
  const uses = Map.groupBy(names, (name) => name);
  return [...uses].sort(([, one], [, other]) => other.length - one.length).map(([name]) => name);
}

/** Two sessions have the same project but never the same workspace, so that only what comes below it can be compared. */
function shortPath(file: string, { workspace, project }: Trace["session"]): string {
  for (const folder of [workspace, project])
    if (folder !== "" && file.startsWith(`${folder}/`)) return file.slice(folder.length + 1);
  return file;
}

/** One line of the figures: what both sides have there, and what is between them. */
export type FactRow = { name: string; about?: string; a: string; b: string; difference: string };

/** The facts that are numbers. */
type FigureName = {
  [Fact in keyof SessionFacts]: SessionFacts[Fact] extends number | null ? Fact : never;
}[keyof SessionFacts];

type Figure = {
  of: FigureName;
  name: string;
  about?: string;
  show?: (value: number) => string;
  /** Not worth a line where both sides have this. */
  usual?: number;
};

const FIGURES: readonly Figure[] = [
  { of: "activeMs", name: "Time at work", about: "Time in which anything was running", show: showSpan },
  { of: "turns", name: "Turns", about: "Model calls of all runs" },
  { of: "calls", name: "Tool calls" },
  { of: "tokens", name: "Tokens", show: showShort },
  { of: "costUsd", name: "Cost", show: showCost },
  { of: "prompts", name: "Prompts", about: "What a person asked for in the session", usual: 1 },
  { of: "runs", name: "Runs" },
  { of: "agents", name: "Agents" },
  { of: "levels", name: "Levels", about: "How deep work was delegated" },
  { of: "atOnce", name: "Most at once", about: "Runs that had begun and not ended" },
  { of: "failed", name: "Runs that failed", about: "Timed out counts as failed" },
  { of: "cutShort", name: "Runs cut short", about: "Ended by a limit, with what there was", usual: 0 },
  { of: "stopped", name: "Runs stopped", usual: 0 },
  { of: "asked", name: "Calls asked about", about: "Calls that waited for a person's approval", usual: 0 },
  { of: "denied", name: "Of these denied", about: "By a person, or because nobody answered", usual: 0 },
];

/** The lines with numbers; what is as usual on both sides has none. */
export function figureRows(a: SessionFacts, b: SessionFacts): FactRow[] {
  const told = FIGURES.filter(({ of, usual }) => usual === undefined || a[of] !== usual || b[of] !== usual);
  return told.map(({ of, name, about, show = showNumber }) => ({
    name,
    ...(about && { about }),
    a: shown(a[of], show),
    b: shown(b[of], show),
    difference: showDifference(a[of], b[of], show),
  }));
}

function shown(value: number | null, show: (value: number) => string): string {
  return value === null ? "unknown" : show(value);
}

/** The line about what runs had to leave behind. */
export function deliverableRow(
  { deliverables: a }: SessionFacts,
  { deliverables: b }: SessionFacts,
): FactRow {
  const words = ({ there, all }: SessionFacts["deliverables"]) =>
    all === 0 ? "none asked for" : `${there} of ${all} there`;
  return { name: "Deliverables", a: words(a), b: words(b), difference: sameOrNot(words(a), words(b)) };
}

/** Files of both sides: those that only one of them names, and those of both. */
export function splitFiles({ files: a }: SessionFacts, { files: b }: SessionFacts) {
  const [inA, inB] = [new Set(a), new Set(b)];
  return {
    onlyA: a.filter((file) => !inB.has(file)),
    onlyB: b.filter((file) => !inA.has(file)),
    both: a.filter((file) => inB.has(file)),
  };
}

/** The line about files that runs made or changed. */
export function fileRow(a: SessionFacts, b: SessionFacts): FactRow {
  const { onlyA, onlyB } = splitFiles(a, b);
  const words = [
    onlyA.length > 0 && `${showNumber(onlyA.length)} only in A`,
    onlyB.length > 0 && `${showNumber(onlyB.length)} only in B`,
  ].filter((one) => one !== false);
  return {
    name: "Files",
    about: "Made or changed",
    a: showCount(a.files.length, "file"),
    b: showCount(b.files.length, "file"),
    difference: words.length > 0 ? words.join(", ") : SAME,
  };
}

/** For what is no figure. */
export function sameOrNot(a: string, b: string): string {
  return a === b ? SAME : "differs";
}

/** What is between two figures, in signs: `+2.1k (+38 %)`. What is unknown on one side has no difference. */
export function showDifference(
  a: number | null,
  b: number | null,
  show: (value: number) => string = showNumber,
): string {
  if (a === null || b === null) return "unknown";
  if (a === b) return SAME;
  const sign = showSign(b - a);
  const share = showShare(a, b);
  return `${sign}${show(Math.abs(b - a))}${share && ` (${share})`}`;
}

/** Nothing is between the two. */
export const SAME = "same";

/** From nothing to something there is no share, and a share of many thousand percent says less than how many times it is. */
function showShare(a: number, b: number): string {
  if (a <= 0) return "";
  const percent = Math.round((Math.abs(b - a) / a) * 100);
  if (percent >= 1_000) return `×${showNumber(Math.round(b / a))}`;
  return percent === 0 ? "under 1 %" : `${showSign(b - a)}${percent} %`;
}

function showSign(difference: number): string {
  return difference > 0 ? "+" : "−";
}
