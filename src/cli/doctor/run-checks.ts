import { messageOf } from "../../schema/error.ts";
import { type Check, type Finding, problem, warning } from "./check.ts";

/** A check with what it found. */
export type Checked = { name: string; findings: readonly Finding[]; timedOut: boolean };

const PATIENCE_MS = 5_000;

/**
 * Runs all checks at once and hands each one's findings over in the order of the list, as soon as those before it are
 * there. None can hold up the others: one that throws or takes too long is itself a finding.
 */
export async function runChecks(
  checks: readonly Check[],
  onChecked: (checked: Checked) => void,
): Promise<Checked[]> {
  const running = checks.map(runOne);
  const done: Checked[] = [];
  for (const each of running) {
    const checked = await each;
    onChecked(checked);
    done.push(checked);
  }
  return done;
}

async function runOne({ name, run, patienceMs = PATIENCE_MS }: Check): Promise<Checked> {
  const controller = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), patienceMs);
  const work = (async () => run(controller.signal))();
  try {
    const found = await Promise.race([work, late]);
    if (found !== "late") return { name, findings: Array.isArray(found) ? found : [found], timedOut: false };
    work.catch(() => {});
    controller.abort();
    const summary = `no answer within ${patienceMs / 1_000} s`;
    return { name, findings: [warning(summary, "retinue doctor --offline")], timedOut: true };
  } catch (thrown) {
    const summary = `the check failed: ${messageOf(thrown)}`;
    return { name, findings: [problem(summary, "RETINUE_DEBUG=1 retinue doctor --json")], timedOut: false };
  } finally {
    clearTimeout(timer);
  }
}
