import fc from "fast-check";
import { expect, test } from "vitest";
import { type Expected, measureUsage } from "./measure-usage.ts";

const expected: Expected = {
  inputTokens: 1_000,
  outputTokens: 100,
  inputBytes: 3_000,
  maxOutputTokens: 8_192,
  replyChars: 300,
};
const report = (input: unknown, output: unknown, parts: { cacheRead?: unknown; reasoning?: unknown } = {}) =>
  ({
    inputTokens: { total: input, noCache: undefined, cacheRead: parts.cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: parts.reasoning },
  }) as Parameters<typeof measureUsage>[0];

test("a plausible report is taken as it is, also above the estimate", () => {
  const { usage, doubt } = measureUsage(report(2_500, 400, { cacheRead: 2_000, reasoning: 300 }), expected);
  expect(doubt).toBeNull();
  expect(usage).toMatchObject({
    inputTokens: 2_500,
    outputTokens: 400,
    cacheReadTokens: 2_000,
    reasoningTokens: 300,
  });
});

test("cached tokens beyond the input are not believed, and neither is the input beside them", () => {
  const { usage, doubt } = measureUsage(report(10, 50, { cacheRead: 99_999_999 }), expected);
  expect(doubt).toBe("it said 99999999 as part of 10 input tokens");
  expect(usage).toMatchObject({ inputTokens: 1_000, cacheReadTokens: 0, outputTokens: 50 });
});

test("output beyond what was allowed counts as all that was allowed", () => {
  const { usage, doubt } = measureUsage(report(900, 5_000_000), expected);
  expect(doubt).toBe("it said 5000000 output tokens for 300 bytes");
  expect(usage.outputTokens).toBe(8_192);
});

test("a server that writes more than it was allowed is believed as far as its text shows it", () => {
  const { usage, doubt } = measureUsage(report(900, 9_000), { ...expected, replyChars: 30_000 });
  expect([usage.outputTokens, doubt]).toEqual([9_000, null]);
});

test("whatever is reported, the counts are whole, finite, at most what can be true, and contain their parts", () => {
  const any = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(undefined, null, "7", Number.NaN, 0, 1e308, -1),
  );
  fc.assert(
    fc.property(any, any, any, any, (input, output, cacheRead, reasoning) => {
      const { usage, doubt } = measureUsage(report(input, output, { cacheRead, reasoning }), expected);
      for (const count of Object.values(usage)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
      expect(usage.inputTokens).toBeLessThanOrEqual(23_000);
      expect(usage.outputTokens).toBeLessThanOrEqual(8_192);
      expect(usage.cacheReadTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens);
      expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.outputTokens);
      if (doubt) expect(usage.inputTokens >= 1_000 || usage.outputTokens >= 100).toBe(true);
      else expect([usage.inputTokens, usage.outputTokens]).toEqual([input, output]);
    }),
  );
});
