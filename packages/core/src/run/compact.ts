import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { cutAt, excerpt } from "../tools/truncate.ts";
import { loadPrompt } from "./load-prompt.ts";
import { callModel } from "./model/call-model.ts";
import { sizeOf } from "./model/message-size.ts";
import type { ModelOutcome } from "./outcome.ts";
import type { Run } from "./run.ts";

/** How much of the context limit the kept end of a conversation may take, unless what the model has not seen is longer. */
const KEPT_SHARE = 0.4;
/** A summary of what came before has at least so much room. */
const LEAST_SUMMARY_CHARS = 500;
/** No part of a message is made shorter than this. */
const LEAST_PART_CHARS = 200;

/**
 * Makes room in the history: task and latest turns stay, what lies between becomes a summary. The oldest goes first, and
 * what the model has not seen yet stays whole as long as it fits beside the task. Only the history changes; rights, taint,
 * counters and budgets live in the run and cannot be lost here.
 */
export async function compact(run: Run, limitChars: number, { byModel = true } = {}): Promise<void> {
  const { history, begunAt } = run;
  const [system, task] = [history[0], history[begunAt]];
  const rest = history.toSpliced(begunAt, 1).slice(1);
  if (!system || !task || rest.length === 0) return;
  const keptFrom = startOfKept(rest, limitChars * KEPT_SHARE);
  const dropped = rest.slice(0, keptFrom);
  const afterTask = limitChars - measure([system, task]);
  // What is kept of an earlier conversation stays before the task, and the summary before both.
  const earlier = Math.max(0, begunAt - 1 - keptFrom);
  const told: LanguageModelV4Message[] = [];
  if (dropped.length > 0) {
    const free = Math.max(LEAST_SUMMARY_CHARS, afterTask - measure(rest.slice(keptFrom)) - NOTE_CHARS);
    const most = Math.min(limitChars * KEPT_SHARE, free);
    const summary = byModel
      ? excerpt(await summarise(run, dropped), most, "left out to make room")
      : outline(dropped, most * KEPT_SHARE);
    const next = earlier > 0 ? "" : " Go on with the task.";
    const text = `<earlier_work>\n${run.host.guards.escapeText(summary)}\n</earlier_work>\nThe conversation before this point was condensed.${next}`;
    told.push({ role: "user", content: [{ type: "text", text }] });
  }
  const kept = fitInto(rest.slice(keptFrom), afterTask - measure(told));
  if (earlier === 0) run.replaceHistory([system, task, ...told, ...kept]);
  else run.replaceHistory([system, ...told, ...kept.slice(0, earlier), task, ...kept.slice(earlier)]);
  run.warnings.push(
    `the conversation was condensed at turn ${run.turn} to stay within ${limitChars} characters`,
  );
}

/** What stands around a summary. */
const NOTE_CHARS = 120;

function measure(messages: readonly LanguageModelV4Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message).chars, 0);
}

/** A call that goes on with the history; if the context overflows, it is condensed once and the call made again. */
export async function callWithRoom(run: Run, purpose: "turn" | "wrap_up"): Promise<ModelOutcome> {
  const outcome = await callModel(run, { purpose });
  if (outcome.kind !== "failed" || outcome.error.type !== "context_overflow") return outcome;
  if (run.compactedForOverflow || !run.flow.condenses) return outcome;
  run.compactedForOverflow = true;
  await compact(run, Math.floor(run.contextChars / 2));
  return callModel(run, { purpose });
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

/**
 * Messages that take no more than the room there is. What the model said itself is shortened before what it has not seen,
 * and long parts before short ones.
 */
function fitInto(messages: readonly LanguageModelV4Message[], room: number): LanguageModelV4Message[] {
  const said = shortenParts(messages, room, (message) => message.role === "assistant");
  return shortenParts(said, room, () => true);
}

function shortenParts(
  messages: readonly LanguageModelV4Message[],
  room: number,
  isChosen: (message: LanguageModelV4Message) => boolean,
): LanguageModelV4Message[] {
  const excess = measure(messages) - room;
  if (excess <= 0) return [...messages];
  const sizes = messages.flatMap((message) =>
    isChosen(message) && message.role !== "system" ? message.content.map(measurePart) : [],
  );
  const most = levelOff(sizes, excess);
  return messages.map((message) => (isChosen(message) ? shortened(message, most) : message));
}

/** The length that longer parts must be cut to, so that all of them together lose so many characters. */
function levelOff(sizes: readonly number[], excess: number): number {
  const falling = sizes.toSorted((a, b) => b - a);
  let [sum, count] = [0, 0];
  for (const size of falling) {
    const level = (sum - excess) / Math.max(1, count);
    if (count > 0 && level >= size) break;
    sum += size;
    count++;
  }
  return Math.max(LEAST_PART_CHARS, Math.floor((sum - excess) / Math.max(1, count)));
}

function measurePart(part: Content<"assistant"> | Content<"user"> | Content<"tool">): number {
  return sizeOf({ role: "assistant", content: [part as Content<"assistant">] }).chars;
}

function shortened(message: LanguageModelV4Message, most: number): LanguageModelV4Message {
  if (message.role === "system") return message;
  if (message.role === "tool")
    return { ...message, content: message.content.map((part) => shortResult(part, most)) };
  if (message.role === "assistant")
    return { ...message, content: message.content.map((part) => shortWords(shortInput(part, most), most)) };
  return { ...message, content: message.content.map((part) => shortWords(part, most)) };
}

function shortWords<Part extends Content<"assistant"> | Content<"user">>(part: Part, limit: number): Part {
  return part.type === "text" ? { ...part, text: excerpt(part.text, limit, "left out to make room") } : part;
}

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"][number];

function shortResult(part: Content<"tool">, limit: number): Content<"tool"> {
  if (part.type !== "tool-result") return part;
  const { output } = part;
  if (output.type !== "text" && output.type !== "error-text") return part;
  return { ...part, output: { ...output, value: cutResult(output.value, limit) } };
}

/** Room for the words on what is missing. */
const CUT_NOTE_CHARS = 120;

/** A result that is cut says how to get the rest: numbered lines from the next one on, anything else by asking for less. */
function cutResult(value: string, limit: number): string {
  if (value.length <= limit) return value;
  const head = value.slice(0, Math.max(0, value.lastIndexOf("\n", limit - CUT_NOTE_CHARS)));
  const last = /(?:^|\n)(\d+)\t[^\n]*$/.exec(head)?.[1];
  if (last !== undefined)
    return `${head}\n[… ${value.length - head.length} characters left out to make room; read on with offset ${Number(last) + 1}]`;
  return excerpt(
    value,
    limit,
    "there was no room for them; to see them, make the call again for less at a time",
  );
}

/** Long texts inside a call's input, such as a file that was written; the call itself is over. */
function shortInput(part: Content<"assistant">, limit: number): Content<"assistant"> {
  return part.type === "tool-call" ? { ...part, input: shortTexts(part.input, limit) } : part;
}

function shortTexts(value: unknown, limit: number): unknown {
  if (typeof value === "string") return excerpt(value, limit, "left out to make room");
  if (Array.isArray(value)) return value.map((item) => shortTexts(item, limit));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortTexts(item, limit)]));
}

const MAX_TRANSCRIPT_CHARS = 60_000;
const MAX_PART_CHARS = 2_000;
const MAX_OUTLINE_CHARS = 6_000;

/** A summary of messages by the run's own model, without tools and paid by the run; an outline if that fails. */
export async function summarise(run: Run, messages: readonly LanguageModelV4Message[]): Promise<string> {
  const parts = messages.reduce(
    (sum, { content }) => sum + (typeof content === "string" ? 1 : content.length),
    0,
  );
  const most = Math.max(MAX_PART_CHARS, Math.floor(MAX_TRANSCRIPT_CHARS / Math.max(1, parts)));
  const notes = excerpt(transcriptOf(messages, most), MAX_TRANSCRIPT_CHARS, "the middle is left out");
  const system = loadPrompt(new URL("./prompts/summarise.md", import.meta.url));
  const outcome = await callModel(run, {
    purpose: "summary",
    inputBytes: Buffer.byteLength(system) + Buffer.byteLength(notes),
    messages: [
      { role: "system", content: system },
      { role: "user", content: [{ type: "text", text: notes }] },
    ],
  });
  const text = outcome.kind === "reply" ? outcome.reply.text.trim() : "";
  return text || outline(messages, MAX_OUTLINE_CHARS);
}

/** Messages as plain text of at most so many characters, for where no model can be asked. */
export function outline(messages: readonly LanguageModelV4Message[], limit: number): string {
  return excerpt(transcriptOf(messages), Math.min(limit, MAX_OUTLINE_CHARS), "left out");
}

/** Messages as plain text, each with its speaker; never system prompts or reasoning. */
export function transcriptOf(messages: readonly LanguageModelV4Message[], maxPart = MAX_PART_CHARS): string {
  const lines: string[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    for (const part of message.content) {
      if (part.type === "text") lines.push(`${message.role}: ${excerpt(part.text, maxPart, "cut")}`);
      else if (part.type === "tool-call")
        lines.push(`${message.role} called ${part.toolName} ${cutAt(JSON.stringify(part.input), 400)}`);
      else if (part.type === "tool-result" && "value" in part.output) {
        const value =
          typeof part.output.value === "string" ? part.output.value : JSON.stringify(part.output.value);
        lines.push(`${part.toolName} answered: ${excerpt(value, maxPart, "cut")}`);
      }
    }
  }
  return lines.join("\n");
}
