import type { DeliverableVerdict, RunError } from "../../schema/result.ts";
import type { Ending } from "../build-result.ts";
import { dispatch } from "../calls/dispatch.ts";
import { complianceError } from "../deliverables.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";

/** Every ending is compared with the contract, also that of a run that hung or was stopped by a limit. */
export async function withVerdicts(run: Run, ending: Ending, ports: LoopPorts): Promise<Ending> {
  if (run.spec.deliverables.length === 0 || ending.status === "cancelled") return ending;
  if (run.interruption?.status === "failed") return ending;
  const verdicts = ending.verdicts ?? (await check(run, ending.text, ports));
  if (verdicts.every((verdict) => verdict.ok)) return { ...ending, verdicts };
  const missed = verdicts.filter((verdict) => !verdict.ok);
  const message = complianceError(run.spec.agent.name, missed);
  run.warnings.push(message);
  ports.emit(run.spec.sessionId, {
    type: "compliance.failed",
    runId: run.spec.runId,
    agent: run.spec.agent.name,
    message,
  });
  const error: RunError = ending.error ?? { type: "deliverable", message, recoverable: true };
  return { ...ending, verdicts, error, status: ending.status === "completed" ? "failed" : ending.status };
}

/** The host's check of what the run promised; `text` is the answer it would end with. */
export async function check(run: Run, text: string, ports: LoopPorts): Promise<DeliverableVerdict[]> {
  const verdicts = await ports.guards.checkDeliverables(
    run,
    text,
    async (command, index) => {
      const call = {
        callId: `check_${run.turn}_${index}`,
        tool: "shell",
        input: JSON.stringify({ command }),
        byHost: true,
      };
      const result = await dispatch(run, call, ports);
      return result.outcome === "ok" ? null : result.text;
    },
    ports.claims,
  );
  return ports.redactor.redactJson(verdicts);
}

/** What is missing, a line for each, as the model is told. */
export function missingList(verdicts: readonly DeliverableVerdict[]): string {
  return verdicts
    .filter((verdict) => !verdict.ok)
    .map((verdict) => `- \`${verdict.deliverable}\`: ${verdict.reason}`)
    .join("\n");
}
