import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractSummary } from "./extract-summary.ts";

describe("a summary", () => {
  const text = [
    "Slots limit how many runs are in a call at once.",
    "The weather was fine that day.",
    "A run that waits holds no slot.",
    "Slots that are free are given to runs that wait.",
    "Somebody had left a bicycle outside.",
  ];

  test("takes what the text is about, in its order", () => {
    expect(extractSummary(text, { count: 2 })).toEqual([text[0], text[3]]);
  });

  test("leans to what the reader asks for", () => {
    expect(extractSummary(text, { count: 1, about: "Whose bicycle is it?" })).toEqual([text[4]]);
  });

  test("does not say the same thing twice", () => {
    const twice = [
      "Slots limit runs at once.",
      "Slots limit runs at once now.",
      "Budgets limit cost and tokens.",
    ];
    expect(extractSummary(twice, { count: 2, about: "limits" })).toContain(twice[2]);
  });

  test("is made of sentences of the text, no more than asked for, and always the same", () => {
    fc.assert(
      fc.property(
        fc.array(fc.lorem({ maxCount: 8 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (list, count) => {
          const summary = extractSummary(list, { count });
          expect(summary.length).toBe(Math.min(count, new Set(list).size));
          expect(summary.every((sentence) => list.includes(sentence))).toBe(true);
          expect(extractSummary(list, { count })).toEqual(summary);
        },
      ),
    );
  });
});
