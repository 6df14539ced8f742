import type { LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import type { BailoutReason, RunError } from "../schema/result.ts";
import { cutAt, excerpt } from "../tools/truncate.ts";
import { callWithRoom, compact } from "./compact.ts";
import { endCut } from "./cut-answer.ts";
import { lastText } from "./history.ts";
import { loopPrompt } from "./load-prompt.ts";
import type { Reply } from "./model/reply.ts";
import type { Ending, GatheredWork, ModelOutcome, Next } from "./outcome.ts";
import type { Run } from "./run.ts";

/** The run goes on with another turn. */
export const NEXT_TURN: Next = { kind: "turn" };

/** How a run ends that was stopped from outside. */
export function interrupted(run: Run): Ending {
  const { status, bailout, message } = run.interruption ?? {
    status: "cancelled",
    bailout: "cancelled",
    message: "stopped",
  };
  return {
    status,
    text: status === "cancelled" ? lastText(run) : keepWork(run),
    partial: true,
    bailout,
    error: { type: status, message, recoverable: false },
  };
}

/** Ends a run with an error. */
export function fail(text: string, type: RunError["type"], message: string): Next {
  return {
    kind: "end",
    ending: {
      status: "failed",
      text,
      bailout: "error",
      error: { type, message, recoverable: type === "bad_response" },
    },
  };
}

const MAX_GATHERED_CHARS = 20_000;
const MAX_ENTRY_CHARS = 4_000;

/** Collects a run's own words and the answers of its tools from its history, the latest first to be kept. */
export function gatherWork(run: Run): GatheredWork {
  const texts: string[] = [];
  const results: string[] = [];
  for (const message of run.history.slice(run.begunAt + 1)) {
    if (message.role === "system") continue;
    for (const part of message.content) {
      if (part.type === "text" && message.role === "assistant" && part.text.trim())
        texts.push(part.text.trim());
      // What the host says is no work, but for results of children and the summary of a condensed conversation.
      if (part.type === "text" && message.role === "user" && GATHERED.test(part.text))
        results.push(part.text);
      const answer = part.type === "tool-result" ? readAnswer(part.output) : "";
      if (part.type === "tool-result" && answer) results.push(`${part.toolName}:\n${answer}`);
    }
  }
  return { texts: latest(texts, MAX_GATHERED_CHARS / 2), results: latest(results, MAX_GATHERED_CHARS) };
}

const GATHERED = /^<(?:earlier_work|subagent_result)\b/;

/** An answer that holds something; a failed one does only if it is what a child left. */
function readAnswer(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === "text") return output.value.trim();
  return output.type === "error-text" && GATHERED.test(output.value) ? output.value : "";
}

/** As many of the last entries as there is room for, in their order. */
function latest(entries: readonly string[], room: number): string {
  const kept: string[] = [];
  let left = room;
  for (const entry of entries.toReversed()) {
    const text = excerpt(entry, Math.min(MAX_ENTRY_CHARS, left), "see the trace");
    if (left < MAX_ENTRY_CHARS / 8) break;
    kept.unshift(text);
    left -= text.length;
  }
  const missing = entries.length - kept.length;
  return [...(missing > 0 ? [`(${missing} earlier ones are in the trace)`] : []), ...kept].join("\n\n");
}

/** What a run leaves that ends without a report: in a free loop all it has said, an answer that broke off included, and what tools answered. */
export function keepWork(run: Run, gathered = gatherWork(run)): string {
  return run.flow.keepWork(run, gathered);
}

/** An answer made of what there is, for a run whose model gave no report of its own; empty if there is nothing. */
export function reportGathered({ texts, results }: GatheredWork, said: string): string {
  const own = said.trim() && !texts.endsWith(said.trim()) ? [texts, said.trim()] : [texts];
  const words = own.filter((text) => text !== "").join("\n\n");
  if (results === "") return words;
  const heading = "There was no last report. This is what the tools had answered:";
  return [words, heading, cutAt(results, MAX_GATHERED_CHARS + 1_000)]
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Limits that leave neither time nor tokens for a summary by the model. */
const IN_NEED: ReadonlySet<BailoutReason> = new Set(["deadline", "max_tokens", "max_cost"]);

/** One last turn without tools, to report what there is; an answer that was cut in the middle is the report. */
export async function wrapUp(run: Run, reason: BailoutReason): Promise<Ending> {
  if (run.cutAnswer.length > 0) return endCut(run, `stopped by a limit (${reason})`, reason);
  run.wrapUpReason = reason;
  run.pushUser(loopPrompt("wrap-up", { reason: reason.replaceAll("_", " ") }));
  const remaining = (await run.children?.collectRest("stop")) ?? null;
  if (remaining !== null) run.pushUser(remaining);
  return reportLast(run, reason);
}

/** Asks for the last report, with room made for it first. Whatever comes of that, what was gathered is in the ending. */
export async function reportLast(run: Run, reason: BailoutReason): Promise<Ending> {
  const gathered = gatherWork(run);
  const outcome = await askForReport(run, reason);
  if (outcome.kind === "interrupted") return { ...interrupted(run), text: keepWork(run, gathered) };
  if (outcome.kind === "failed") run.warnings.push(`there is no last report: ${outcome.error.message}`);
  return endReported(run, { reason, gathered }, outcome.kind === "reply" ? outcome.reply : null);
}

async function askForReport(run: Run, reason: BailoutReason): Promise<ModelOutcome> {
  const { contextChars } = run.limits;
  if (run.contextChars > contextChars) {
    if (!run.flow.condenses) return { kind: "unaffordable", resource: "tokens" };
    await compact(run, contextChars, { byModel: !IN_NEED.has(reason) });
  }
  return callWithRoom(run, "wrap_up");
}

/** How a run ends that reached a limit, by what its model said last, if anything. */
export function endReported(
  run: Run,
  { reason, gathered = gatherWork(run) }: { reason: BailoutReason; gathered?: GatheredWork },
  reply: Pick<Reply, "text" | "calls" | "finish"> | null,
): Ending {
  const said = reply?.text ?? "";
  if (reply?.finish === "length") run.warnings.push("the last report was cut at the output limit");
  const isEmpty = run.host.guards.isEmpty(said);
  // Words beside a call are no report: the model wanted to go on.
  const isReport = !isEmpty && reply?.calls.length === 0;
  const kept = isReport ? said : run.flow.replaceReport(run, gathered, isEmpty ? "" : said);
  if (kept) return { status: "completed", text: kept, partial: true, bailout: reason };
  const message = `stopped by a limit (${reason}) with nothing to report`;
  const error: RunError = { type: "budget", message, recoverable: false };
  return { status: "failed", text: "", partial: true, bailout: reason, error };
}
