import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitSentences } from "./split-sentences.ts";
import { listTerms, splitWords, stemWord } from "./terms.ts";

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
    expect(stemWord(a)).toBe(stemWord(b));
  });

  test("words that say nothing are left out", () => {
    expect(listTerms("Where is it that the slots are?")).toEqual(["slot"]);
  });
});
