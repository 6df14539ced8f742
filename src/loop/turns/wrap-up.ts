import type { BailoutReason, RunError } from "../../schema/result.ts";
import type { Ending } from "../build-result.ts";
import { lastText } from "../history.ts";
import { loopPrompt } from "../load-prompt.ts";
import { callModel } from "../model/call-model.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { interrupted } from "./next.ts";

/** One last turn without tools, to report what there is. */
export async function wrapUp(run: Run, reason: BailoutReason, ports: LoopPorts): Promise<Ending> {
  run.wrapUpReason = reason;
  run.pushUser(loopPrompt("wrap-up", { reason: reason.replaceAll("_", " ") }));
  const remaining = await ports.remainingResults(run, "stop");
  if (remaining !== null) run.pushUser(remaining);
  const text = await lastReport(run, ports);
  return text === null ? interrupted(run) : endingOf(run, reason, text, ports);
}

/** What the model says in its last turn, nothing if it cannot be asked, null if the run was stopped. */
export async function lastReport(run: Run, ports: LoopPorts): Promise<string | null> {
  const outcome = await callModel(run, { purpose: "wrap_up" }, ports);
  if (outcome.kind === "interrupted") return null;
  return outcome.kind === "reply" ? outcome.reply.text : "";
}

/** How a run ends that reached a limit. */
export function endingOf(run: Run, reason: BailoutReason, text: string, ports: LoopPorts): Ending {
  const kept = ports.guards.isEmpty(text) ? lastText(run) : text;
  if (kept) return { status: "completed", text: kept, partial: true, bailout: reason };
  const message = `stopped by a limit (${reason}) with nothing to report`;
  const error: RunError = { type: "budget", message, recoverable: false };
  return { status: "failed", text: "", partial: true, bailout: reason, error };
}
