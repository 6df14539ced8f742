import type { BailoutReason, RunError } from "../../schema/result.ts";
import type { Ending } from "../build-result.ts";
import { callWithRoom, compact } from "../compact.ts";
import { loopPrompt } from "../load-prompt.ts";
import type { ModelOutcome } from "../model/call-model.ts";
import type { Reply } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { endCut } from "./cut-answer.ts";
import { type GatheredWork, gatherWork, keepWork } from "./gather-work.ts";
import { interrupted } from "./next.ts";

/** Limits that leave neither time nor tokens for a summary by the model. */
const IN_NEED: ReadonlySet<BailoutReason> = new Set(["deadline", "max_tokens", "max_cost"]);

/** One last turn without tools, to report what there is; an answer that was cut in the middle is the report. */
export async function wrapUp(run: Run, reason: BailoutReason, ports: LoopPorts): Promise<Ending> {
  if (run.cutAnswer.length > 0) return endCut(run, `stopped by a limit (${reason})`, reason);
  run.wrapUpReason = reason;
  run.pushUser(loopPrompt("wrap-up", { reason: reason.replaceAll("_", " ") }));
  const remaining = await ports.remainingResults(run, "stop");
  if (remaining !== null) run.pushUser(remaining);
  return reportLast(run, reason, ports);
}

/** Asks for the last report, with room made for it first. Whatever comes of that, what was gathered is in the ending. */
export async function reportLast(run: Run, reason: BailoutReason, ports: LoopPorts): Promise<Ending> {
  const gathered = gatherWork(run);
  const outcome = await askForReport(run, reason, ports);
  if (outcome.kind === "interrupted") return { ...interrupted(run), text: keepWork(run, gathered) };
  if (outcome.kind === "failed") run.warnings.push(`there is no last report: ${outcome.error.message}`);
  return endReported(run, { reason, gathered }, outcome.kind === "reply" ? outcome.reply : null, ports);
}

async function askForReport(run: Run, reason: BailoutReason, ports: LoopPorts): Promise<ModelOutcome> {
  const { contextChars } = run.spec.limits;
  if (run.contextChars > contextChars) {
    if (!run.spec.flow.condenses) return { kind: "unaffordable", resource: "tokens" };
    await compact(run, ports, contextChars, { byModel: !IN_NEED.has(reason) });
  }
  return callWithRoom(run, "wrap_up", ports);
}

/** How a run ends that reached a limit, by what its model said last, if anything. */
export function endReported(
  run: Run,
  { reason, gathered = gatherWork(run) }: { reason: BailoutReason; gathered?: GatheredWork },
  reply: Pick<Reply, "text" | "calls" | "finish"> | null,
  ports: LoopPorts,
): Ending {
  const said = reply?.text ?? "";
  if (reply?.finish === "length") run.warnings.push("the last report was cut at the output limit");
  const isEmpty = ports.guards.isEmpty(said);
  // Words beside a call are no report: the model wanted to go on.
  const isReport = !isEmpty && reply?.calls.length === 0;
  const kept = isReport ? said : run.spec.flow.replaceReport(run, gathered, isEmpty ? "" : said);
  if (kept) return { status: "completed", text: kept, partial: true, bailout: reason };
  const message = `stopped by a limit (${reason}) with nothing to report`;
  const error: RunError = { type: "budget", message, recoverable: false };
  return { status: "failed", text: "", partial: true, bailout: reason, error };
}
