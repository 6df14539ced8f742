import type { Delegations } from "../run/delegations.ts";
import { type Delegation, openDelegation } from "../run/delegations.ts";
import type { Run } from "../run/run.ts";
import type { ToolOutput } from "../tools/tool.ts";
import { cutAt, MAX_RESULT_CHARS } from "../tools/truncate.ts";
import { nameEnding, resultText, runningText } from "./result-text.ts";
import { complianceErrors, missedBy } from "./unmet-deliverables.ts";

/** A run with what it has asked of others. */
type Asker = { readonly parent: Run; readonly delegations: Delegations };

/**
 * What the parent is told of its delegations: results of those that ended, and a note on those that still run.
 * With `ended` only the former. A delivered result is not delivered again.
 */
export function deliver(
  children: Asker,
  delegations: readonly Delegation[],
  which: "all" | "ended",
): ToolOutput {
  const run = children.parent;
  const { escapeText } = run.host.guards;
  const reader = { escapeText, workspaceDir: run.workspaceDir };
  const texts: string[] = [];
  const delivered: string[] = [];
  let tainted = false;
  let privateData = false;
  let failed = 0;
  let bad = 0;
  for (const delegation of delegations) {
    const { result } = delegation;
    if (!result) continue;
    if (delegation.delivered && which === "ended") continue;
    delegation.delivered = true;
    delivered.push(delegation.id);
    tainted ||= result.tainted;
    privateData ||= result.private_data;
    // What a limit cut short is no success, but an answer to work with.
    if (result.status !== "completed") failed++;
    const text = resultText(result, reader, delegation.taskId);
    // What did not go well is read first.
    if (result.success) texts.push(text);
    else texts.splice(bad++, 0, text);
  }
  const open =
    which === "ended" ? children.delegations.undelivered() : delegations.filter((one) => !one.result);
  if (open.length > 0) texts.push(runningText(open, reader));
  const isError = failed > 0 && failed === delegations.length;
  const running = delegations.filter((one) => !one.result).map(openDelegation);
  return {
    text: withOverview(delegations, texts.join("\n"), escapeText),
    tainted,
    privateData,
    isError,
    // The record must tell which results a parent still waits for; a batch that ended leaves none.
    ...((running.length > 0 || which === "ended") && { children: { delivered, running } }),
  };
}

/** Long batches begin with a line or two per task, so that the overview survives when the rest goes to a file. */
function withOverview(
  delegations: readonly Delegation[],
  text: string,
  escapeText: (text: string) => string,
): string {
  const ended = delegations.filter((one) => one.result);
  if (delegations.length < 2 && text.length <= MAX_RESULT_CHARS) return text;
  const listIds = (some: readonly Delegation[]) =>
    ` (${cutAt(some.map((one) => one.taskId ?? one.id).join(", "), 2_000)})`;
  const unstarted = ended.filter((one) => one.result?.bailout_reason === "not_started");
  const partial = ended.filter(({ result }) => result?.status === "completed" && result.partial);
  const failed = ended.filter((one) => !one.result?.success && ![...unstarted, ...partial].includes(one));
  const good = ended.length - failed.length - unstarted.length - partial.length;
  const parts = [
    ...(good > 0 ? [`${good} succeeded`] : []),
    ...partial
      .map((one) => `1 ${one.result ? nameEnding(one.result) : ""} (${one.taskId ?? one.id})`)
      .slice(0, 20),
    ...(partial.length > 20 ? [`${partial.length - 20} more cut short`] : []),
    ...(failed.length > 0 ? [`${failed.length} failed${listIds(failed)}`] : []),
    ...(unstarted.length > 0 ? [`${unstarted.length} not started${listIds(unstarted)}`] : []),
    ...(ended.length < delegations.length ? [`${delegations.length - ended.length} still running`] : []),
  ];
  const head = parts.join(", ");
  if (text.length <= MAX_RESULT_CHARS) return `${head}\n${text}`;
  // What did not go well is read first here as well.
  const ranked = ended.toSorted((one, other) => Number(one.result?.success) - Number(other.result?.success));
  const lines = ranked.flatMap(({ taskId, id, result }) => {
    if (!result) return [];
    const type = result.error ? ` (${result.error.type})` : "";
    const summary = escapeText(cutAt(result.summary.replaceAll(/\s+/g, " "), 120));
    return [
      `${taskId ?? id} ${nameEnding(result)}${type}: ${summary}`,
      ...complianceErrors(missedBy(result)).map((line) => cutAt(escapeText(line), 500)),
    ];
  });
  return `${head}\n${lines.join("\n")}\n${text}`;
}
