import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractSummary } from "./extract-summary.ts";
import { splitSentences } from "./split-sentences.ts";
import { splitWords, stemOf, termsOf } from "./terms.ts";

describe("sentences", () => {
  test.each([
    ["One. Two! Three?", ["One.", "Two!", "Three?"]],
    ["See e.g. Slots. It waits.", ["See e.g. Slots.", "It waits."]],
    ["Version 1.2 of a.ts is here. Read it.", ["Version 1.2 of a.ts is here.", "Read it."]],
    [
      "It took 3.1 ms. On a disk 17 s. Dr. Ada said so.",
      ["It took 3.1 ms.", "On a disk 17 s.", "Dr. Ada said so."],
    ],
    ["He said: “It works.” Then he left.", ["He said: “It works.”", "Then he left."]],
    ["a first line\nthat goes on", ["a first line that goes on"]],
    ["It runs. `main` starts it. It ends.", ["It runs.", "`main` starts it.", "It ends."]],
    ["夜行列車です。寝台があります。", ["夜行列車です。", "寝台があります。"]],
    ["no end\n\nnext", ["no end", "next"]],
    ["", []],
  ])("%j", (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  test("nothing but white space is lost", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(splitSentences(text).join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      }),
    );
  });
});

describe("terms", () => {
  test("names are split where their case changes", () => {
    expect(splitWords("maxConcurrent HTTPServer snake_case kebab-case a/b.ts")).toEqual([
      "max",
      "concurrent",
      "http",
      "server",
      "snake",
      "case",
      "kebab",
      "case",
      "a",
      "b",
      "ts",
    ]);
  });

  test.each([
    ["limits", "limiter"],
    ["limited", "limit"],
    ["scheduler", "scheduling"],
    ["concurrency", "concurrent"],
    ["reserved", "reservation"],
    ["queues", "queue"],
    ["retries", "retry"],
  ])("%s and %s share a stem", (a, b) => {
    expect(stemOf(a)).toBe(stemOf(b));
  });

  test("words that say nothing are left out", () => {
    expect(termsOf("Where is it that the slots are?")).toEqual(["slot"]);
  });
});

describe("a summary", () => {
  const text = [
    "Slots limit how many runs are in a call at once.",
    "The weather was fine that day.",
    "A run that waits holds no slot.",
    "Slots that are free are given to runs that wait.",
    "Somebody had left a bicycle outside.",
  ];

  test("takes what the text is about, in the order it stands", () => {
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
