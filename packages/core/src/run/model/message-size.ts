import type { LanguageModelV4Message } from "@ai-sdk/provider";

/** Characters of a message, which count against the context limit, and its bytes, which tell more of its tokens. */
export function sizeOf(message: LanguageModelV4Message): { chars: number; bytes: number } {
  const size = { chars: 0, bytes: 0 };
  const add = (text: string) => {
    size.chars += text.length;
    size.bytes += Buffer.byteLength(text);
  };
  if (typeof message.content === "string") add(message.content);
  else for (const part of message.content) for (const text of textsOf(part)) add(text);
  return size;
}

function textsOf(part: Exclude<LanguageModelV4Message["content"], string>[number]): string[] {
  if (part.type === "text" || part.type === "reasoning") return [part.text];
  if (part.type === "tool-call") return [part.toolName, JSON.stringify(part.input ?? null)];
  if (part.type !== "tool-result" || !("value" in part.output)) return [];
  const { value } = part.output;
  return [typeof value === "string" ? value : (JSON.stringify(value) ?? "")];
}
