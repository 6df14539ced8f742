import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { cutAt, excerpt } from "../tools/truncate.ts";
import { loadPrompt } from "./load-prompt.ts";
import { callModel } from "./model/call-model.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";

const MAX_TRANSCRIPT_CHARS = 60_000;
const MAX_PART_CHARS = 2_000;
const MAX_OUTLINE_CHARS = 6_000;

/** A summary of messages by the run's own model, without tools and paid by the run; an outline if that fails. */
export async function summarise(
  run: Run,
  messages: readonly LanguageModelV4Message[],
  ports: LoopPorts,
): Promise<string> {
  const parts = messages.reduce(
    (sum, { content }) => sum + (typeof content === "string" ? 1 : content.length),
    0,
  );
  const most = Math.max(MAX_PART_CHARS, Math.floor(MAX_TRANSCRIPT_CHARS / Math.max(1, parts)));
  const notes = excerpt(transcriptOf(messages, most), MAX_TRANSCRIPT_CHARS, "the middle is left out");
  const system = loadPrompt(new URL("./prompts/summarise.md", import.meta.url));
  const outcome = await callModel(
    run,
    {
      purpose: "summary",
      inputBytes: Buffer.byteLength(system) + Buffer.byteLength(notes),
      messages: [
        { role: "system", content: system },
        { role: "user", content: [{ type: "text", text: notes }] },
      ],
    },
    ports,
  );
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
