import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { cutAt } from "../tools/truncate.ts";
import { parseJson } from "../tools/validate-input.ts";
import { joinAnswer } from "./cut-answer.ts";
import type { CallResult, Reply } from "./model/reply.ts";
import type { Run } from "./run.ts";

/** Adds a reply of the model. */
export function pushReply(run: Run, reply: Reply): void {
  const content: Extract<LanguageModelV4Message, { role: "assistant" }>["content"] = [];
  for (const { text, metadata } of reply.reasoning) {
    if (metadata) content.push({ type: "reasoning", text, providerOptions: metadata });
  }
  if (reply.text) content.push({ type: "text", text: reply.text });
  for (const call of reply.calls) {
    const providerOptions = call.metadata ? { providerOptions: call.metadata } : {};
    content.push({
      type: "tool-call",
      toolCallId: call.callId,
      toolName: nameForHistory(call.tool),
      input: inputForHistory(call.input),
      ...providerOptions,
    });
  }
  run.push({ role: "assistant", content });
}

function inputForHistory(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : { malformed: cutAt(text, 2_000) };
}

/** Adds the answers to a reply's calls. */
export function pushResults(run: Run, results: readonly CallResult[]): void {
  run.push({
    role: "tool",
    content: results.map((result) => ({
      type: "tool-result",
      toolCallId: result.callId,
      toolName: nameForHistory(result.tool),
      output: {
        type: result.outcome === "ok" || result.outcome === "cached" ? "text" : "error-text",
        value: result.text,
      },
    })),
  });
}

/**
 * What the model said last to the run's own task, if anything: of an answer that was cut, all of it. An answer to an
 * earlier task is none to this one.
 */
export function lastText(run: Run): string {
  const answer = joinAnswer(run.cutAnswer);
  if (answer.trim()) return answer;
  for (let index = run.history.length - 1; index >= run.begunAt; index--) {
    const message = run.history[index];
    if (message?.role !== "assistant") continue;
    const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    if (text.trim()) return text;
  }
  return "";
}

/** Providers refuse a history with names that no tool can have, so an invented one is spelt harmlessly. */
function nameForHistory(tool: string): string {
  return tool.replaceAll(/[^\w-]/g, "_").slice(0, 64) || "_";
}
