import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../schema/result.ts";

/** What a call used. `certain` is false if the provider did not say, or said nonsense. */
export type MeasuredUsage = { usage: Usage; certain: boolean };

/** What the call was expected to use, for when the provider does not say. */
export type Expected = { inputTokens: number; outputTokens: number };

/** Reads a provider's usage; a missing or senseless count is replaced by what was expected at worst. */
export function measureUsage(reported: LanguageModelV4Usage | undefined, expected: Expected): MeasuredUsage {
  const input = reported?.inputTokens.total;
  const output = reported?.outputTokens.total;
  const certain = isCount(input) && isCount(output);
  return {
    certain,
    usage: {
      inputTokens: isCount(input) ? input : expected.inputTokens,
      outputTokens: isCount(output) ? output : expected.outputTokens,
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
