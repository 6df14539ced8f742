import { messageOf } from "@retinue/core/schema/error";

/** The result of a check; `skipped` means it was not checked. */
export type CheckVerdict = "ok" | "warning" | "problem" | "skipped";

/** What one check found. */
export type Finding = {
  verdict: CheckVerdict;
  /** One line. */
  summary: string;
  /** More lines, such as files. */
  details?: readonly string[];
  /** A command that fixes it. */
  remedy?: string;
  /** The finding for programs; never a secret. */
  facts?: Readonly<Record<string, unknown>>;
};

/** One check. It may take as long as it likes: the caller waits no longer than `patienceMs`. */
export type DoctorCheck = {
  name: string;
  patienceMs?: number;
  run(signal: AbortSignal): Promise<Finding | readonly Finding[]> | Finding | readonly Finding[];
};

type Facts = Finding["facts"];
type Details = Finding["details"];

/** Everything is well. */
export function ok(summary: string, facts?: Facts, details?: Details): Finding {
  return { verdict: "ok", summary, ...addMore(facts, details) };
}

/** Something works less well than it could. */
export function warning(summary: string, remedy: string, facts?: Facts, details?: Details): Finding {
  return { ...addMore(facts, details), verdict: "warning", summary, remedy };
}

/** Something does not work. */
export function problem(summary: string, remedy: string, facts?: Facts, details?: Details): Finding {
  return { ...addMore(facts, details), verdict: "problem", summary, remedy };
}

/** Something was not looked at. */
export function skipped(summary: string, facts?: Facts): Finding {
  return { ...addMore(facts), verdict: "skipped", summary };
}

function addMore(facts: Facts, details?: Details): Pick<Finding, "facts" | "details"> {
  return { ...(details && { details }), ...(facts && { facts }) };
}

/** A check with what it found. */
export type Checked = { name: string; findings: readonly Finding[]; timedOut: boolean };

const PATIENCE_MS = 5_000;

/**
 * Runs all checks at once and hands each one's findings over in the order of the list, as soon as those before it are
 * there. None can hold up the others: one that throws or takes too long is itself a finding.
 */
export async function runChecks(
  checks: readonly DoctorCheck[],
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

async function runOne({ name, run, patienceMs = PATIENCE_MS }: DoctorCheck): Promise<Checked> {
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
