import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../../schema/result.ts";

/** What a call used. `certain` is false if the provider did not say, or said nonsense. */
export type MeasuredUsage = { usage: Usage; certain: boolean };

/** What the call was expected to use, for when the provider does not say. */
export type Expected = { inputTokens: number; outputTokens: number; replyChars: number };

/** Reads a provider's usage; a missing or senseless count, such as none for a text that is there, is replaced by what was expected at worst. */
export function measureUsage(reported: LanguageModelV4Usage | undefined, expected: Expected): MeasuredUsage {
  const input = reported?.inputTokens.total;
  const output = reported?.outputTokens.total;
  const saidInput = isCount(input) && (input > 0 || expected.inputTokens === 0);
  const saidOutput = isCount(output) && (output > 0 || expected.replyChars === 0);
  const certain = saidInput && saidOutput;
  return {
    certain,
    usage: {
      inputTokens: saidInput ? input : expected.inputTokens,
      outputTokens: saidOutput ? output : expected.outputTokens,
      cacheReadTokens: countOr0(reported?.inputTokens.cacheRead),
      cacheWriteTokens: countOr0(reported?.inputTokens.cacheWrite),
      reasoningTokens: countOr0(reported?.outputTokens.reasoning),
    },
  };
}

function isCount(value: number | undefined): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function countOr0(value: number | undefined): number {
  return isCount(value) ? value : 0;
}
