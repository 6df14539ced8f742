import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../../schema/result.ts";

/** What a call used, and why what the provider said of it was not believed; null if it was. */
export type MeasuredUsage = { usage: Usage; doubt: string | null };

/** What is known of a call without its provider. */
export type Expected = {
  /** Estimates on the high side, counted where the provider's word does not. */
  inputTokens: number;
  outputTokens: number;
  /** Everything that was sent. */
  inputBytes: number;
  /** What the request allowed. */
  maxOutputTokens: number;
  /** Everything that came back. */
  replyChars: number;
};

/** Tokens beyond one per byte that are believed: messages have frames, and servers add prompts of their own. */
const HIDDEN_INPUT_TOKENS = 20_000;
/** No tokeniser gets more of ordinary text into a token; a text shorter than this allows no judgement. */
const MOST_BYTES_PER_TOKEN = 40;
const UNJUDGED_BYTES = 100_000;
/** A character has at most so many bytes, and so many tokens. */
const BYTES_PER_CHAR = 3;

/**
 * Reads a provider's usage. A count that is missing, contradicts itself, or cannot be true of what was sent and what came
 * back is not believed: an estimate on the high side is counted in its place, and `doubt` says so.
 */
export function measureUsage(reported: LanguageModelV4Usage | undefined, expected: Expected): MeasuredUsage {
  const { total: inputTotal, cacheRead, cacheWrite } = reported?.inputTokens ?? {};
  const { total: outputTotal, reasoning } = reported?.outputTokens ?? {};
  const input = judge(inputTotal, [cacheRead, cacheWrite], {
    name: "input",
    bytes: expected.inputBytes,
    most: expected.inputBytes + HIDDEN_INPUT_TOKENS,
    nothing: expected.inputTokens === 0,
  });
  const most = Math.max(expected.maxOutputTokens, expected.replyChars * BYTES_PER_CHAR);
  const output = judge(outputTotal, [reasoning], {
    name: "output",
    bytes: expected.replyChars,
    most,
    nothing: expected.replyChars === 0,
  });
  // Reasoning that nobody sees may have filled the whole of what was allowed.
  const worstOutput =
    isCount(outputTotal) && outputTotal > most
      ? Math.max(expected.outputTokens, expected.maxOutputTokens)
      : expected.outputTokens;
  return {
    doubt: input.doubt ?? output.doubt,
    usage: {
      inputTokens: input.tokens ?? atLeast(expected.inputTokens, inputTotal, expected.inputBytes),
      outputTokens: output.tokens ?? atLeast(worstOutput, outputTotal, most),
      cacheReadTokens: input.tokens === null ? 0 : (cacheRead ?? 0),
      cacheWriteTokens: input.tokens === null ? 0 : (cacheWrite ?? 0),
      reasoningTokens: output.tokens === null ? 0 : (reasoning ?? 0),
    },
  };
}

type Side = { name: string; bytes: number; most: number; nothing: boolean };

/** The count if it can be true, or what is wrong with it. */
function judge(
  total: number | undefined,
  parts: readonly (number | undefined)[],
  { name, bytes, most, nothing }: Side,
): { tokens: number; doubt: null } | { tokens: null; doubt: string } {
  const doubt = (text: string) => ({ tokens: null, doubt: text });
  if (total === undefined || (total === 0 && !nothing))
    return doubt(`it did not say how many ${name} tokens`);
  if (!isCount(total)) return doubt(`it said ${total} ${name} tokens`);
  const known = parts.filter((part) => part !== undefined);
  const within = known.reduce((sum, part) => sum + part, 0);
  if (!known.every(isCount) || within > total)
    return doubt(`it said ${known.join(" and ")} as part of ${total} ${name} tokens`);
  if (total > most || total * MOST_BYTES_PER_TOKEN < bytes - UNJUDGED_BYTES)
    return doubt(`it said ${total} ${name} tokens for ${bytes} bytes`);
  return { tokens: total, doubt: null };
}

/** The estimate, or the provider's own count where that is higher and can be true. */
function atLeast(estimate: number, said: number | undefined, most: number): number {
  return isCount(said) && said <= most ? Math.max(estimate, said) : estimate;
}

function isCount(value: number | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
