import {
  FEWEST_RUNS,
  type RunStats,
  type Stats,
  type StatsBy,
  type StatsGroup,
  type WorkFigures,
} from "../../schema/stats.ts";
import { percentile } from "./percentile.ts";
import { wilsonInterval } from "./wilson-interval.ts";

/** Whose figures these are. */
export type Owner = { role: string | null; model: string | null };

/** One run as the figures see it. */
export type RunFigures = Owner & {
  status: string;
  partial: boolean;
  retry: boolean;
  durationMs: number | null;
  bailout: string | null;
  runId: string;
  parentRunId: string | null;
  work: WorkFigures;
  subtree: RunStats["subtree"];
};

/** The closed model calls to one model, of all runs of one owner. */
export type RecordedCalls = Owner & {
  /** The model that was called; a run may fall back to another than its own. */
  called: string | null;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  costUsd: number;
  /** How many of them have no known cost. */
  unpriced: number;
};

/** Turns runs and their model calls into figures. */
export function summariseRuns(
  runs: Iterable<RunFigures>,
  calls: Iterable<RecordedCalls>,
  by: StatsBy,
): Stats {
  const total = createTally();
  const groups = new Map<string, { key: Pick<StatsGroup, "role" | "model">; tally: Tally }>();
  const talliesOf = (owner: Owner): Tally[] => {
    const key = keyOf(owner, by);
    const name = JSON.stringify(key);
    let group = groups.get(name);
    if (!group) {
      group = { key, tally: createTally() };
      groups.set(name, group);
    }
    return [group.tally, total];
  };
  const seen = new Map<string, { run: RunFigures; tallies: Tally[] }>();
  for (const run of runs) {
    const tallies = talliesOf(run);
    for (const tally of tallies) addRun(tally, run);
    seen.set(run.runId, { run, tallies });
  }
  for (const { run, tallies } of seen.values())
    for (const tally of tallies) if (!isBelow(run, tally, seen)) addSubtree(tally, run.subtree);
  for (const some of calls) for (const tally of talliesOf(some)) addCalls(tally, some);
  const figures = [...groups.values()].map(({ key, tally }) => ({ ...key, ...figuresOf(tally) }));
  return { groups: figures.sort(byRuns), total: figuresOf(total) };
}

const DEEPEST = 1_000;

/** Whether a run is below another of the same tally, whose subtree it is a part of. */
function isBelow(
  { parentRunId }: RunFigures,
  tally: Tally,
  seen: ReadonlyMap<string, { run: RunFigures; tallies: Tally[] }>,
): boolean {
  let above = seen.get(parentRunId ?? "");
  // A record of another program may go round in a circle.
  for (let steps = 0; above && steps < DEEPEST; steps++) {
    if (above.tallies.includes(tally)) return true;
    above = seen.get(above.run.parentRunId ?? "");
  }
  return false;
}

function keyOf({ role, model }: Owner, by: StatsBy): Pick<StatsGroup, "role" | "model"> {
  return { ...(by !== "model" && { role }), ...(by !== "role" && { model }) };
}

function byRuns(a: StatsGroup, b: StatsGroup): number {
  return b.runs - a.runs || compare(a.role, b.role) || compare(a.model, b.model);
}

/** By code units, so that the order is the same on every machine. */
function compare(a: string | null | undefined, b: string | null | undefined): number {
  const [left, right] = [a ?? "", b ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}

type Tally = ReturnType<typeof createTally>;

function createTally() {
  const work: WorkFigures = { files: 0, testsRun: null, testsPassed: null, toolCalls: 0 };
  const subtree: RunStats["subtree"] = { ...work, tokens: 0, costUsd: 0 };
  return {
    runs: 0,
    open: 0,
    successes: 0,
    partials: 0,
    cancelled: 0,
    work,
    subtree,
    failures: new Map<string, number>(),
    retries: 0,
    bailouts: new Map<string, number>(),
    durations: [] as number[],
    tokens: { input: 0, output: 0, total: 0 },
    costUsd: 0,
    unpriced: new Set<string>(),
  };
}

function addRun(tally: Tally, { status, partial, retry, durationMs, bailout, work }: RunFigures): void {
  tally.runs++;
  addWork(tally.work, work);
  if (retry) tally.retries++;
  if (bailout !== null) count(tally.bailouts, bailout);
  if (status === "running" || status === "pending") {
    tally.open++;
    return;
  }
  if (status === "cancelled") tally.cancelled++;
  else if (status !== "completed") count(tally.failures, status);
  else if (partial) tally.partials++;
  else tally.successes++;
  if (durationMs !== null) tally.durations.push(durationMs);
}

function addWork(sum: WorkFigures, work: WorkFigures): void {
  sum.files += work.files;
  sum.toolCalls += work.toolCalls;
  for (const key of ["testsRun", "testsPassed"] as const) {
    const more = work[key];
    if (more !== null) sum[key] = (sum[key] ?? 0) + more;
  }
}

function addSubtree({ subtree }: Tally, more: RunStats["subtree"]): void {
  addWork(subtree, more);
  subtree.tokens += more.tokens;
  subtree.costUsd = subtree.costUsd === null || more.costUsd === null ? null : subtree.costUsd + more.costUsd;
}

function addCalls(tally: Tally, calls: RecordedCalls): void {
  tally.tokens.input += calls.inputTokens;
  tally.tokens.output += calls.outputTokens;
  tally.tokens.total += calls.totalTokens;
  tally.costUsd += calls.costUsd;
  if (calls.unpriced > 0) tally.unpriced.add(calls.called ?? calls.model ?? "?");
}

function figuresOf(tally: Tally): RunStats {
  const { runs, open, successes, partials, cancelled, durations, tokens, retries, work, subtree } = tally;
  const costUsd = tally.unpriced.size > 0 ? null : tally.costUsd;
  return {
    runs,
    open,
    successes,
    partials,
    cancelled,
    failures: Object.fromEntries(mostFirst(tally.failures)),
    success: shareOf(successes, runs - open - cancelled),
    durationMs: percentilesOf(durations),
    tokens,
    costUsd,
    work,
    subtree,
    costPerSuccessUsd: costUsd === null || successes === 0 ? null : costUsd / successes,
    unpricedModels: [...tally.unpriced].sort(compare),
    retries,
    bailouts: Object.fromEntries(mostFirst(tally.bailouts)),
  };
}

function shareOf(successes: number, n: number): RunStats["success"] {
  if (n < FEWEST_RUNS) return null;
  return { rate: successes / n, ...wilsonInterval(successes, n), n };
}

function percentilesOf(durations: readonly number[]): RunStats["durationMs"] {
  if (durations.length < FEWEST_RUNS) return null;
  const sorted = durations.toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 50), p95: percentile(sorted, 95) };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function mostFirst(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, some], [b, others]) => others - some || compare(a, b));
}
