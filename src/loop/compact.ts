import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { excerpt } from "../tools/truncate.ts";
import { sizeOf } from "./history.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";
import { summarise } from "./summarise.ts";

/** How much of the context limit the kept end of a conversation may take. */
const KEPT_SHARE = 0.4;

/**
 * Makes room in the history: task and latest turns stay, what lies between becomes a summary. Only the history
 * changes; rights, taint, counters and budgets live in the run and cannot be lost here.
 */
export async function compact(run: Run, ports: LoopPorts, limitChars: number): Promise<void> {
  const { history, begunAt } = run;
  const [system, task] = [history[0], history[begunAt]];
  const rest = history.toSpliced(begunAt, 1).slice(1);
  if (!system || !task || rest.length === 0) return;
  const keptFrom = startOfKept(rest, limitChars * KEPT_SHARE);
  const dropped = rest.slice(0, keptFrom);
  const kept = rest.slice(keptFrom).map((message) => shortened(message, limitChars * KEPT_SHARE));
  // What is kept of an earlier conversation stays before the task, and the summary before both.
  const earlier = Math.max(0, begunAt - 1 - keptFrom);
  const told: LanguageModelV4Message[] = [];
  if (dropped.length > 0) {
    const summary = await summarise(run, dropped, ports);
    const next = earlier > 0 ? "" : " Go on with the task.";
    const text = `<earlier_work>\n${ports.guards.escapeText(summary)}\n</earlier_work>\nThe conversation before this point was condensed.${next}`;
    told.push({ role: "user", content: [{ type: "text", text }] });
  }
  if (earlier === 0) run.replaceHistory([system, task, ...told, ...kept]);
  else run.replaceHistory([system, ...told, ...kept.slice(0, earlier), task, ...kept.slice(earlier)]);
  run.warnings.push(
    `the conversation was condensed at turn ${run.turn} to stay within ${limitChars} characters`,
  );
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

function shortened(message: LanguageModelV4Message, budget: number): LanguageModelV4Message {
  if (sizeOf(message).chars <= budget) return message;
  if (message.role === "tool") {
    const share = Math.max(500, Math.floor(budget / message.content.length));
    return { ...message, content: message.content.map((part) => shortResult(part, share)) };
  }
  if (message.role === "assistant") {
    const share = Math.max(500, Math.floor(budget / message.content.length));
    return { ...message, content: message.content.map((part) => shortInput(part, share)) };
  }
  return message;
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
