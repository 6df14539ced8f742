import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import type { Emit } from "./read-reply.ts";

type Block = {
  type: "text" | "reasoning";
  text: string;
  providerMetadata?: LanguageModelV4GenerateResult["providerMetadata"];
};

/** Gathers a streamed reply into one result, so that there is only one way of calling a model. */
export async function collectParts(
  stream: (onPart: Emit) => Promise<void>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  const blocks = new Map<string, Block>();
  let warnings: LanguageModelV4GenerateResult["warnings"] = [];
  let response: LanguageModelV4GenerateResult["response"];
  let finish: Pick<LanguageModelV4GenerateResult, "usage" | "finishReason"> | undefined;
  await stream((part) => {
    switch (part.type) {
      case "stream-start":
        warnings = part.warnings;
        break;
      case "response-metadata": {
        const { type: _, ...metadata } = part;
        response = metadata;
        break;
      }
      case "text-start":
      case "reasoning-start": {
        const block: Block = { type: part.type === "text-start" ? "text" : "reasoning", text: "" };
        blocks.set(part.id, block);
        content.push(block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = blocks.get(part.id);
        if (block) block.text += part.delta;
        break;
      }
      case "text-end":
      case "reasoning-end": {
        const block = blocks.get(part.id);
        if (block && part.providerMetadata) block.providerMetadata = part.providerMetadata;
        break;
      }
      case "tool-call":
        content.push(part);
        break;
      case "finish":
        finish = { usage: part.usage, finishReason: part.finishReason };
        break;
    }
  });
  if (!finish) throw new Error("the stream ended without a finish part");
  return { content, warnings, ...finish, ...(response && { response }) };
}
