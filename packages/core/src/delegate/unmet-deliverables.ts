import { ANSWER_FORM, complianceError, isLeftSince, nameDeliverable } from "../run/deliverables.ts";
import type { Host, Run } from "../run/run.ts";
import type { FileDeliverable } from "../schema/agent.ts";
import type { RunResult, UnmetDeliverable } from "../schema/result.ts";

type Missed = Pick<UnmetDeliverable, "agent" | "deliverable" | "reason"> & Partial<UnmetDeliverable>;

/** What a run owed itself and did not leave, and what those below it owed. */
export function missedBy({ agent, deliverables, unmet = [] }: RunResult): Missed[] {
  const own = deliverables.filter((verdict) => !verdict.ok);
  return [...own.map(({ deliverable, reason }) => ({ agent, deliverable, reason })), ...unmet];
}

/** A line for each agent that left something out. */
export function complianceErrors(missed: readonly Missed[]): string[] {
  return [...Map.groupBy(missed, ({ agent }) => agent)].map(([agent, some]) => complianceError(agent, some));
}

/**
 * What the children of an ended run owed and nobody has left. A deliverable is repaired by a run that began after the
 * failed one had ended and left it, or, if it is a file, by whatever this run or one below it has written since.
 */
export async function findUnmet(run: Run): Promise<UnmetDeliverable[]> {
  const attempts = run.children?.delegations.ended() ?? [];
  const unmet: UnmetDeliverable[] = [];
  for (const { result, ended } of attempts) {
    const allMissed = missedBy(result);
    if (allMissed.length === 0) continue;
    const later = attempts.filter(({ began }) => began > ended).map((one) => one.result);
    for (const missed of allMissed) {
      const one = { run_id: result.run_id, ...missed };
      const owed = owedFile(run.host, one);
      const isOver = later.some((next) => settles(next, one));
      if (!isOver && !(owed && (await isLeftSince(run, ended, owed)))) unmet.push(one);
    }
  }
  return unmet;
}

/** Whether a later run left a deliverable, or owed it as well, so that its own verdict counts. */
function settles({ agent, deliverables }: RunResult, missed: UnmetDeliverable): boolean {
  return deliverables.some(
    ({ deliverable, ok }) => deliverable === missed.deliverable && (ok || agent === missed.agent),
  );
}

/** The file that was owed, with its schema if the agent's own file has one; null for what is no file. */
function owedFile({ registry }: Host, { agent, deliverable }: UnmetDeliverable): FileDeliverable | null {
  if (deliverable === ANSWER_FORM || deliverable.startsWith("$ ")) return null;
  const known = registry.get(agent)?.deliverables.find((one) => nameDeliverable(one) === deliverable);
  return known && "file" in known ? known : { file: deliverable };
}

/** A run below which a contract stays broken has failed, whatever its model says. */
export function withUnmet(result: RunResult, unmet: readonly UnmetDeliverable[]): RunResult {
  if (unmet.length === 0) return result;
  const lines = complianceErrors(unmet);
  const told = { ...result, unmet, warnings: [...new Set([...result.warnings, ...lines])] };
  if (result.status !== "completed") return told;
  const error = { type: "deliverable" as const, message: lines.join("\n"), recoverable: true };
  return { ...told, status: "failed", success: false, error };
}
