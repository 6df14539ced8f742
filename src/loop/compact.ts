import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { excerpt } from "../tools/truncate.ts";
import { sizeOf } from "./history.ts";
import { callModel, type ModelOutcome } from "./model/call-model.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";
import { outline, summarise } from "./summarise.ts";

/** How much of the context limit the kept end of a conversation may take. */
const KEPT_SHARE = 0.4;
/** No part of a message is made shorter than this. */
const LEAST_PART_CHARS = 200;

/**
 * Makes room in the history: task and latest turns stay, what lies between becomes a summary. Only the history
 * changes; rights, taint, counters and budgets live in the run and cannot be lost here.
 */
export async function compact(
  run: Run,
  ports: LoopPorts,
  limitChars: number,
  { byModel = true } = {},
): Promise<void> {
  const { history, begunAt } = run;
  const [system, task] = [history[0], history[begunAt]];
  const rest = history.toSpliced(begunAt, 1).slice(1);
  if (!system || !task || rest.length === 0) return;
  const keptFrom = startOfKept(rest, limitChars * KEPT_SHARE);
  const dropped = rest.slice(0, keptFrom);
  // What is kept of an earlier conversation stays before the task, and the summary before both.
  const earlier = Math.max(0, begunAt - 1 - keptFrom);
  const told: LanguageModelV4Message[] = [];
  if (dropped.length > 0) {
    const summary = byModel
      ? excerpt(await summarise(run, dropped, ports), limitChars * KEPT_SHARE, "left out to make room")
      : outline(dropped, limitChars * KEPT_SHARE * KEPT_SHARE);
    const next = earlier > 0 ? "" : " Go on with the task.";
    const text = `<earlier_work>\n${ports.guards.escapeText(summary)}\n</earlier_work>\nThe conversation before this point was condensed.${next}`;
    told.push({ role: "user", content: [{ type: "text", text }] });
  }
  const room = limitChars - [system, task, ...told].reduce((sum, message) => sum + sizeOf(message).chars, 0);
  const kept = shortenTo(rest.slice(keptFrom), Math.min(limitChars * KEPT_SHARE, room), room);
  if (earlier === 0) run.replaceHistory([system, task, ...told, ...kept]);
  else run.replaceHistory([system, ...told, ...kept.slice(0, earlier), task, ...kept.slice(earlier)]);
  run.warnings.push(
    `the conversation was condensed at turn ${run.turn} to stay within ${limitChars} characters`,
  );
}

/** A call that goes on with the history; if the context overflows, it is condensed once and the call made again. */
export async function callWithRoom(
  run: Run,
  purpose: "turn" | "wrap_up",
  ports: LoopPorts,
): Promise<ModelOutcome> {
  const outcome = await callModel(run, { purpose }, ports);
  if (outcome.kind !== "failed" || outcome.error.type !== "context_overflow") return outcome;
  if (run.compactedForOverflow || run.spec.agent.flow === "intent") return outcome;
  run.compactedForOverflow = true;
  await compact(run, ports, Math.floor(run.contextChars / 2));
  return callModel(run, { purpose }, ports);
}

/** Index of the first message to keep: an assistant's, so that no tool result loses its call. */
function startOfKept(messages: readonly LanguageModelV4Message[], budget: number): number {
  let chars = 0;
  let start = messages.length;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (!message) break;
    chars += sizeOf(message).chars;
    if (chars > budget && start < messages.length) break;
    if (message.role === "assistant") start = index;
  }
  return start;
}

/** Messages of at most so many characters each; of fewer, as long as they do not fit together. */
function shortenTo(
  messages: readonly LanguageModelV4Message[],
  most: number,
  room: number,
): LanguageModelV4Message[] {
  const kept = messages.map((message) => shortened(message, most));
  const size = kept.reduce((sum, message) => sum + sizeOf(message).chars, 0);
  return size <= room || most < LEAST_PART_CHARS ? kept : shortenTo(messages, most / 2, room);
}

function shortened(message: LanguageModelV4Message, budget: number): LanguageModelV4Message {
  if (message.role === "system" || sizeOf(message).chars <= budget) return message;
  const share = Math.max(LEAST_PART_CHARS, Math.floor(budget / message.content.length));
  if (message.role === "tool")
    return { ...message, content: message.content.map((part) => shortResult(part, share)) };
  if (message.role === "assistant")
    return { ...message, content: message.content.map((part) => shortWords(shortInput(part, share), share)) };
  return { ...message, content: message.content.map((part) => shortWords(part, share)) };
}

function shortWords<Part extends Content<"assistant"> | Content<"user">>(part: Part, limit: number): Part {
  return part.type === "text" ? { ...part, text: excerpt(part.text, limit, "left out to make room") } : part;
}

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"][number];

function shortResult(part: Content<"tool">, limit: number): Content<"tool"> {
  if (part.type !== "tool-result") return part;
  const { output } = part;
  if (output.type !== "text" && output.type !== "error-text") return part;
  return { ...part, output: { ...output, value: excerpt(output.value, limit, "left out to make room") } };
}

/** Long texts inside a call's input, such as a file that was written; the call itself is over. */
function shortInput(part: Content<"assistant">, limit: number): Content<"assistant"> {
  if (part.type !== "tool-call" || typeof part.input !== "object" || part.input === null) return part;
  const input = Object.fromEntries(
    Object.entries(part.input).map(([key, value]) => [
      key,
      typeof value === "string" ? excerpt(value, limit, "left out to make room") : value,
    ]),
  );
  return { ...part, input };
}
